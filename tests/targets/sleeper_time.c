/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * sleeper_time.c - calls that end when their time is over.
 */
#include "tests/targets/sleeper.h"

#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <threads.h>
#include <unistd.h>

#define OFTEN_MS 400
#define SHORT_NS 300000

static struct timespec in_ms(clockid_t clock, long ms) {
    struct timespec now, then = sleeper_ms(ms);
    clock_gettime(clock, &now);
    then.tv_sec += now.tv_sec;
    then.tv_nsec += now.tv_nsec;
    if (then.tv_nsec >= 1000000000) {
        then.tv_sec++;
        then.tv_nsec -= 1000000000;
    }
    return then;
}

static long poll_time(void) {
    return poll(NULL, 0, SLEEPER_TIMEOUT);
}

static long ppoll_time(void) {
    struct timespec time = sleeper_ms(SLEEPER_TIMEOUT);
    return ppoll(NULL, 0, &time, NULL);
}

static long epoll_time(int variant) {
    struct epoll_event event;
    struct timespec time = sleeper_ms(SLEEPER_TIMEOUT);
    int fd = epoll_create1(0);
    long result = variant == 0   ? epoll_wait(fd, &event, 1, SLEEPER_TIMEOUT)
                  : variant == 1 ? epoll_pwait(fd, &event, 1, SLEEPER_TIMEOUT, NULL)
                                 : epoll_pwait2(fd, &event, 1, &time, NULL);
    close(fd);
    return result;
}

static long epoll_wait_time(void) {
    return epoll_time(0);
}

static long epoll_pwait_time(void) {
    return epoll_time(1);
}

static long epoll_pwait2_time(void) {
    return epoll_time(2);
}

static long select_time(void) {
    struct timeval time = {0, SLEEPER_TIMEOUT * 1000};
    long result = select(0, NULL, NULL, NULL, &time);
    return time.tv_sec != 0 || time.tv_usec != 0 ? 1000 : result;
}

static long pselect_time(void) {
    struct timespec time = sleeper_ms(SLEEPER_TIMEOUT);
    return pselect(0, NULL, NULL, NULL, &time, NULL);
}

static long nanosleep_time(void) {
    struct timespec time = sleeper_ms(SLEEPER_TIMEOUT);
    return nanosleep(&time, NULL);
}

static long nanosleep_rest(void) {
    struct timespec time = sleeper_ms(SLEEPER_TIMEOUT), rest;
    return nanosleep(&time, &rest);
}

/* The same time for both: after a full sleep it is what it was. */
static long nanosleep_in_place(void) {
    struct timespec time = sleeper_ms(SLEEPER_TIMEOUT);
    long result = nanosleep(&time, &time);
    return time.tv_nsec == SLEEPER_TIMEOUT * 1000000 ? result : 1000;
}

/* Some of so many begin right after a tick of the CPU timer, when the agent has let go of the
 * thread and it has not gone to sleep yet. */
static long nanosleep_in_place_often(void) {
    struct timespec end = in_ms(CLOCK_MONOTONIC, OFTEN_MS), now;
    long changed = 0;
    do {
        struct timespec time = {0, SHORT_NS};
        changed += nanosleep(&time, &time) != 0 || time.tv_nsec != SHORT_NS;
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while (now.tv_sec < end.tv_sec || (now.tv_sec == end.tv_sec && now.tv_nsec < end.tv_nsec));
    return changed;
}

static long clock_nanosleep_relative(void) {
    struct timespec time = sleeper_ms(SLEEPER_TIMEOUT);
    return clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
}

static long clock_nanosleep_absolute(void) {
    struct timespec time = in_ms(CLOCK_MONOTONIC, SLEEPER_TIMEOUT);
    return clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
}

static long usleep_time(void) {
    return usleep(SLEEPER_TIMEOUT * 1000);
}

static long sleep_time(void) {
    return (long)sleep(1);
}

static long thrd_sleep_time(void) {
    struct timespec time = sleeper_ms(SLEEPER_TIMEOUT);
    return thrd_sleep(&time, NULL);
}

static long sigtimedwait_time(void) {
    struct timespec time = sleeper_ms(SLEEPER_TIMEOUT);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    return sigtimedwait(&set, NULL, &time);
}

static long futex_relative(void) {
    struct timespec time = sleeper_ms(SLEEPER_TIMEOUT);
    int word = 0;
    return syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &time, NULL, 0);
}

static long futex_absolute(void) {
    struct timespec time = in_ms(CLOCK_MONOTONIC, SLEEPER_TIMEOUT);
    int word = 0;
    return syscall(SYS_futex, &word, FUTEX_WAIT_BITSET_PRIVATE, 0, &time, NULL, ~0u);
}

