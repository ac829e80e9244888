/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * filter.h - only the contexts that somebody asks about, with the rest in one place.
 */
#ifndef HCCT_FILTER_H
#define HCCT_FILTER_H

#include <stdbool.h>
#include <stddef.h>

#include "common/profile/profile.h"

/* Where the weight of contexts goes that are left out, under each root: shares stay those of N. */
#define FILTER_NOT_IN_FOCUS "[not in focus]"
#define FILTER_IGNORED      "[ignored]"

/* Can it be a filter: a POSIX extended regular expression? False: `error` says in one sentence why
 * not. For a process of one thread. The C library would take all memory that there is for some
 * ("((x{255}){255}){255}"): here it gets FILTER_MEMORY. To look for one may take any time, so that
 * what others have written is for a process with limits. */
#define FILTER_MEMORY (256u << 20)
bool filter_check(const char *expression, char *error, size_t error_bytes);

/* A new profile with the contexts that have a frame that `focus` matches, and no frame that
 * `ignore` matches (each may be NULL: not asked for). A frame is matched by its function's name, by
 * "file:line", and by its module's path; frames that were inlined are frames. An expression must
 * have passed filter_check. What stands in PROFILE_PRUNED frames and has no known frame in focus
 * may be in focus all the same: it goes to such a frame right below the root. */
struct profile *profile_filter(const struct profile *profile, const char *focus,
                               const char *ignore);

/* A new profile without the contexts that have a frame at one of these locations (matched, by
 * location): as `ignore` does it. */
struct profile *profile_ignore(const struct profile *profile, const bool *matched);

/* By location, and by module: does the expression match it? As above. The caller frees them. */
bool *filter_match_locations(const struct profile *profile, const char *expression);
bool *filter_match_modules(const struct profile *profile, const char *expression);

#endif
