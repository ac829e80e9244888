/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * interrupted.c - calls that sleep, by themselves and under the program's own timer, with handlers
 * that restart system calls and one that does not: EINTR comes where it should, and nowhere else.
 * With the word "alone" the program has no timer of its own.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "busy.h"

enum { ROUNDS = 30, SLEEP_MS = 5 };

static int sleep_nanosleep(void) {
    struct timespec time = {0, SLEEP_MS * 1000000};
    return nanosleep(&time, NULL);
}

static int sleep_poll(void) {
    return poll(NULL, 0, SLEEP_MS);
}

static int sleep_select(void) {
    struct timeval time = {0, SLEEP_MS * 1000};
    return select(0, NULL, NULL, NULL, &time);
}

static int sleep_epoll(void) {
    struct epoll_event event;
    int fd = epoll_create1(0), result = epoll_wait(fd, &event, 1, SLEEP_MS), error = errno;
    close(fd);
    errno = error;
    return result;
}

static int sleep_semaphore(void) {
    struct timespec end;
    sem_t semaphore;
    sem_init(&semaphore, 0, 0);
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_nsec += SLEEP_MS * 1000000;
    end.tv_sec += end.tv_nsec / 1000000000;
    end.tv_nsec %= 1000000000;
    int result = sem_timedwait(&semaphore, &end);
    return result == -1 && errno == ETIMEDOUT ? 0 : result;
}

static int (*const sleeps[])(void) = {sleep_nanosleep, sleep_poll, sleep_select, sleep_epoll,
                                      sleep_semaphore};

static void *undisturbed(void *unused) {
    long good = 0;
    sigset_t alarms;
    (void)unused;
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarms, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        busy_ms(2);
        good += sleeps[i % 5]() == 0;
    }
    return (void *)good;
}

static void on_alarm(int number) {
    (void)number;
}

/* A wait that the program's own timer interrupts; again and again, as the first alarm may come
 * before the wait on a machine with more to do. */
static int wait_through(int flags) {
    struct sigaction action = {.sa_handler = on_alarm, .sa_flags = flags};
    const struct itimerval soon = {{0, 3000}, {0, 3000}}, never = {{0, 0}, {0, 0}};
    struct pollfd nothing = {.fd = -1};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &soon, NULL);
    int result = poll(&nothing, 1, 2000), error = errno; /* never restarted by the kernel */
    setitimer(ITIMER_REAL, &never, NULL);
    return result == -1 && error == EINTR;
}

int main(int argc, char **argv) {
    bool alone = argc > 1 && strcmp(argv[1], "alone") == 0;
    pthread_t thread[3];
    long good = 0, own = 0;
    for (int i = 0; i < 3; i++)
        pthread_create(&thread[i], NULL, undisturbed, NULL);
    for (int i = 0; i < ROUNDS && !alone; i++) {
        busy_ms(2);
        own += wait_through(i % 2 ? SA_RESTART : 0);
    }
    for (int i = 0; i < 3; i++) {
        void *result;
        pthread_join(thread[i], &result);
        good += (long)result;
    }
    printf("%ld %ld\n", good, own);
    return 0;
}
