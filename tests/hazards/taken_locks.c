/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * taken_locks.c - locks of every kind that another thread has: for a moment many times, and then
 * for long. Each call answers what it should, a wait for a time is neither shorter nor much longer,
 * and what interrupts it (handlers of the program's own, jumps out of them, cancellation, forks)
 * does what it does without anybody.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define TIMES   8
#define QUICK   40 /* calls that hardly wait */
#define HELD_MS 12
#define LATE_MS 400 /* a machine may be busy */

static void fail(const char *what, const char *which, long got, long wanted) {
    printf("%s %s: %ld for %ld\n", which, what, got, wanted);
}

static void nap(long us) {
    struct timespec time = {us / 1000000, us % 1000000 * 1000};
    while (nanosleep(&time, &time) != 0)
        continue;
}

static long us_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000L + now.tv_nsec / 1000;
}

static struct timespec in_ms(clockid_t clock, long ms) {
    struct timespec end;
    clock_gettime(clock, &end);
    end.tv_nsec += ms * 1000000;
    end.tv_sec += end.tv_nsec / 1000000000;
    end.tv_nsec %= 1000000000;
    return end;
}

static void work_for(long us) {
    for (long end = us_now() + us; us_now() < end;)
        continue;
}

/* ---- the kinds ---- */

static pthread_mutex_t mutex;
static pthread_rwlock_t shared = PTHREAD_RWLOCK_INITIALIZER;
static mtx_t of_c11;

static int by_mutex(void) {
    return pthread_mutex_lock(&mutex);
}
static int by_timed_mutex(void) {
    struct timespec end = in_ms(CLOCK_REALTIME, 10000);
    return pthread_mutex_timedlock(&mutex, &end);
}
static int by_clock_mutex(void) {
    struct timespec end = in_ms(CLOCK_MONOTONIC, 10000);
    return pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &end);
}
static int leave_mutex(void) {
    return pthread_mutex_unlock(&mutex);
}
static int by_read(void) {
    return pthread_rwlock_rdlock(&shared);
}
static int by_timed_read(void) {
    struct timespec end = in_ms(CLOCK_REALTIME, 10000);
    return pthread_rwlock_timedrdlock(&shared, &end);
}
static int by_clock_read(void) {
    struct timespec end = in_ms(CLOCK_MONOTONIC, 10000);
    return pthread_rwlock_clockrdlock(&shared, CLOCK_MONOTONIC, &end);
}
static int by_write(void) {
    return pthread_rwlock_wrlock(&shared);
}
static int by_timed_write(void) {
    struct timespec end = in_ms(CLOCK_REALTIME, 10000);
    return pthread_rwlock_timedwrlock(&shared, &end);
}
static int by_clock_write(void) {
    struct timespec end = in_ms(CLOCK_MONOTONIC, 10000);
    return pthread_rwlock_clockwrlock(&shared, CLOCK_MONOTONIC, &end);
}
static int leave_shared(void) {
    return pthread_rwlock_unlock(&shared);
}
static int by_c11(void) {
    return mtx_lock(&of_c11);
}
static int by_timed_c11(void) {
    struct timespec end = in_ms(CLOCK_REALTIME, 10000);
    return mtx_timedlock(&of_c11, &end);
}
static int leave_c11(void) {
    return mtx_unlock(&of_c11);
}

/* `holder` takes it so that `take` has to wait. Who jumps out of a wait for a read-write lock
 * counts as waiting for ever. */
static const struct kind {
    const char *name;
    int (*holder)(void), (*take)(void), (*leave)(void);
} kinds[] = {
    {"mutex", by_mutex, by_mutex, leave_mutex},
    {"timed mutex", by_mutex, by_timed_mutex, leave_mutex},
    {"clock mutex", by_mutex, by_clock_mutex, leave_mutex},
    {"read", by_write, by_read, leave_shared},
    {"timed read", by_write, by_timed_read, leave_shared},
    {"clock read", by_write, by_clock_read, leave_shared},
    {"write", by_read, by_write, leave_shared},
    {"timed write", by_write, by_timed_write, leave_shared},
    {"clock write", by_read, by_clock_write, leave_shared},
    {"c11", by_c11, by_c11, leave_c11},
    {"timed c11", by_c11, by_timed_c11, leave_c11},
};
#define KINDS (sizeof kinds / sizeof *kinds)

static const struct kind *kind;
static atomic_int asked, has, keeps;

