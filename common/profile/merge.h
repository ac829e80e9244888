/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * merge.h - profiles of several runs or hosts added up, bounds and all.
 *
 * Processes of one executable that were sampled in the same way become one; contexts are the same
 * when module (build-id and path) and address are. The sum is a profile like any other:
 *
 *   - weights add up to the sum of all N;
 *   - count <= true weight <= count + error, for each context that has its self weight;
 *   - inclusive weights are bounded as in the parts, by what stands in "[~]" frames (bounds.h).
 *
 * A context that one part has and another has not may stand in a "[~]" of the other: its error is
 * what stands there in frames of its callers, not the sum of the parts' errors.
 *
 * Pure: no file, no output. Out of memory ends the program.
 */
#ifndef HCCT_MERGE_H
#define HCCT_MERGE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/profile/profile.h"

/* The sum of n >= 1 profiles, a new one. NULL: they can't be added up, `error` has a sentence that
 * says why, and *bad is the number of the one that does not fit. */
struct profile *merge_profiles(const struct profile *const *parts, size_t n, size_t *bad,
                               char *error, size_t error_bytes);

/* A part that is a sum itself, of which not all is known until all parts are there: where errors
 * are but sums, and `trees` says, by node, how many of the trees that were added up count it (of a
 * root: how many there are). NULL: a part that is whole. */
struct merge_part {
    const struct profile *profile;
    const uint32_t *trees;
};

/* The same for such parts. What the sum is does not depend on how parts were added up before. */
struct profile *merge_parts(const struct merge_part *parts, size_t n, size_t *bad, char *error,
                            size_t error_bytes);
/* A part with `trees` that is all there is becomes the sum. */
void merge_finish(struct profile *sum, const uint32_t *trees);

/* Its steps, for who adds up parts by other means. What the sum says of itself; `first` of all: */
void merge_header(struct profile *sum, const struct profile *part, bool first);
/* can two processes become one, */
bool merge_are_alike(const struct profile_process *a, const struct profile_process *b);
/* and the first of two has the sum then; strings are those of `owner`. */
void merge_add_process(struct profile *owner, struct profile_process *sum,
                       const struct profile_process *process);

/* The same profile with processes of one name that have ended as one: a shell script's commands, a
 * build's compilers. A new profile; NULL: there are none to add up, or contexts were cut before. */
struct profile *merge_runs(const struct profile *profile);

#endif
