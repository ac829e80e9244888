/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * held_sample.h - what is more than an event about waits that are charged to who has the lock: a
 * table of them, and those that nobody can be charged with.
 */
#ifndef HCCT_HELD_SAMPLE_H
#define HCCT_HELD_SAMPLE_H

#include <stdbool.h>

/* Gives the library its table. Before it is ready. False: there is no memory for it, and it is
 * said. Process context. */
bool held_sample_start(void);

/* Releases are charged with nothing from now on. Any context. */
void held_sample_stop(void);

#endif
