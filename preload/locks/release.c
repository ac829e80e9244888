/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * release.c - whoever releases a lock that others wait for is charged with their waiting (held.h).
 *
 * Where nobody waits, or nobody asks who had the lock, the function behind this one is called at
 * once. A release that fails, or leaves a recursive lock to its owner, is charged all the same: its
 * context is one of the thread that has it. The sample is taken when the lock is free already.
 */
#include <errno.h>
#include <pthread.h>
#include <threads.h>

#include "preload/locks/held.h"
#include "preload/locks/inside.h"

struct held_link hcct_held_link = {
    .event = {.build = EVENT_LINK_BUILD(struct held_link)},
    .table_bytes = sizeof(struct held_table),
    .renew = held_renew,
};

static hcct_noinline uint64_t collect(const volatile void *lock) {
    int saved = errno;
    struct held_table *table = atomic_load(&hcct_held_link.table);
    locks_course_here();
    uint64_t weight = held_collect(table, lock, locks_now(), &locks_course.random);
    errno = saved;
    return weight;
}

static hcct_noinline void send(uint64_t weight, const struct event_place *place) {
    const struct event_sample sample = {.place = *place, .weight = weight, .count = 1};
    if (event_link_is_ready(&hcct_held_link.event))
        (void)hcct_held_link.event.sample(&sample);
}

#define RELEASE(symbol, type)                                                                      \
    static struct function symbol##_next = {.name = #symbol};                                      \
                                                                                                   \
    LOCKS_SLOWLY int symbol##_slowly(type *lock) {                                                 \
        const struct event_place place = EVENT_CALLER;                                             \
        int (*release)(type *) = (int (*)(type *))next(&symbol##_next);                            \
        uint64_t weight = held_is_waited_for(lock) ? collect(lock) : 0;                            \
        int result = release(lock);                                                                \
        if (weight > 0)                                                                            \
            send(weight, &place);                                                                  \
        return result;                                                                             \
    }                                                                                              \
                                                                                                   \
    LOCKS_WRAPPER int symbol(type *lock) {                                                         \
        int (*release)(type *) = (int (*)(type *))next_if_found(&symbol##_next);                   \
        if (hcct_unlikely(release == NULL) || hcct_unlikely(held_is_waited_for(lock)))             \
            return symbol##_slowly(lock);                                                          \
        return release(lock);                                                                      \
    }

RELEASE(pthread_mutex_unlock, pthread_mutex_t)
RELEASE(pthread_rwlock_unlock, pthread_rwlock_t)
RELEASE(pthread_spin_unlock, pthread_spinlock_t)
RELEASE(mtx_unlock, mtx_t)
