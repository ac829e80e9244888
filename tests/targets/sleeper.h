/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * sleeper.h - calls that sleep, in two tables.
 */
#ifndef HCCT_SLEEPER_H
#define HCCT_SLEEPER_H

#include <time.h>

#define SLEEPER_TIMEOUT 50 /* ms, of calls that end by it */
#define SLEEPER_EVENT   80 /* ms, after which other calls get what they wait for */

struct sleeper_test {
    const char *name;   /* NULL: the end of a table */
    long ms;            /* that it takes at least */
    long (*call)(void); /* -1: failed, see errno */
};

extern const struct sleeper_test sleeper_by_time[];  /* they end by themselves */
extern const struct sleeper_test sleeper_by_event[]; /* ended by a thread, process or signal */

struct timespec sleeper_ms(long ms);

#endif
