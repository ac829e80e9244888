/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * world.h - a fixed tree of contexts whose true weights are kept in a plain array, streams over it,
 * and the checks that a summary's tree must pass against it.
 *
 * The oracle shares nothing with the tree under test: a context is a number, its weight an element.
 */
#ifndef HCCT_TESTS_WORLD_H
#define HCCT_TESTS_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "common/tree/mcct.h"

/* ---- deterministic random numbers ---- */

struct rng {
    uint64_t state;
};

uint64_t rng_next(struct rng *rng);
/* Below n, n > 0. */
uint64_t rng_below(struct rng *rng, uint64_t n);
/* HCCT_TEST_SEED, or else a fixed number; printed, so that a failure can be repeated. */
uint64_t test_seed(void);
/* The number in that environment variable, or `otherwise`. */
uint64_t test_number(const char *name, uint64_t otherwise);

/* ---- contexts ---- */

struct world {
    uint32_t n; /* contexts; 0 is the root */
    uint32_t *parent, *first, *children, *depth;
    uint64_t *weight; /* true weight of each */
    uint64_t total;
};

enum world_shape {
    WORLD_FLAT,  /* all below the root */
    WORLD_BUSHY, /* a few children each, some with thousands */
    WORLD_DEEP,  /* long recursions with side branches */
    WORLD_SHAPES
};

void world_make(struct world *world, enum world_shape shape, uint32_t n, struct rng *rng);
void world_free(struct world *world);
void world_forget(struct world *world); /* all weights are 0 again */

/* The frame by which a context is found below its parent; it is not unique in the world. */
uint32_t world_frame(const struct world *world, uint32_t context);

/* ---- moving and crediting ---- */

struct walker {
    struct mcct_cursor cursor;
    uint32_t at; /* context */
};

void walker_open(struct walker *walker, struct mcct *tree);
/* To a context by the fewest pops and pushes. */
void walker_go(const struct world *world, struct walker *walker, uint32_t context);
/* Weight for the context there, in the tree and in the oracle. */
void walker_credit(struct world *world, struct walker *walker, uint64_t weight);

/* ---- checks (with check.h's macros, counted in the caller's way) ---- */

struct verdict {
    const char *wrong; /* the first thing that does not hold, NULL when all does */
    uint64_t above;   /* contexts that weigh more than their count, or than unseen: to be 0, but for
                       * a summary whose upper bounds are only probable */
    uint64_t missing; /* the largest weight of a context that is not monitored */
    uint64_t sum;     /* of the counts */
    uint64_t least;   /* count of a monitored context, UINT64_MAX when there is none */
    uint64_t error;   /* the largest */
    uint64_t placed;  /* what is certain of counts, and all residuals: at most the total */
    struct mcct_stats stats;
};

/* Whether count - error <= true, the tree holds monitored contexts, their ancestors and the
 * walkers' only, its figures are right, and with its residuals the true inclusive weight of each
 * node and the true self weight of each frame lie in their bounds; and which contexts are above
 * true
 * <= count, true <= unseen. */
struct verdict world_check(const struct world *world, const struct mcct *tree,
                           const struct walker *walkers, unsigned n_walkers);

#endif
