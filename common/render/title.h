/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * title.h - what a process and a profile are called, and how wrong the weights can be: for the
 * titles that viewers show.
 */
#ifndef HCCT_TITLE_H
#define HCCT_TITLE_H

#include <stdio.h>

#include "common/profile/profile.h"

/* "sqlite3 (pid 812, 4 threads, build=417)". */
void title_put_process(FILE *out, const struct profile_process *process);

/* Certain bounds of the contexts of one process. */
struct title_bound {
    uint64_t self;      /* by so much one context's self weight can be larger */
    uint64_t inclusive; /* the same for its inclusive weight: all that stands in "[~]" frames */
};

/* By process; free() gives it back. Contexts that were cut for display have the bounds of before.
 */
struct title_bound *title_bounds(const struct profile *profile);

/* For free(): "sqlite3 (pid 812, 4 threads)". */
char *title_of_process(const struct profile_process *process);

/* Where no weight can be larger: that of a sample is an estimate all the same. */
const char *title_of_no_error(bool is_sample);

/* For free(): "true weights are larger by at most 12.0 ms (self) and 40.0 ms (inclusive)", and what
 * sampling adds. */
char *title_of_bound(const struct profile *profile, uint32_t process,
                     const struct title_bound *bound);

/* "cc1plus, as and 3 more": what its processes are called, each name once, the heaviest first, up
 * to `most` of them. */
void title_put_commands(FILE *out, const struct profile *profile, uint32_t most);

/* For free(): the command line that was recorded, where that is known; else what the processes are
 * called, "cc1plus, as, make and 3 more". No control character is in it. */
char *title_of_command(const struct profile *profile);

/* " in the last 60.0 s", or " in 60.0 s from 2026-11-27 03:10:00 on"; nothing where the profile is
 * of no window. */
void title_put_window(FILE *out, const struct profile *profile);

/* For free(): "sqlite3: 13.10 s of CPU time in the last 60.0 s". */
char *title_of_profile(const struct profile *profile);

#endif
