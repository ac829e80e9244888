/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * adapt.c - the law: see adapt.h. In whole numbers, as the application may have floating point
 * operations trapped.
 */
#include "preload/calls/adapt.h"

#include <stdbool.h>
#include <string.h>

#include "preload/sample/draw.h"

#define LATEST     256u /* a difference counts as one of so many */
#define SEEN_PART  4u   /* a group is no larger than one part in so many of what was seen */
#define GROUP_PART 16u  /* of the variance that is left, a group may add one part in so many */
#define PPM        1000000u

typedef unsigned __int128 wide;

static struct adapt_class *class_of(struct adapt *adapt, uint64_t key) {
    return &adapt->of[key * 0x9e3779b97f4a7c15ull >> 57];
}

_Static_assert(ADAPT_CLASSES == 1u << (64 - 57), "a hash is a class");

/* ---- how large a group may be ---- */

/* Estimates may have this variance: their error is 1.96 times its root, of the root of the sum of
 * their squares. */
static wide asked_for(const struct adapt *adapt, const struct adapt_law *law) {
    wide squares = 0;
    for (uint32_t i = 0; i < ADAPT_PARTS; i++)
        squares += (wide)adapt->total[i] * adapt->total[i];
    return squares / PPM * law->error_ppm / PPM * law->error_ppm * 100 / 384;
}

/* What was the same in all n bursts so far may still be another in one of n. */
static uint64_t variance_of(const struct adapt_class *k) {
    uint64_t least = k->largest / k->seen + 1;
    return k->variance > least ? k->variance : least;
}

static wide spread_of(const struct adapt_class *k, uint64_t each) {
    return (wide)variance_of(k) * (each * each) * (k->size * (k->size - 1));
}

static uint64_t group_size(const struct adapt *adapt, const struct adapt_law *law,
                           const struct adapt_class *k, uint64_t each) {
    wide asked = asked_for(adapt, law), size = 1;
    uint64_t most = 1 + k->seen / SEEN_PART;
    if (most == 1 || asked <= adapt->spread)
        return 1;
    wide one = (wide)variance_of(k) * each * each, may = (asked - adapt->spread) / GROUP_PART;
    while (size < most && size < law->most && (size + 1) * size * one <= may)
        size++;
    return (uint64_t)size;
}

uint64_t adapt_draw(struct adapt *adapt, const struct adapt_law *law, uint64_t key, uint64_t each,
                    uint64_t *random) {
    struct adapt_class *k = class_of(adapt, key);
    if (k->place == k->size) {
        k->size = group_size(adapt, law, k, each);
        k->place = 0;
        k->spread = k->seen > 0 ? spread_of(k, each) : 0;
        adapt->spread += k->spread;
        k->drawn = draw_below(draw_word(random), k->size);
    }
    return k->place++ == k->drawn ? k->size : 0;
}

/* ---- what bursts differ by ---- */

static uint64_t squares_of(const uint32_t *calls) {
    uint64_t squares = 0;
    for (uint32_t i = 0; i < ADAPT_PARTS; i++)
        squares += (uint64_t)calls[i] * calls[i];
    return squares;
}

/* The variance of either, if two that follow each other differ by so much. */
static uint64_t half_squares(const uint32_t *a, const uint32_t *b) {
    uint64_t squares = 0;
    for (uint32_t i = 0; i < ADAPT_PARTS; i++) {
        uint64_t d = a[i] > b[i] ? a[i] - b[i] : b[i] - a[i];
        squares += d * d;
    }
    return squares / 2;
}

/* The mean of the n - 1 differences of n bursts, of the latest ones where there are many. */
static uint64_t mean_with(uint64_t mean, uint32_t n, uint64_t value) {
    uint64_t parts = n - 1 < LATEST ? n - 1 : LATEST;
    return value > mean ? mean + (value - mean) / parts : mean - (mean - value) / parts;
}

static void learn(uint32_t *seen, uint32_t *last, uint64_t *variance, const uint32_t *calls) {
    if (*seen < UINT32_MAX)
        ++*seen;
    if (*seen > 1)
        *variance = mean_with(*variance, *seen, half_squares(calls, last));
    memcpy(last, calls, ADAPT_PARTS * sizeof *last);
}

void adapt_seen(struct adapt *adapt, uint64_t key, uint64_t each, uint64_t size,
                const uint32_t calls[ADAPT_PARTS]) {
    uint64_t stands = each * (size > 0 ? size : 1);
    for (uint32_t i = 0; i < ADAPT_PARTS; i++)
        adapt->total[i] += stands * calls[i];
    if (size == 0)
        return;
    struct adapt_class *k = class_of(adapt, key);
    uint64_t squares = squares_of(calls);
    k->largest = squares > k->largest ? squares : k->largest;
    learn(&k->seen, k->last, &k->variance, calls);
    wide spread = spread_of(k, each);
    adapt->spread += spread > k->spread ? spread - k->spread : 0;
    k->spread = spread;
    learn(&adapt->seen, adapt->last, &adapt->variance, calls);
    adapt->spread += (wide)adapt->variance * (size * each) * (each - 1);
}
