/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * calls_thrown.h - what calls_thrown.cc does in functions that no exception ends by a report.
 */
#ifndef HCCT_TESTS_CALLS_THROWN_H
#define HCCT_TESTS_CALLS_THROWN_H

#ifdef __cplusplus
extern "C" {
#endif

struct thrown_counts {
    volatile unsigned inner, after, handled, left_after, steps;
};
extern struct thrown_counts thrown;

/* SIGTRAP after each instruction of a call, and so often in all. */
void thrown_step(void);
/* Calls until SIGALRM comes after so many microseconds, and its handler leaves it. */
void thrown_spin(long us);
/* Three calls, and one that a handler makes. */
void thrown_go_on(void);
void handled(void);

#ifdef __cplusplus
}
#endif

#endif
