/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * held.h - who waits for which lock, so that whoever releases it is charged with the waiting that
 * it has caused, as in the mutex profile of Go.
 *
 * A thread that finds a lock taken notes the lock and the time in a table, and waits. Who releases
 * a lock that stands there ends a part of each such wait: from its beginning, or from the release
 * before, to this one. That part is an event (preload/events/course.h) of the context that
 * releases: it is sampled when a point of a Poisson process of the waiting falls on it. So a thread
 * that has the lock again and again while one other waits is charged with its own shares alone, and
 * of ten that wait with ten times as much as of one. The points of a wait do not depend on those by
 * which the wait itself is sampled.
 *
 * What is left of a wait after the last release, until the thread runs and has the lock, is
 * nobody's. Where no release was seen (libc's own within pthread_cond_wait), or a wait was given
 * up, whatever a point lies in was lost.
 *
 * Takes no lock, no memory, and reads no clock. While a mutex is had nobody but its owner writes to
 * places of its waiters, but those who give up; of several who release at once (readers) one gets
 * each part. Thread context, or inside a handler of the application.
 */
#ifndef HCCT_HELD_H
#define HCCT_HELD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/wire/compiler.h"
#include "common/wire/wire.h"
#include "preload/locks/link.h"

#define HELD_BUCKETS_SHIFT 6
#define HELD_BUCKETS       (1u << HELD_BUCKETS_SHIFT)
#define HELD_PLACES        64u /* of a bucket: so many threads can wait for one lock and be known */

/* One that waits. */
struct held_place {
    _Atomic uintptr_t lock;  /* 0: the place is free */
    _Atomic uint64_t since;  /* CLOCK_MONOTONIC ns: up to here others are charged */
    _Atomic uint64_t point;  /* the next one */
    _Atomic uint32_t parted; /* releases were seen */
};

struct held_table {
    struct {
        _Atomic uint32_t n;
        uint8_t pad[WIRE_CACHE_LINE - 4];
    } waiting[HELD_BUCKETS]; /* read at each release, and written only where threads wait */
    struct held_place place[HELD_BUCKETS][HELD_PLACES];
};

static inline uint32_t held_bucket(const volatile void *lock) {
    return (uint32_t)((uint64_t)(uintptr_t)lock * 0x9e3779b97f4a7c15u >> (64 - HELD_BUCKETS_SHIFT));
}

/* Somebody may wait for it, and is to be known. */
static inline bool held_is_waited_for(const volatile void *lock) {
    struct held_table *table = atomic_load_explicit(&hcct_held_link.table, memory_order_relaxed);
    return hcct_unlikely(table != NULL) &&
           atomic_load_explicit(&table->waiting[held_bucket(lock)].n, memory_order_relaxed) != 0;
}

/* The calling thread begins to wait. `random`: of draw_word. NULL: there is no room. */
struct held_place *held_begin(struct held_table *table, const volatile void *lock, uint64_t now,
                              uint64_t *random);

/* Waits that have begun before `now`, and go on, count from then on: they are another profile's. */
void held_renew(struct held_table *table, uint64_t now);

/* What is left of a wait. */
struct held_rest {
    uint64_t weight; /* that its points stand for; 0: none lies in it */
    bool parted;     /* releases were seen: others are charged with the rest of it */
};
/* It has ended. The place is no longer the thread's. */
struct held_rest held_end(struct held_table *table, struct held_place *place, uint64_t now,
                          uint64_t *random);

/* The calling thread is about to release the lock: what it is to be charged with. */
uint64_t held_collect(struct held_table *table, const volatile void *lock, uint64_t now,
                      uint64_t *random);

#endif
