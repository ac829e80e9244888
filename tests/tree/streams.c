/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * streams.c - random, adversarial and changing streams over the contexts of a world.
 */
#include "tests/tree/streams.h"

#include <stddef.h>

static uint32_t uniform(const struct stream *s) {
    return (uint32_t)rng_below(s->rng, s->world->n);
}

/* Log-uniform. */
uint32_t stream_zipf(const struct stream *s) {
    uint64_t top = UINT64_C(1) << rng_below(s->rng, 64 - (unsigned)__builtin_clzll(s->world->n));
    return (uint32_t)((top + rng_below(s->rng, top)) * 2654435761u % s->world->n);
}

/* The worst for Space Saving: each comes back just after it was evicted. */
static uint32_t round_robin(const struct stream *s) {
    return (uint32_t)(s->step % (s->capacity + 1) * 7919 % s->world->n);
}

static uint32_t all_distinct(const struct stream *s) {
    return (uint32_t)(s->step % s->world->n);
}

/* Noise for two thirds of the time, then three contexts nobody has seen take over. */
static uint32_t late_hot(const struct stream *s) {
    uint32_t third = s->world->n / 3;
    if (s->step < s->steps / 3 * 2)
        return (uint32_t)rng_below(s->rng, 2 * third);
    return rng_below(s->rng, 2) ? 2 * third + (uint32_t)rng_below(s->rng, 3) * 11 : uniform(s);
}

/* Phases: what is hot moves on. */
static uint32_t drifting(const struct stream *s) {
    uint64_t phase = s->step * 8 / s->steps;
    return rng_below(s->rng, 3) ? (uint32_t)((phase * 1009 + rng_below(s->rng, 20)) % s->world->n)
                                : uniform(s);
}

/* Recursion: one step down or up at a time, as far as it goes in a part of the time. */
static uint32_t there_and_back(const struct stream *s) {
    uint64_t turn = s->steps / 6 < s->world->n ? s->steps / 6 : s->world->n - 1;
    uint64_t at = s->step % (2 * turn);
    return (uint32_t)(at < turn ? at : 2 * turn - at);
}

const struct stream_kind streams[] = {
    {"uniform", uniform},
    {"zipf", stream_zipf},
    {"round robin", round_robin},
    {"all distinct", all_distinct},
    {"late hot", late_hot},
    {"drifting", drifting},
    {"there and back", there_and_back},
    {NULL, NULL},
};

/* ---- how much it gains ---- */

static uint64_t one(struct rng *rng) {
    (void)rng;
    return 1;
}

static uint64_t nanoseconds(struct rng *rng) {
    return 900000 + rng_below(rng, 200000);
}

static uint64_t wild(struct rng *rng) {
    uint64_t bits = rng_below(rng, 44);
    return 1 + rng_below(rng, UINT64_C(1) << bits);
}

uint64_t (*const stream_weights[STREAM_WEIGHTS])(struct rng *) = {one, nanoseconds, wild};
