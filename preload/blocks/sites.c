/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * sites.c - a sum for each place, which is halved for each age that has passed when it is read.
 */
#include "preload/blocks/sites.h"

#include <stdatomic.h>

#define POINTS_BITS 48
#define POINTS_MOST ((1ull << POINTS_BITS) - 1)
#define STACK_BYTES 0x10000u /* stacks of threads are a multiple of it apart, mostly */

static struct {
    _Atomic uint64_t met[SITES]; /* points, and the lowest bits of the age above them */
    _Atomic uint32_t age;
} sites;

/* Small blocks of one size are one kind of object, mostly. */
static uint64_t kind_of(size_t size) {
    unsigned bits = size > 1024 ? 64 - (unsigned)__builtin_clzll(size) - 3 : 4;
    return (uint64_t)size >> bits | (uint64_t)bits << 32;
}

uint32_t sites_number(const struct event_place *place, size_t size) {
    uint64_t hash = place->pc * 0x9e3779b97f4a7c15ull ^ (place->sp & (STACK_BYTES - 1)) << 40;
    hash = (hash ^ kind_of(size)) * 0xff51afd7ed558ccdull;
    return (uint32_t)(hash >> (64 - SITES_SHIFT));
}

uint64_t sites_meet(uint32_t site, uint64_t points) {
    uint64_t old = atomic_load_explicit(&sites.met[site], memory_order_relaxed);
    uint64_t age = atomic_load_explicit(&sites.age, memory_order_relaxed) & UINT16_MAX;
    uint64_t since = (age - (old >> POINTS_BITS)) & UINT16_MAX;
    uint64_t met = since < POINTS_BITS ? (old & POINTS_MOST) >> since : 0;
    uint64_t sum = points < POINTS_MOST - met ? met + points : POINTS_MOST;
    atomic_store_explicit(&sites.met[site], age << POINTS_BITS | sum, memory_order_relaxed);
    return met;
}

void sites_age(void) {
    atomic_fetch_add_explicit(&sites.age, 1, memory_order_relaxed);
}
