/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * held.c - a hash of places.
 *
 * A place is claimed by the lock's address, with a time that says that it is not written yet, and
 * so not parted. Whoever collects takes a part by an exchange of its beginning, and a point by
 * another: each is had by one. A place that changes its owner meanwhile (its wait was given up, and
 * another began) began just now: what is written to it is what stands there, but for a moment.
 */
#include "preload/locks/held.h"

#include "preload/events/course.h"

#define NOT_YET 0 /* as in a table that nobody has written to */

static uint32_t bucket_of(const struct held_table *table, const struct held_place *place) {
    return (uint32_t)((place - table->place[0]) / HELD_PLACES);
}

/* What a part is sampled with, 0: it is not. The next point is drawn. */
static uint64_t weigh(struct held_place *place, uint64_t since, uint64_t now, uint64_t *random) {
    uint64_t point = atomic_load_explicit(&place->point, memory_order_relaxed);
    if (point > now || since == NOT_YET || since >= now)
        return 0;
    uint64_t next = now + course_gap(WIRE_LOCKS_MEAN, random);
    bool mine = atomic_compare_exchange_strong(&place->point, &point, next);
    return mine ? course_weight(now - since, WIRE_LOCKS_MEAN) : 0;
}

struct held_place *held_begin(struct held_table *table, const volatile void *lock, uint64_t now,
                              uint64_t *random) {
    uint32_t bucket = held_bucket(lock);
    for (uint32_t i = 0; i < HELD_PLACES; i++) {
        struct held_place *place = &table->place[bucket][i];
        uintptr_t nobody = 0;
        if (atomic_load_explicit(&place->lock, memory_order_relaxed) != 0 ||
            !atomic_compare_exchange_strong(&place->lock, &nobody, (uintptr_t)lock))
            continue;
        atomic_store_explicit(&place->parted, 0, memory_order_relaxed);
        atomic_store_explicit(&place->point, now + course_gap(WIRE_LOCKS_MEAN, random),
                              memory_order_relaxed);
        atomic_store_explicit(&place->since, now, memory_order_release);
        atomic_fetch_add(&table->waiting[bucket].n, 1);
        return place;
    }
    return NULL;
}

struct held_rest held_end(struct held_table *table, struct held_place *place, uint64_t now,
                          uint64_t *random) {
    uint64_t since = atomic_exchange(&place->since, NOT_YET);
    struct held_rest rest = {.weight = weigh(place, since, now, random),
                             .parted = atomic_load(&place->parted) != 0};
    if (atomic_exchange(&place->lock, 0) != 0) /* a child of fork has an empty table */
        atomic_fetch_sub(&table->waiting[bucket_of(table, place)].n, 1);
    return rest;
}

void held_renew(struct held_table *table, uint64_t now) {
    for (uint32_t bucket = 0; bucket < HELD_BUCKETS; bucket++) {
        uint32_t most = atomic_load(&table->waiting[bucket].n);
        for (uint32_t i = 0; i < HELD_PLACES && most > 0; i++) {
            _Atomic uint64_t *since = &table->place[bucket][i].since;
            uint64_t before = atomic_load(since);
            while (before != NOT_YET && before < now &&
                   !atomic_compare_exchange_weak(since, &before, now))
                ;
        }
    }
}

/* Others may begin and end waits meanwhile. */
static bool take_part(struct held_place *place, uint64_t now, uint64_t *since) {
    *since = atomic_load_explicit(&place->since, memory_order_acquire);
    while (*since != NOT_YET && *since < now)
        if (atomic_compare_exchange_weak(&place->since, since, now))
            return true;
    return false; /* not written yet, or somebody else's */
}

uint64_t held_collect(struct held_table *table, const volatile void *lock, uint64_t now,
                      uint64_t *random) {
    uint32_t bucket = held_bucket(lock), seen = 0;
    uint32_t most = atomic_load(&table->waiting[bucket].n);
    uint64_t sum = 0, since;
    for (uint32_t i = 0; i < HELD_PLACES && seen < most; i++) {
        struct held_place *place = &table->place[bucket][i];
        uintptr_t its = atomic_load_explicit(&place->lock, memory_order_acquire);
        seen += its != 0;
        if (its != (uintptr_t)lock || !take_part(place, now, &since))
            continue;
        atomic_store_explicit(&place->parted, 1, memory_order_relaxed);
        sum += weigh(place, since, now, random);
    }
    return sum;
}
