/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * forest.h - random trees of contexts whose true weights are known, and profiles that know less.
 */
#ifndef HCCT_TEST_FOREST_H
#define HCCT_TEST_FOREST_H

#include <stdint.h>

#include "common/profile/profile.h"

#define FOREST_CONTEXTS 200

/* Context i is function "f<i>" below its parent; context 0 is the root, which has no weight. */
struct forest {
    uint32_t parent[FOREST_CONTEXTS]; /* smaller than its own number */
    uint64_t weight[FOREST_CONTEXTS];
};

/* The same seed gives the same numbers, in [0, n). */
uint64_t forest_random(uint64_t *seed, uint64_t n);

/* Weights up to `most`, many of them 0. */
void forest_grow(struct forest *forest, uint64_t *seed, uint64_t most);
uint64_t forest_total(const struct forest *forest);
/* Of a context and all below it. */
uint64_t forest_inclusive(const struct forest *forest, uint32_t context);

struct forest_view {
    unsigned pruned;  /* per cent of the contexts that end in "[~]" ... */
    unsigned missing; /* ... and those whose function is known there, "[~]" > function, and whose
                       * counter was given to another one */
    const char *collector, *exe;
};

/* A profile of calls that keeps what the summary and the query of a daemon keep: counts add up to
 * the total; what a context without a counter weighs stands in a "[~]" of its deepest caller that
 * is kept, and perhaps in the error of another one as well. */
struct profile *forest_profile(const struct forest *forest, const struct forest_view *viewed,
                               uint64_t *seed);

/* The context that a node stands for, 0: a root, or "[~]". */
uint32_t forest_context(const struct profile *profile, uint32_t node);

/* What stands in "[~]" frames below the callers of a context, or at its root. */
uint64_t forest_hidden(const struct forest *forest, const struct profile *profile,
                       uint32_t context);

#endif
