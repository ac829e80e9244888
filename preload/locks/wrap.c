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
 * longer, once in WIRE_LOCKS_MEAN of its waiting. The call takes so much longer: it counts as
 * waiting, too.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <threads.h>
#include <time.h>

#include "common/wire/wire.h"
#include "preload/locks/held.h"
#include "preload/locks/inside.h"

struct event_link hcct_locks_link = {.build = EVENT_LINK_BUILD(struct event_link)};
__thread struct course locks_course __attribute__((tls_model("initial-exec")));

/* ---- a wait ---- */

void locks_course_begin(void) {
    course_begin(&locks_course);
    locks_course.left = course_gap(WIRE_LOCKS_MEAN, &locks_course.random);
}

static void send(uint64_t ns, uint64_t length, uint64_t ended_ns, const struct event_place *place) {
    const struct event_sample sample = {
        .place = *place,
        .weight = course_weight_beside(ns, length, WIRE_LOCKS_MEAN),
        .count = course_number(length, WIRE_LOCKS_MEAN, &locks_course.random),
        .ended_ns = ended_ns,
    };
    (void)hcct_locks_link.sample(&sample);
}

/* A point may lie in it. */
static void sample_wait(uint64_t ns, uint64_t ended_ns, const struct event_place *place) {
    uint64_t length = ns + hcct_locks_link.beside;
    if (length < locks_course.left) {
        locks_course.left -= length;
        return;
    }
    locks_course.left = course_gap(WIRE_LOCKS_MEAN, &locks_course.random);
    send(ns, length, ended_ns, place);
}

struct wait {
    uint64_t since;
    struct held_table *table; /* NULL: whoever releases it is not asked for */
    struct held_place *place; /* NULL: there is no room in the table */
};

static hcct_noinline struct wait wait_begin(const volatile void *lock) {
    struct wait wait = {locks_now(), atomic_load(&hcct_held_link.table), NULL};
    locks_course_here();
    if (wait.table != NULL)
        wait.place = held_begin(wait.table, lock, wait.since, &locks_course.random);
    return wait;
}

/* Of a wait that has begun before somebody attached, what came since. */
static uint64_t counted(const struct wait *wait, const struct event_link *link, uint64_t now) {
    uint64_t since = atomic_load(&link->since_ns);
    since = since > wait->since ? since : wait->since;
    return now > since ? now - since : 0;
}

/* Whoever has released it was charged when it did. */
static void end_held(const struct wait *wait, uint64_t now, bool gave_up) {
    uint64_t ns = counted(wait, &hcct_held_link.event, now);
    if (wait->place != NULL) {
        struct held_rest rest = held_end(wait->table, wait->place, now, &locks_course.random);
        if (rest.weight > 0 && (gave_up || !rest.parted))
            hcct_held_link.lose(rest.weight);
    } else if (ns > 0 && course_gap(WIRE_LOCKS_MEAN, &locks_course.random) <= ns) {
        hcct_held_link.lose(course_weight(ns, WIRE_LOCKS_MEAN));
    }
}

/* Keeps errno. */
static hcct_noinline void wait_end(const struct wait *wait, bool gave_up,
                                   const struct event_place *place) {
    int saved = errno;
    uint64_t now = locks_now();
    locks_course_here();
    if (wait->table != NULL)
        end_held(wait, now, gave_up);
    if (event_link_is_ready(&hcct_locks_link))
        sample_wait(counted(wait, &hcct_locks_link, now) + 1, now,
                    place); /* shorter than the clock tells is still a wait */
    errno = saved;
}

/* ---- what the application calls ---- */

/* Without a profile nobody asks what a wait took. */
static inline bool is_off(void) {
    return hcct_unlikely(!event_link_is_ready(&hcct_locks_link) &&
                         atomic_load_explicit(&hcct_held_link.table, memory_order_relaxed) == NULL);
}

static bool is_clock(clockid_t clock) {
    return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC;
}

static bool is_moment(const struct timespec *end) {
    return end->tv_nsec >= 0 && end->tv_nsec < SECOND_NS;
}

/* What is done with a lock first. */
enum first {
    FIRST_TRY,  /* it is tried */
    FIRST_ASK,  /* the function is asked at once, and its time is not taken */
    FIRST_WAIT, /* somebody has it, and a trial would do harm */
};

#define MUTEX_ROBUST 16 /* of a mutex's kind, in libc */

/* To try a robust mutex that can't be recovered takes it, in libc, and says that it is not had: the
 * next one to ask would wait for ever. It is known by its word whether somebody has it. */
static inline enum first first_of(const pthread_mutex_t *lock) {
    if (hcct_likely((__atomic_load_n(&lock->__data.__kind, __ATOMIC_RELAXED) & MUTEX_ROBUST) == 0))
        return FIRST_TRY;
    return __atomic_load_n(&lock->__data.__lock, __ATOMIC_RELAXED) != 0 ? FIRST_WAIT : FIRST_ASK;
}

static inline enum first first_unless(bool refused) {
    return refused ? FIRST_ASK : FIRST_TRY;
}

/* Of a libc that tells (2.32 on). */
extern char __libc_single_threaded __attribute__((weak));

