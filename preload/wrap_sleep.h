/*
 * wrap_sleep.h - the moment before a thread may go to sleep.
 *
 * A timer that runs on wall-clock time has to stop before its thread sleeps. The functions of libc
 * that can put their caller to sleep are intercepted; while the thread's flag is clear that costs a
 * load, a test and an indirect jump, and the real function finds the caller's registers and stack
 * as they were. Not among them: what SA_RESTART covers in full (read, accept, wait, flock, open,
 * fcntl, futexes inside libc), and calls from libc to itself.
 *
 * On x86-64. Elsewhere nothing is intercepted: there is no announcement, so no burst should begin.
 */
#ifndef HCCT_WRAP_SLEEP_H
#define HCCT_WRAP_SLEEP_H

#include <stdbool.h>
#include <stdint.h>

#if defined(__x86_64__)
#define SLEEP_IS_WRAPPED 1
#else
#define SLEEP_IS_WRAPPED 0
#endif

/* Values of sleep_burst, may be or-ed: which calls are announced. */
enum {
    SLEEP_ANY = 1, /* all that are intercepted */
    /* Those whose interruption restart.h can't undo: a transfer that would end short (write, send,
     * recv with MSG_WAITALL), a wait for a signal (where a doubt may mean to wait for ever), a
     * sleep that leaves the rest of its time in place of its argument. For timers that interrupt
     * sleeping threads. */
    SLEEP_FRAGILE = 2,
};

/* The calling thread's wish, 0: no announcement. Any context, on the thread itself. */
extern __thread uint32_t sleep_burst
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* The announcement, made before the intercepted function is entered. Thread context, or inside a
 * handler of the application; no signal is blocked. Keeps errno, and calls no intercepted function.
 * Defined by the trigger. */
void trigger_before_sleep(void) __attribute__((visibility("hidden")));

/* Looks all real functions up, so that none needs dlsym later. Process context. */
void sleep_start(void);

/* True when a function that begins at `routine` is one of the real ones: a thread inside sleeps, or
 * is about to. False before sleep_start. Any context. */
bool sleep_is_sleeper(uint64_t routine);

#endif
