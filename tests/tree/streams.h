/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * streams.h - which context is next and how much it gains: the streams that every summary must
 * stand.
 */
#ifndef HCCT_TESTS_STREAMS_H
#define HCCT_TESTS_STREAMS_H

#include "tests/tree/world.h"

struct stream {
    const struct world *world;
    uint32_t capacity; /* of the summary under test: some streams aim at it */
    uint64_t step, steps;
    struct rng *rng;
};

struct stream_kind {
    const char *name; /* NULL ends the table */
    uint32_t (*next)(const struct stream *s);
};

extern const struct stream_kind streams[];

/* Rank r with a probability near 1/r. */
uint32_t stream_zipf(const struct stream *s);

/* Weights of a credit: 1, about a millisecond in nanoseconds, anything up to 2^43. */
#define STREAM_WEIGHTS 3
extern uint64_t (*const stream_weights[STREAM_WEIGHTS])(struct rng *);

#endif