/* Nobody else can have the lock: there is one thread, and no other process has a part in a mutex of
 * the plain kind. libc takes it without an atomic operation then, which to try it would not do. */
static inline bool is_alone(const pthread_mutex_t *lock) {
    return &__libc_single_threaded != NULL && __libc_single_threaded != 0 &&
           __atomic_load_n(&lock->__data.__kind, __ATOMIC_RELAXED) == 0;
}

/* `parameters` of a function, the first of which is `lock`, and the same as `arguments`. `trial`
 * tries it, and answers `busy` where somebody else has the lock; which is tried once more then, as
 * it may be free by now. The function answers `late` where it was not had in time. Where the
 * thread is `alone` the function is jumped to at once. */
#define LOCK(symbol, parameters, arguments, trial, busy, begin, late, alone)                       \
    static struct function symbol##_next = {.name = #symbol}, symbol##_trial = {.name = #trial};   \
                                                                                                   \
    LOCKS_SLOWLY int symbol##_slowly parameters {                                                  \
        const struct event_place place = EVENT_CALLER;                                             \
        const enum first first = (begin);                                                          \
        int(*wait) parameters = (int(*) parameters)next(&symbol##_next);                           \
        if (first == FIRST_TRY) {                                                                  \
            int result = ((__typeof__(&trial))next(&symbol##_trial))(lock);                        \
            if (result != (busy))                                                                  \
                return result;                                                                     \
        }                                                                                          \
        if (first == FIRST_ASK || is_off())                                                        \
            return wait arguments;                                                                 \
        const struct wait waiting = wait_begin(lock);                                              \
        int result = wait arguments;                                                               \
        wait_end(&waiting, result == (late), &place);                                              \
        return result;                                                                             \
    }                                                                                              \
                                                                                                   \
    LOCKS_WRAPPER int symbol parameters {                                                          \
        __typeof__(&trial) attempt = (__typeof__(&trial))next_if_found(&symbol##_trial);           \
        int(*whole) parameters = (int(*) parameters)next_if_found(&symbol##_next);                 \
        if (hcct_unlikely(alone) && whole != NULL)                                                 \
            return whole arguments;                                                                \
        if (hcct_likely(attempt != NULL) && hcct_likely((begin) == FIRST_TRY)) {                   \
            int result = attempt(lock);                                                            \
            if (hcct_likely(result != (busy)))                                                     \
                return result;                                                                     \
        }                                                                                          \
        return symbol##_slowly arguments;                                                          \
    }

#define MUTEX    pthread_mutex_t *lock
#define RWLOCK   pthread_rwlock_t *lock
#define UNTIL    const struct timespec *end
#define BY_CLOCK clockid_t clock, const struct timespec *end

LOCK(pthread_mutex_lock, (MUTEX), (lock), pthread_mutex_trylock, EBUSY, first_of(lock), ETIMEDOUT,
     is_alone(lock))
LOCK(pthread_mutex_timedlock, (MUTEX, UNTIL), (lock, end), pthread_mutex_trylock, EBUSY,
     first_of(lock), ETIMEDOUT, false)
LOCK(pthread_mutex_clocklock, (MUTEX, BY_CLOCK), (lock, clock, end), pthread_mutex_trylock, EBUSY,
     is_clock(clock) ? first_of(lock) : FIRST_ASK, ETIMEDOUT, false)
LOCK(pthread_rwlock_rdlock, (RWLOCK), (lock), pthread_rwlock_tryrdlock, EBUSY, FIRST_TRY, ETIMEDOUT,
     false)
LOCK(pthread_rwlock_wrlock, (RWLOCK), (lock), pthread_rwlock_trywrlock, EBUSY, FIRST_TRY, ETIMEDOUT,
     false)
LOCK(pthread_rwlock_timedrdlock, (RWLOCK, UNTIL), (lock, end), pthread_rwlock_tryrdlock, EBUSY,
     first_unless(!is_moment(end)), ETIMEDOUT, false)
LOCK(pthread_rwlock_timedwrlock, (RWLOCK, UNTIL), (lock, end), pthread_rwlock_trywrlock, EBUSY,
     first_unless(!is_moment(end)), ETIMEDOUT, false)
LOCK(pthread_rwlock_clockrdlock, (RWLOCK, BY_CLOCK), (lock, clock, end), pthread_rwlock_tryrdlock,
     EBUSY, first_unless(!is_clock(clock) || !is_moment(end)), ETIMEDOUT, false)
LOCK(pthread_rwlock_clockwrlock, (RWLOCK, BY_CLOCK), (lock, clock, end), pthread_rwlock_trywrlock,
     EBUSY, first_unless(!is_clock(clock) || !is_moment(end)), ETIMEDOUT, false)
LOCK(pthread_spin_lock, (pthread_spinlock_t * lock), (lock), pthread_spin_trylock, EBUSY, FIRST_TRY,
     ETIMEDOUT, false)
LOCK(mtx_lock, (mtx_t * lock), (lock), mtx_trylock, thrd_busy, FIRST_TRY, thrd_timedout, false)
LOCK(mtx_timedlock, (mtx_t * lock, UNTIL), (lock, end), mtx_trylock, thrd_busy, FIRST_TRY,
     thrd_timedout, false)
