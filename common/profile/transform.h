/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * transform.h - a profile's contexts rewritten, so that a question is easier to answer.
 *
 * All weight stays: what is not in question stands in a frame that says so. Expressions match as
 * those of filter.h do, and must have passed filter_check.
 */
#ifndef HCCT_TRANSFORM_H
#define HCCT_TRANSFORM_H

#include <stdbool.h>

#include "common/profile/profile.h"

/* In the order in which they are applied. NULL, false: not asked for. */
struct transform {
    bool no_system_calls; /* their frames go */
    const char *merge;    /* frames that match go, what they called was called by their callers */
    const char *root;     /* contexts begin at their outermost frame that matches */
    const char *collapse; /* frames of a module whose path matches that follow each other are one */
    bool recursion;       /* a function that is on the stack already goes on there */
    bool invert;          /* contexts are read from the function at work to its callers */
};

/* The profile, grouped (profile_group) and rewritten; takes `profile` over. */
struct profile *transform_apply(struct profile *profile, const struct transform *transform,
                                enum profile_by by);

/* One of them. TRANSFORM_DROP: contexts with a frame that matches go to FILTER_IGNORED. */
enum transform_kind {
    TRANSFORM_MERGE,
    TRANSFORM_DROP,
    TRANSFORM_ROOT,
    TRANSFORM_COLLAPSE,
    TRANSFORM_FOLD, /* recursion: nothing is matched */
    TRANSFORM_INVERT,
    TRANSFORM_KINDS
};

/* The profile, which is grouped, rewritten in one way; takes it over, and `matched`, which says of
 * each location whether it matches (NULL where nothing is matched). */
struct profile *transform_one(struct profile *profile, enum transform_kind kind, bool *matched);

#endif
