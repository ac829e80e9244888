/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * sleep_stubs.h - what the stubs before calls that can sleep stand on, for tests that have them
 * without an agent: each function spoils the registers and is counted.
 */
#ifndef HCCT_TESTS_SLEEP_STUBS_H
#define HCCT_TESTS_SLEEP_STUBS_H

#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>

#include "preload/life/thread.h"
#include "preload/wrap/sleep.h"

extern struct agent_thread context; /* of all threads */

extern unsigned announced, watched, opened, dozed;
extern volatile unsigned masked; /* also in calls that the compiler takes for its own */

extern bool opens;             /* calls may be open */
extern volatile unsigned left; /* open calls that have ended */
extern bool cuts;              /* they were cut short */
extern int waits_from_now;     /* a descriptor that does not wait up to there; -1: none */
extern sem_t was_cut;

/* The mask of the calling thread, as the kernel has it. */
uint64_t signals_blocked(void);

#endif