/* Holds it for as long as it is asked to: microseconds, or until `keeps` ends. */
static void *hold(void *arg) {
    sigset_t alarm;
    int us;
    (void)arg;
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarm, NULL);
    while ((us = atomic_load(&asked)) >= 0) {
        if (us == 0 || atomic_load(&has)) {
            sched_yield();
            continue;
        }
        if (kind->holder() != 0)
            fail("is not had by its holder", kind->name, 1, 0);
        atomic_store(&asked, 0);
        atomic_store(&has, 1);
        nap(us);
        while (atomic_load(&keeps))
            nap(200);
        if (kind->leave() != 0)
            fail("is not left by its holder", kind->name, 1, 0);
    }
    return NULL;
}

static void ask(int us) {
    atomic_store(&has, 0);
    atomic_store(&asked, us);
    while (!atomic_load(&has))
        sched_yield();
}

/* The signal's handler has it: what it does is over before the lock is had. */
static volatile sig_atomic_t handled;
static sigjmp_buf out;
static volatile sig_atomic_t jumps;

static void on_alarm(int number) {
    (void)number;
    handled++;
    work_for(1500);
    if (jumps)
        siglongjmp(out, 1);
}

static void alarm_in(long us) {
    const struct itimerval alarm = {{0, 0}, {0, us}};
    setitimer(ITIMER_REAL, &alarm, NULL);
}

static void take_and_leave(const char *what, long least_us, int alarms) {
    long began = us_now();
    int result;
    handled = 0;
    if (alarms)
        alarm_in(least_us / 2);
    result = kind->take();
    long took = us_now() - began;
    if (result != 0)
        fail(what, kind->name, result, 0);
    if (took > least_us + LATE_MS * 1000)
        fail("took (us)", kind->name, took, least_us);
    while (alarms && handled == 0) /* the lock was left before, as the machine is busy */
        sched_yield();
    if ((result = kind->leave()) != 0)
        fail("was not left", kind->name, result, 0);
}

static void wait_for_others(void) {
    pthread_t holder;
    atomic_store(&asked, 0);
    pthread_create(&holder, NULL, hold, NULL);
    for (int i = 0; i < TIMES; i++) {
        for (int j = 0; j < (i == 0 ? QUICK : 4); j++) {
            ask(50);
            take_and_leave("for a moment", 50, 0);
        }
        ask(HELD_MS * 1000);
        take_and_leave("for long", HELD_MS * 1000, 0);
        ask(HELD_MS * 1000);
        take_and_leave("with a handler", HELD_MS * 1000, 1);
        if (kind->leave == leave_shared)
            continue;
        atomic_store(&keeps, 1);
        ask(1);
        jumps = 1;
        if (sigsetjmp(out, 1) == 0) {
            alarm_in(HELD_MS * 500);
            fail("is had by two", kind->name, kind->take(), -1);
        }
        jumps = 0;
        atomic_store(&keeps, 0);
    }
    atomic_store(&asked, -1);
    pthread_join(holder, NULL);
}

/* ---- times that are over, and what is not waited for ---- */

static void check_times(void) {
    static int (*const clocked[])(pthread_rwlock_t *, clockid_t, const struct timespec *) = {
        pthread_rwlock_clockrdlock, pthread_rwlock_clockwrlock};
    struct timespec end, wrong = {0, 1000000000};
    mtx_lock(&of_c11);
    for (int i = 0; i < TIMES; i++) {
        long began = us_now();
        end = in_ms(CLOCK_MONOTONIC, HELD_MS);
        int result = pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &end);
        long took = us_now() - began;
        if (result != ETIMEDOUT || took < HELD_MS * 1000)
            fail("clocklock", "mutex", result, took);
        for (int j = 0; j < 2; j++) {
            began = us_now();
            end = in_ms(CLOCK_MONOTONIC, HELD_MS);
            result = clocked[j](&shared, CLOCK_MONOTONIC, &end);
            took = us_now() - began;
            if (result != ETIMEDOUT || took < HELD_MS * 1000)
                fail("clocklock", "shared", result, took);
        }
    }
    if (pthread_mutex_timedlock(&mutex, &wrong) != EINVAL)
        fail("with no time", "mutex", 0, EINVAL);
}

static void *check_times_elsewhere(void *arg) {
    check_times();
    return arg;
}

static void times(void) {
    pthread_t other;
    pthread_mutex_lock(&mutex);
    pthread_rwlock_wrlock(&shared);
    pthread_create(&other, NULL, check_times_elsewhere, NULL);
    pthread_join(other, NULL);
    pthread_rwlock_unlock(&shared);
    pthread_mutex_unlock(&mutex);
}

static void *take_and_end(void *arg) {
    pthread_mutex_lock(arg);
    return NULL;
}

