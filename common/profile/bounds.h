/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * bounds.h - what contexts can weigh beyond their counts, from what stands in PROFILE_PRUNED
 * frames.
 *
 * What is in such a frame below a context's caller may belong to that context: its frames are not
 * known. A caller's frames at all its places (main at this call, main at that one, main's own
 * weight) are one caller here. All is linear in the number of contexts.
 */
#ifndef HCCT_BOUNDS_H
#define HCCT_BOUNDS_H

#include "common/profile/profile.h"

/* By node: the most that its true inclusive weight can be, given what is certain of it
 * (tree_inclusive). Of a PROFILE_PRUNED frame, and below it, that is what stands there. The caller
 * frees it. */
uint64_t *bounds_upper(const struct profile *profile, const uint64_t *inclusive);

/* By node: the most that its true self weight can exceed its count, by what stands at the same
 * location, or at none that is known, in PROFILE_PRUNED frames of itself and its callers. 0 for
 * roots and for what is in such a frame. The caller frees it. */
uint64_t *bounds_self(const struct profile *profile);

/* Gives each context that has a count that bound as its error: for profiles that were added up from
 * parts of which nothing else is known. */
void bounds_set_errors(struct profile *profile);

/* By node: it has no caller at the same location, so recursion counts once where its inclusive
 * weight is added up. The caller frees it. */
bool *bounds_outermost(const struct profile *profile);

/* By location: what is certain, and what can be true. The
 * caller frees it. */
struct profile_flat *bounds_flat(const struct profile *profile, const uint64_t *inclusive);

/* By node: how much of its inclusive weight stands in PROFILE_PRUNED frames. The caller frees it.
 * [0] is that of all roots. */
uint64_t *bounds_hidden(const struct profile *profile, const uint64_t *inclusive);

#endif
