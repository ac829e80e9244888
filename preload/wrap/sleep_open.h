/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * sleep_open.h - calls that are made with our signal open, although SLEEP_MASKED or SLEEP_FRAGILE
 * asks for it to be blocked.
 *
 * To block a signal and open it again costs two system calls, which is more than many a call takes
 * that might sleep and does not. So where the last calls of a function did not sleep for long, the
 * next one is left open, and its end is heard. A tick that meets it at work is as any other; one
 * that meets it asleep has the timer wait for the call's end (sample/open_call.h), and the call is
 * made again (restart.h). What the signal has cut short (a write, a read of memory) is finished at
 * the end, with our signal blocked. Near a tick calls are no dearer than elsewhere: samples would
 * see more of them than there is.
 *
 * Where the kernel's answer overwrites an argument no call can be made again, and none is open
 * (SLEEP_OPENS in sleep_machine.h).
 */
#ifndef HCCT_SLEEP_OPEN_H
#define HCCT_SLEEP_OPEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sleep_call;

/* Before a call of function number `which` (sleep_number): it may be open if this is true. Sets
 * call->began_ns. Thread context, or inside a handler of the application, while the thread may make
 * system calls. Defined by the trigger. */
bool open_call_begin(struct sleep_call *call, size_t which) __attribute__((visibility("hidden")));
/* It has ended. Thread context, or inside a handler of the application; keeps errno. */
void open_call_end(struct sleep_call *call, size_t which) __attribute__((visibility("hidden")));

/* An open call has ended with call->result, which may be another one then. With `unblock` set to 1
 * what was left of it was made with our signal blocked, and the end of such a call is to come.
 * Keeps errno. Called by the stubs. */
void sleep_leave_open(struct sleep_call *call) __attribute__((visibility("hidden"), used));

#endif
