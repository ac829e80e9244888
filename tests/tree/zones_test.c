/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * zones_test.c - zones and their sums against an array of all contexts: each context is in the zone
 * of its nearest caller that names one, and no weight is lost when zones come and go.
 */
#include <stdlib.h>
#include <string.h>

#include "common/tree/zone_sums.h"
#include "tests/check.h"
#include "tests/tree/world.h"

#define CONTEXTS 4000u
#define FRAMES   300u

/* ---- contexts, in any tree ---- */

static uint32_t parent[CONTEXTS], frame[CONTEXTS];
static uint64_t weight[CONTEXTS]; /* of all time */

/* Callers come before callees, and callees of one caller differ in their frames. */
static void make_contexts(uint32_t near, struct rng *rng) {
    static uint32_t callees[CONTEXTS];
    memset(callees, 0, sizeof callees);
    for (uint32_t i = 1; i < CONTEXTS; i++) {
        uint32_t first = i > near ? i - near : 0;
        do
            parent[i] = first + (uint32_t)rng_below(rng, i - first);
        while (callees[parent[i]] == FRAMES);
        frame[i] = callees[parent[i]]++;
        weight[i] = 0;
    }
}

static void find_places(const struct zones *zones, zone_place place[CONTEXTS]) {
    place[0] = zones_root(zones);
    for (uint32_t i = 1; i < CONTEXTS; i++)
        place[i] = zones_below(zones, place[parent[i]], frame[i]);
}

/* ---- sums ---- */

static uint64_t by_frame[FRAMES], below_zone[ZONES_MAX];

static void take(void *arg, uint8_t zone, uint32_t f, uint64_t w) {
    const struct zones *zones = arg;
    by_frame[f] += w;
    for (; zone != ZONES_ROOT; zone = zones_around(zones, zone))
        below_zone[zone] += w;
}

/* What contexts below the one that names the zone have had. */
static uint64_t weight_below(const struct zones *zones, uint8_t zone, const zone_place *place) {
    uint64_t sum = 0;
    for (uint32_t i = 1; i < CONTEXTS; i++) {
        uint8_t of = zone_of(place[parent[i]]);
        while (of != zone && of != ZONES_ROOT)
            of = zones_around(zones, of);
        sum += of == zone ? weight[i] : 0;
    }
    return sum;
}

static void check_sums(struct zones *zones, const struct zone_sums *sums, const zone_place *place) {
    static uint64_t exact[FRAMES];
    memset(exact, 0, sizeof exact);
    memset(by_frame, 0, sizeof by_frame);
    memset(below_zone, 0, sizeof below_zone);
    for (uint32_t i = 1; i < CONTEXTS; i++)
        exact[frame[i]] += weight[i];
    zone_sums_walk(sums, take, zones);
    CHECK(memcmp(exact, by_frame, sizeof exact) == 0);
    for (uint32_t z = 1; z < ZONES_MAX; z++)
        if (zones->at[z] != 0)
            CHECK(below_zone[z] <= weight_below(zones, (uint8_t)z, place));
}

/* ---- rounds ---- */

/* Some part of the tree has most of the weight of a round. */
static void add_weights(struct zone_sums *sums, const struct zones *zones, const zone_place *place,
                        uint64_t sample[CONTEXTS], struct rng *rng) {
    uint32_t first = 1 + (uint32_t)rng_below(rng, CONTEXTS - 1);
    memset(sample, 0, CONTEXTS * sizeof *sample);
    for (unsigned n = 0; n < 5000; n++) {
        uint32_t i = first + (uint32_t)rng_below(rng, 700);
        i = i < CONTEXTS && rng_below(rng, 4) != 0 ? i : 1 + (uint32_t)rng_below(rng, CONTEXTS - 1);
        uint64_t w = 1 + rng_below(rng, 9);
        weight[i] += w;
        sample[parent[i]] += w;
        zone_sums_add(sums, zones, zone_of(place[parent[i]]), frame[i], w);
    }
}

static uint32_t count_zones(const struct zones *zones) {
    uint32_t n = 0;
    for (uint32_t z = 1; z < ZONES_MAX; z++)
        n += zones->at[z] != 0;
    return n;
}

/* Of the sample that zones were chosen from, the most that is below one context and in the zone in
 * which that context is. */
static uint64_t most_unparted(const zone_place *place, uint64_t sample[CONTEXTS]) {
    uint64_t most = 0;
    for (uint32_t i = CONTEXTS; i-- > 1;) {
        if (zone_of(place[i]) != zone_of(place[parent[i]]))
            continue; /* it names a zone */
        most = sample[i] > most ? sample[i] : most;
        sample[parent[i]] += sample[i];
    }
    return most;
}

static bool dissolved;

static void test(uint32_t near, struct rng *rng) {
    static uint64_t sample[CONTEXTS], whole[CONTEXTS];
    static zone_place place[CONTEXTS];
    struct budget budget = {0};
    struct zones zones;
    struct zone_sums sums;
    make_contexts(near, rng);
    zones_init(&zones, &budget, rng_next(rng) | 1);
    zone_sums_init(&sums, &budget, 1000);
    find_places(&zones, place);
    for (unsigned round = 0; round < 40; round++) {
        uint8_t became[ZONES_MAX];
        uint64_t sum = 0;
        add_weights(&sums, &zones, place, sample, rng);
        memcpy(whole, sample, sizeof whole);
        for (uint32_t i = 0; i < CONTEXTS; i++)
            sum += sample[i];
        if (zones_choose(&zones, &(struct zone_sample){parent, frame, sample, CONTEXTS, 1},
                         became)) {
            zone_sums_join(&sums, became);
            dissolved = true;
        }
        find_places(&zones, place);
        check_sums(&zones, &sums, place);
        CHECK(most_unparted(place, whole) < sum / ZONES_CUT + 1);
    }
    CHECK(count_zones(&zones) > 10);
    zones_free(&zones);
    zone_sums_free(&sums);
    CHECK_UINT(budget.used, 0);
}

/* Without memory for more, weight goes to zones around, and what is missing is missing only. */
static void test_cap(struct rng *rng) {
    struct budget budget = {.max = 200000};
    struct zones zones;
    struct zone_sums sums;
    uint64_t placed = 0, added = 0;
    zones_init(&zones, &budget, rng_next(rng) | 1);
    zone_sums_init(&sums, &budget, 1000);
    for (unsigned i = 0; i < 20000; i++) {
        added++;
        zone_sums_add(&sums, &zones, ZONES_ROOT, (uint32_t)rng_below(rng, 1u << 24), 1);
    }
    CHECK(budget.used <= budget.max / 8);
    for (uint32_t b = 1; b <= sums.blocks; b++)
        for (uint32_t i = 0; i < ZONE_SUMS_BLOCK; i++)
            placed += sums.sum[b * ZONE_SUMS_BLOCK + i];
    CHECK(placed < added);
    zones_free(&zones);
    zone_sums_free(&sums);
    CHECK_UINT(budget.used, 0);
}

int main(void) {
    struct rng rng = {test_seed()};
    test(4, &rng);    /* deep */
    test(60, &rng);   /* as programs are */
    test(4000, &rng); /* broad */
    CHECK(dissolved);
    test_cap(&rng);
    return check_report();
}
