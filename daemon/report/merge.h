/*
 * merge.h - profiles of several runs or hosts added up, bounds and all.
 *
 * Processes of one executable that were looked at in the same way become one; contexts are the same
 * when module (build-id and path) and address are. The sum is a profile like any other:
 *
 *   - weights add up to the sum of all N;
 *   - count - error <= true weight, for each context;
 *   - true weight <= count + unseen + the weight of the "[~]" frames below its callers.
 *
 * The last differs from what one summary says of its own contexts (true weight <= count): a context
 * that one part has and another has not may have had up to `unseen` there, or stand in a "[~]". To
 * add that to its count, as Agarwal et al. do when trees are merged (daemon/tree/merge.c), would
 * make weights exceed N. So counts are what the parts have counted, and `unseen` is the sum.
 *
 * Pure: no file, no output. Out of memory ends the program.
 */
#ifndef HCCT_MERGE_H
#define HCCT_MERGE_H

#include <stdbool.h>
#include <stddef.h>

#include "daemon/report/profile.h"

/* The sum of n >= 1 profiles, a new one. NULL: they can't be added up, `error` has a sentence that
 * says why, and *bad is the number of the one that does not fit. */
struct profile *merge_profiles(const struct profile *const *parts, size_t n, size_t *bad,
                               char *error, size_t error_bytes);

#endif
