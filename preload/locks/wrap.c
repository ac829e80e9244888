/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * wrap.c - mutexes, read-write locks and spin locks, asked for before libc's.
 *
 * A lock is tried first. Only when somebody else has it the clock is read, and the function that
 * was called waits as it would have done: whatever the trial says but "busy" is what the program
 * gets. So a robust mutex whose owner has died is had once, and a mutex that its owner asks for
 * again fails or waits for ever, as without us. Where a function refuses a moment that is none
 * before it looks at the lock, it is asked at once.
 *
 * A sample is taken by the thread that has the lock by then, which so has it a few microseconds
 * longer, once in WIRE_LOCKS_MEAN of its waiting.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "common/wire/wire.h"
#include "preload/events/course.h"
#include "preload/locks/link.h"
#include "preload/wrap/next_symbol.h"

#define SECOND_NS 1000000000

struct event_link hcct_locks_link;

static __thread struct course locks_course __attribute__((tls_model("initial-exec")));

/* ---- the next library's ---- */

struct function {
    const char *name;
    _Atomic(void *) found;
};

static hcct_noinline void *look_up(struct function *it) {
    void *function = next_by_itself(it->name);
    atomic_store_explicit(&it->found, function, memory_order_relaxed);
    return function;
}

static inline void *next(struct function *it) {
    void *function = atomic_load_explicit(&it->found, memory_order_relaxed);
    return hcct_likely(function != NULL) ? function : look_up(it);
}

/* ---- a wait ---- */

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * SECOND_NS + (uint64_t)time.tv_nsec;
}

static void draw(void) {
    locks_course.left = course_gap(WIRE_LOCKS_MEAN, &locks_course.random);
}

static void send(uint64_t ns, const struct event_place *place) {
    const struct event_sample sample = {
        .place = *place,
        .weight = course_weight(ns, WIRE_LOCKS_MEAN),
        .count = course_number(ns, WIRE_LOCKS_MEAN, &locks_course.random),
    };
    (void)hcct_locks_link.sample(&sample);
}

/* A point may lie in it. Keeps errno. */
static hcct_noinline void waited(uint64_t since, const struct event_place *place) {
    int saved = errno;
    uint64_t ns = now() - since + 1; /* shorter than the clock can tell is still a wait */
    if (!locks_course.begun || locks_course.process != getpid()) {
        course_begin(&locks_course);
        draw();
    }
    if (ns < locks_course.left) {
        locks_course.left -= ns;
    } else {
        draw();
        send(ns, place);
    }
    errno = saved;
}

/* ---- what the application calls ---- */

/* Without a profile nobody asks what a wait took. */
static inline bool is_off(void) {
    return hcct_unlikely(!event_link_is_ready(&hcct_locks_link));
}

static bool is_clock(clockid_t clock) {
    return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC;
}

static bool is_moment(const struct timespec *end) {
    return end->tv_nsec >= 0 && end->tv_nsec < SECOND_NS;
}

/* `parameters` of a function, the first of which is `lock`, and the same as `arguments`. It may be
 * tried by `trial` unless `refused`; that answers `busy` where somebody else has the lock. */
#define LOCK(symbol, parameters, arguments, trial, busy, refused)                                  \
    hcct_export int symbol parameters {                                                            \
        static struct function function = {.name = #symbol}, attempt = {.name = #trial};           \
        if (!(refused)) {                                                                          \
            int result = ((__typeof__(&trial))next(&attempt))(lock);                               \
            if (hcct_likely(result != (busy)))                                                     \
                return result;                                                                     \
        }                                                                                          \
        int(*wait) parameters = (int(*) parameters)next(&function);                                \
        if ((refused) || is_off())                                                                 \
            return wait arguments;                                                                 \
        const struct event_place place = EVENT_CALLER;                                             \
        uint64_t since = now();                                                                    \
        int result = wait arguments;                                                               \
        waited(since, &place);                                                                     \
        return result;                                                                             \
    }

#define MUTEX    pthread_mutex_t *lock
#define RWLOCK   pthread_rwlock_t *lock
#define UNTIL    const struct timespec *end
#define BY_CLOCK clockid_t clock, const struct timespec *end

LOCK(pthread_mutex_lock, (MUTEX), (lock), pthread_mutex_trylock, EBUSY, false)
LOCK(pthread_mutex_timedlock, (MUTEX, UNTIL), (lock, end), pthread_mutex_trylock, EBUSY, false)
LOCK(pthread_mutex_clocklock, (MUTEX, BY_CLOCK), (lock, clock, end), pthread_mutex_trylock, EBUSY,
     !is_clock(clock))
LOCK(pthread_rwlock_rdlock, (RWLOCK), (lock), pthread_rwlock_tryrdlock, EBUSY, false)
LOCK(pthread_rwlock_wrlock, (RWLOCK), (lock), pthread_rwlock_trywrlock, EBUSY, false)
LOCK(pthread_rwlock_timedrdlock, (RWLOCK, UNTIL), (lock, end), pthread_rwlock_tryrdlock, EBUSY,
     !is_moment(end))
LOCK(pthread_rwlock_timedwrlock, (RWLOCK, UNTIL), (lock, end), pthread_rwlock_trywrlock, EBUSY,
     !is_moment(end))
LOCK(pthread_rwlock_clockrdlock, (RWLOCK, BY_CLOCK), (lock, clock, end), pthread_rwlock_tryrdlock,
     EBUSY, !is_clock(clock) || !is_moment(end))
LOCK(pthread_rwlock_clockwrlock, (RWLOCK, BY_CLOCK), (lock, clock, end), pthread_rwlock_trywrlock,
     EBUSY, !is_clock(clock) || !is_moment(end))
LOCK(pthread_spin_lock, (pthread_spinlock_t * lock), (lock), pthread_spin_trylock, EBUSY, false)
LOCK(mtx_lock, (mtx_t * lock), (lock), mtx_trylock, thrd_busy, false)
LOCK(mtx_timedlock, (mtx_t * lock, UNTIL), (lock, end), mtx_trylock, thrd_busy, false)