static void again(void) {
    static const int types[] = {PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK};
    static const int answers[] = {0, EDEADLK};
    for (int i = 0; i < 2; i++) {
        pthread_mutexattr_t how;
        pthread_mutex_t own;
        pthread_mutexattr_init(&how);
        pthread_mutexattr_settype(&how, types[i]);
        pthread_mutex_init(&own, &how);
        pthread_mutex_lock(&own);
        for (int j = 0; j < 100000; j++) {
            int result = pthread_mutex_lock(&own);
            if (result != answers[i])
                fail("again", "mutex", result, answers[i]);
            if (result == 0)
                pthread_mutex_unlock(&own);
        }
        pthread_mutex_unlock(&own);
    }
}

static void owner_dies(int protocol) {
    for (int i = 0; i < TIMES; i++) {
        pthread_mutexattr_t how;
        pthread_mutex_t robust;
        pthread_t owner;
        pthread_mutexattr_init(&how);
        pthread_mutexattr_setrobust(&how, PTHREAD_MUTEX_ROBUST);
        pthread_mutexattr_setprotocol(&how, protocol);
        pthread_mutex_init(&robust, &how);
        pthread_create(&owner, NULL, take_and_end, &robust);
        int result = EAGAIN;
        if (i % 2 == 0)
            pthread_join(owner, NULL);
        else
            nap(300);
        result = pthread_mutex_lock(&robust);
        if (i % 2 == 0 && result != EOWNERDEAD)
            fail("whose owner died", "mutex", result, EOWNERDEAD);
        if (result == EOWNERDEAD)
            pthread_mutex_consistent(&robust);
        pthread_mutex_unlock(&robust);
        if (i % 2 != 0)
            pthread_join(owner, NULL);
    }
}

/* ---- threads that are cancelled, and children ---- */

/* A lock is no point of cancellation: the thread has it first. */
static atomic_int cancelled_had;

static void *take_then_test(void *arg) {
    (void)arg;
    pthread_mutex_lock(&mutex);
    atomic_fetch_add(&cancelled_had, 1);
    pthread_mutex_unlock(&mutex);
    for (;;)
        pthread_testcancel();
    return NULL;
}

static void cancel(void) {
    for (int i = 0; i < TIMES; i++) {
        pthread_t thread;
        void *result;
        pthread_mutex_lock(&mutex);
        pthread_create(&thread, NULL, take_then_test, NULL);
        nap(2000);
        pthread_cancel(thread);
        nap(2000);
        pthread_mutex_unlock(&mutex);
        pthread_join(thread, &result);
        if (result != PTHREAD_CANCELED)
            fail("is not cancelled", "thread", 0, 1);
    }
    if (atomic_load(&cancelled_had) != TIMES)
        fail("had the lock before they were cancelled", "threads", atomic_load(&cancelled_had),
             TIMES);
}

static void *fight(void *arg) {
    for (int i = 0; i < 3000; i++) {
        pthread_mutex_lock(&mutex);
        *(volatile long *)arg += 1;
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

static void forks(void) {
    pthread_t fighters[3];
    volatile long sum = 0;
    int status;
    for (int i = 0; i < 3; i++)
        pthread_create(&fighters[i], NULL, fight, (void *)(uintptr_t)&sum);
    for (int i = 0; i < 10; i++) {
        pthread_mutex_lock(&mutex);
        pid_t child = fork();
        if (child == 0) {
            pthread_mutex_unlock(&mutex);
            pthread_mutex_lock(&mutex);
            _exit(7);
        }
        pthread_mutex_unlock(&mutex);
        if (child < 0 || waitpid(child, &status, 0) != child || WEXITSTATUS(status) != 7)
            fail("does not end as it should", "child", status, 7 << 8);
    }
    for (int i = 0; i < 3; i++)
        pthread_join(fighters[i], NULL);
    if (sum != 9000)
        fail("were had at the same time", "locks", sum, 9000);
}

int main(void) {
    static const int protocols[] = {PTHREAD_PRIO_NONE, PTHREAD_PRIO_INHERIT};
    struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
    sigaction(SIGALRM, &action, NULL);
    mtx_init(&of_c11, mtx_timed);
    for (int p = 0; p < 2; p++) {
        pthread_mutexattr_t how;
        pthread_mutexattr_init(&how);
        pthread_mutexattr_setprotocol(&how, protocols[p]);
        pthread_mutex_init(&mutex, &how);
        for (size_t i = 0; i < (p == 0 ? KINDS : 3); i++) {
            kind = &kinds[i];
            wait_for_others();
        }
        owner_dies(protocols[p]);
        cancel();
        atomic_store(&cancelled_had, 0);
        if (p == 0) /* a child has not got what its parent has of the other kind */
            forks();
    }
    times();
    again();
    printf("done\n");
    return 0;
}
