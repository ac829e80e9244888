/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * since.h - what came between two profiles of the same processes, as a profile.
 *
 * Counts only grow, but the tree gives contexts up: their weight moves to PROFILE_PRUNED frames of
 * their callers. What an earlier profile had counted for a context stays with it, so such a move is
 * taken back: what a context has lost is taken from what the PROFILE_PRUNED frames of its callers
 * have gained. Therefore
 *
 *   - the weights of the difference add up to what the totals grew by;
 *   - the true weight of a context in that time is its count at least, and at most its count and
 *     what stands in PROFILE_PRUNED frames of its callers (bounds.h): its error.
 *
 * Differences of one time after another can be added up, and those of several hosts: bounds of the
 * sum are those of what stands in its PROFILE_PRUNED frames.
 *
 * Pure. Out of memory ends the program.
 */
#ifndef HCCT_SINCE_H
#define HCCT_SINCE_H

#include "common/profile/profile.h"

/* Processes that are alike (merge.h) are one in it. `start` may be NULL: all of `end` came. What
 * grows of a process (process_fields.h) is what came; the rest is as it is at the end. *excess is
 * what the weights of the difference are more than what the totals grew by: 0, unless contexts lost
 * what no PROFILE_PRUNED frame of their callers has gained. NULL: they can't be compared, `error`
 * has a sentence that says why. */
struct profile *since_make(const struct profile *start, const struct profile *end, uint64_t *excess,
                           char *error, size_t error_bytes);

#endif
