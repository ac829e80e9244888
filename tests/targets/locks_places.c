/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * locks_places.c - all kinds of locks, each contended and not, in places where one may lock, and
 * what each call has answered: the same with hcct as without.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static void nap(void) {
    const struct timespec time = {0, 3000000};
    nanosleep(&time, NULL);
}

static void say(const char *what, int result) {
    printf("%s: %s\n", what, strerrorname_np(result) != NULL ? strerrorname_np(result) : "0");
}

static pthread_mutex_t make(int type, int robust, int protocol) {
    pthread_mutexattr_t attributes;
    pthread_mutex_t lock;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, type);
    pthread_mutexattr_setrobust(&attributes, robust);
    pthread_mutexattr_setprotocol(&attributes, protocol);
    pthread_mutex_init(&lock, &attributes);
    return lock;
}

static struct timespec from_now(clockid_t clock, long ms) {
    struct timespec end;
    clock_gettime(clock, &end);
    end.tv_nsec += ms * 1000000;
    end.tv_sec += end.tv_nsec / 1000000000;
    end.tv_nsec %= 1000000000;
    return end;
}

/* ---- another thread has it for a while ---- */

struct held {
    pthread_mutex_t *lock;
    pthread_barrier_t begun;
    bool dies;
};

static void *hold(void *argument) {
    struct held *held = argument;
    pthread_mutex_lock(held->lock);
    pthread_barrier_wait(&held->begun);
    nap();
    if (!held->dies)
        pthread_mutex_unlock(held->lock);
    return NULL;
}

static pthread_t begin(struct held *held, pthread_mutex_t *lock, bool dies) {
    pthread_t thread;
    *held = (struct held){.lock = lock, .dies = dies};
    pthread_barrier_init(&held->begun, NULL, 2);
    pthread_create(&thread, NULL, hold, held);
    pthread_barrier_wait(&held->begun);
    return thread;
}

static void contend(const char *what, pthread_mutex_t lock) {
    struct held held;
    pthread_t thread = begin(&held, &lock, false);
    errno = 77;
    say(what, pthread_mutex_lock(&lock));
    printf("errno %d\n", errno);
    say("unlocked", pthread_mutex_unlock(&lock));
    pthread_join(thread, NULL);
}

static void kinds(void) {
    contend("normal", make(PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_NONE));
    contend("adaptive", make(PTHREAD_MUTEX_ADAPTIVE_NP, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_NONE));
    contend("recursive", make(PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_NONE));
    contend("errorcheck", make(PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_NONE));
    contend("robust", make(PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ROBUST, PTHREAD_PRIO_NONE));
    contend("inherits", make(PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_INHERIT));
    contend("robust, inherits",
            make(PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ROBUST, PTHREAD_PRIO_INHERIT));
}

static void own_again(void) {
    pthread_mutex_t lock = make(PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_NONE);
    say("first", pthread_mutex_lock(&lock));
    say("its own again", pthread_mutex_lock(&lock));
    struct timespec end = from_now(CLOCK_REALTIME, 5);
    say("its own again, timed", pthread_mutex_timedlock(&lock, &end));
    lock = make(PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_NONE);
    for (int i = 0; i < 3; i++)
        say("recursive", pthread_mutex_lock(&lock));
    for (int i = 0; i < 4; i++)
        say("and back", pthread_mutex_unlock(&lock));
    lock = make(PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_NONE);
    pthread_mutex_lock(&lock);
    end = from_now(CLOCK_REALTIME, 5);
    say("a normal one again, timed", pthread_mutex_timedlock(&lock, &end));
    end.tv_nsec = -1;
    say("at a moment that is none", pthread_mutex_timedlock(&lock, &end));
    pthread_mutex_unlock(&lock);
    say("free, at a moment that is none", pthread_mutex_timedlock(&lock, &end));
    pthread_mutex_unlock(&lock);
    say("free, by a clock that is none", pthread_mutex_clocklock(&lock, 1234, &end));
}

/* The owner dies while another one waits, and before anybody asks. */
static void owner_dies(int protocol) {
    struct held held;
    for (int wait = 0; wait < 2; wait++) {
        pthread_mutex_t lock = make(PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ROBUST, protocol);
        pthread_t thread = begin(&held, &lock, true);
        if (wait == 0)
            pthread_join(thread, NULL);
        say("its owner died", pthread_mutex_lock(&lock));
        if (wait == 0)
            say("repaired", pthread_mutex_consistent(&lock));
        say("unlocked", pthread_mutex_unlock(&lock));
        say("then", pthread_mutex_lock(&lock));
        if (wait == 0) { /* else the kernel goes by a list of what lies on this stack */
            say("unlocked", pthread_mutex_unlock(&lock));
        } else {
            const struct timespec end = from_now(CLOCK_REALTIME, 1000);
            say("and again", pthread_mutex_timedlock(&lock, &end));
            pthread_join(thread, NULL);
        }
    }
}