static long cond_timedwait(void) {
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
    struct timespec time = in_ms(CLOCK_REALTIME, SLEEPER_TIMEOUT);
    long result = 0;
    pthread_mutex_lock(&mutex);
    while (result == 0) /* it may wake for no reason */
        result = pthread_cond_timedwait(&cond, &mutex, &time);
    return result;
}

static long sem_timedwait_time(void) {
    struct timespec time = in_ms(CLOCK_REALTIME, SLEEPER_TIMEOUT);
    sem_t semaphore;
    sem_init(&semaphore, 0, 0);
    return sem_timedwait(&semaphore, &time);
}

static long semtimedop_time(void) {
    struct timespec time = sleeper_ms(SLEEPER_TIMEOUT);
    struct sembuf down = {0, -1, 0};
    int id = semget(IPC_PRIVATE, 1, 0600);
    long result = semtimedop(id, &down, 1, &time);
    int saved = errno;
    semctl(id, 0, IPC_RMID);
    errno = saved;
    return result;
}

static long recv_time(void) {
    struct timeval time = {0, SLEEPER_TIMEOUT * 1000};
    int pair[2];
    char byte;
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
    long result = recv(pair[0], &byte, 1, 0);
    int saved = errno;
    close(pair[0]);
    close(pair[1]);
    errno = saved;
    return result;
}

#if defined(__x86_64__)

/* Again and again with the same arguments, which the compiler keeps where they are: none of these
 * calls may change them. */
static long raw_poll(void) {
    long result = 0;
    for (int i = 0; i < 3; i++) {
        long answer;
        __asm__ volatile("movl %1, %%eax\n syscall"
                         : "=&a"(answer)
                         : "i"(SYS_poll), "D"(0l), "S"(0l), "d"((long)SLEEPER_TIMEOUT)
                         : "rcx", "r11", "memory");
        result += answer;
    }
    return result;
}

static long raw_nanosleep(void) {
    struct timespec time = sleeper_ms(SLEEPER_TIMEOUT);
    long result = 0;
    for (int i = 0; i < 3; i++) {
        long answer;
        __asm__ volatile("movl %1, %%eax\n syscall"
                         : "=&a"(answer)
                         : "i"(SYS_nanosleep), "D"(&time), "S"(0l)
                         : "rcx", "r11", "memory");
        result += answer;
    }
    return result;
}

#else

static long raw_poll(void) {
    return poll(NULL, 0, 3 * SLEEPER_TIMEOUT);
}

static long raw_nanosleep(void) {
    struct timespec time = sleeper_ms(3 * SLEEPER_TIMEOUT);
    return nanosleep(&time, NULL);
}

#endif

const struct sleeper_test sleeper_by_time[] = {
    {"poll: time", SLEEPER_TIMEOUT, poll_time},
    {"ppoll: time", SLEEPER_TIMEOUT, ppoll_time},
    {"epoll_wait: time", SLEEPER_TIMEOUT, epoll_wait_time},
    {"epoll_pwait: time", SLEEPER_TIMEOUT, epoll_pwait_time},
    {"epoll_pwait2: time", SLEEPER_TIMEOUT, epoll_pwait2_time},
    {"select: time", SLEEPER_TIMEOUT, select_time},
    {"pselect: time", SLEEPER_TIMEOUT, pselect_time},
    {"nanosleep: time", SLEEPER_TIMEOUT, nanosleep_time},
    {"nanosleep: time, rest asked for", SLEEPER_TIMEOUT, nanosleep_rest},
    {"nanosleep: time, rest in place", SLEEPER_TIMEOUT, nanosleep_in_place},
    {"nanosleep: short times, rest in place", OFTEN_MS, nanosleep_in_place_often},
    {"clock_nanosleep: time, relative", SLEEPER_TIMEOUT, clock_nanosleep_relative},
    {"clock_nanosleep: time, absolute", SLEEPER_TIMEOUT, clock_nanosleep_absolute},
    {"usleep: time", SLEEPER_TIMEOUT, usleep_time},
    {"sleep: time", 1000, sleep_time},
    {"thrd_sleep: time", SLEEPER_TIMEOUT, thrd_sleep_time},
    {"sigtimedwait: time", SLEEPER_TIMEOUT, sigtimedwait_time},
    {"futex: time, relative", SLEEPER_TIMEOUT, futex_relative},
    {"futex: time, absolute", SLEEPER_TIMEOUT, futex_absolute},
    {"pthread_cond_timedwait: time", SLEEPER_TIMEOUT, cond_timedwait},
    {"sem_timedwait: time", SLEEPER_TIMEOUT, sem_timedwait_time},
    {"semtimedop: time", SLEEPER_TIMEOUT, semtimedop_time},
    {"recv: time", SLEEPER_TIMEOUT, recv_time},
    {"poll as machine code: time", 3 * SLEEPER_TIMEOUT, raw_poll},
    {"nanosleep as machine code: time", 3 * SLEEPER_TIMEOUT, raw_nanosleep},
    {NULL, 0, NULL},
};