static void read_write(void) {
    pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
    struct timespec end = from_now(CLOCK_MONOTONIC, 5);
    say("to read", pthread_rwlock_rdlock(&lock));
    say("to read again", pthread_rwlock_rdlock(&lock));
    say("to write", pthread_rwlock_clockwrlock(&lock, CLOCK_MONOTONIC, &end));
    end.tv_nsec = 1000000000;
    say("to read, at a moment that is none", pthread_rwlock_timedrdlock(&lock, &end));
    end.tv_nsec = 0;
    say("to read, by a clock that is none", pthread_rwlock_clockrdlock(&lock, 1234, &end));
    pthread_rwlock_unlock(&lock), pthread_rwlock_unlock(&lock);
    say("to write", pthread_rwlock_wrlock(&lock));
    say("its own again", pthread_rwlock_wrlock(&lock));
    say("its own, to read", pthread_rwlock_rdlock(&lock));
}

static void standard(void) {
    mtx_t lock;
    mtx_init(&lock, mtx_timed);
    struct timespec end = from_now(CLOCK_REALTIME, 5);
    printf("C11: %d", mtx_lock(&lock) == thrd_success);
    printf(" %d", mtx_timedlock(&lock, &end) == thrd_timedout);
    printf(" %d\n", mtx_unlock(&lock) == thrd_success);
}

/* ---- a cancelled wait for a condition has its mutex again ---- */

static pthread_mutex_t of_condition = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

static void after_cancellation(void *unused) {
    (void)unused;
    say("cancelled, tried", pthread_mutex_trylock(&of_condition));
    say("cancelled, unlocked", pthread_mutex_unlock(&of_condition));
}

static void *wait_for_condition(void *begun) {
    pthread_mutex_lock(&of_condition);
    pthread_cleanup_push(after_cancellation, NULL);
    pthread_barrier_wait(begun);
    for (;;)
        pthread_cond_wait(&condition, &of_condition);
    pthread_cleanup_pop(0);
    return NULL;
}

static void cancelled(void) {
    pthread_barrier_t begun;
    pthread_t thread;
    void *result;
    pthread_barrier_init(&begun, NULL, 2);
    pthread_create(&thread, NULL, wait_for_condition, &begun);
    pthread_barrier_wait(&begun);
    pthread_mutex_lock(&of_condition);
    pthread_cancel(thread);
    nap();
    pthread_mutex_unlock(&of_condition);
    pthread_join(thread, &result);
    printf("cancelled: %d\n", result == PTHREAD_CANCELED);
}

/* ---- places ---- */

static void before_main(void) __attribute__((constructor));
static void before_main(void) {
    contend("before main", make(PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_NONE));
}

static void at_exit(void) {
    contend("at exit", make(PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_NONE));
    fflush(stdout);
}

static pthread_key_t key;

static void at_thread_end(void *unused) {
    (void)unused;
    contend("at a thread's end",
            make(PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_NONE));
}

static void *end_soon(void *unused) {
    pthread_setspecific(key, &key);
    return unused;
}

static void on_signal(int number) {
    (void)number;
    contend("in a handler", make(PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_NONE));
}

static void in_child(void) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        contend("in a child", make(PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_NONE));
        fflush(stdout);
        _exit(0);
    }
    int status;
    waitpid(child, &status, 0);
    printf("child: %d\n", status);
}

/* Shared by two processes. */
static void between_processes(void) {
    pthread_mutex_t *lock =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(lock, &attributes);
    int ready[2];
    if (pipe(ready) != 0)
        return;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        pthread_mutex_lock(lock);
        (void)!write(ready[1], "x", 1);
        nap();
        _exit(0);
    }
    char byte;
    (void)!read(ready[0], &byte, 1);
    say("its owner's process died", pthread_mutex_lock(lock));
    waitpid(child, NULL, 0);
}

int main(void) {
    pthread_t thread;
    atexit(at_exit);
    kinds();
    own_again();
    owner_dies(PTHREAD_PRIO_NONE);
    owner_dies(PTHREAD_PRIO_INHERIT);
    read_write();
    standard();
    cancelled();
    pthread_key_create(&key, at_thread_end);
    pthread_create(&thread, NULL, end_soon, NULL);
    pthread_join(thread, NULL);
    signal(SIGUSR2, on_signal);
    raise(SIGUSR2);
    in_child();
    between_processes();
    return 0;
}
