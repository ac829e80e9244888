/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * waited_signals.c - a program that blocks SIGPROF and SIGVTALRM and waits for them: each has to
 * stay pending until it is asked for, whoever sends it, and never end the process.
 *
 *   usage: waited_signals KIND: kill, timer, descriptor, all, asleep, thread, young
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "busy.h"

static const int numbers[] = {SIGPROF, SIGVTALRM};

static sigset_t only(int number) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    return set;
}

static void wait_for(const sigset_t *set, int number) {
    const struct timespec limit = {.tv_sec = 30};
    siginfo_t info = {0};
    int got = sigtimedwait(set, &info, &limit);
    printf("waited for %d, got %d of code %d from %s\n", number, got, info.si_code,
           info.si_code != SI_USER || info.si_pid == getpid() ? "here" : "elsewhere");
}

static void by_kill(int number) {
    sigset_t set = only(number), pending;
    sigprocmask(SIG_BLOCK, &set, NULL);
    busy_ms(20);
    kill(getpid(), number);
    busy_ms(20);
    sigpending(&pending);
    printf("%d is %s\n", number, sigismember(&pending, number) ? "pending" : "not pending");
    wait_for(&set, number);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
}

static void by_timer(int number) {
    const int which = number == SIGPROF ? ITIMER_PROF : ITIMER_VIRTUAL;
    const struct itimerval once = {.it_value = {0, 5000}};
    sigset_t set = only(number), pending;
    sigprocmask(SIG_BLOCK, &set, NULL);
    setitimer(which, &once, NULL);
    do { /* the kernel's tick may find another program each time */
        busy_ms(50);
        sigpending(&pending);
    } while (!sigismember(&pending, number));
    wait_for(&set, number);
}

static void by_descriptor(int number) {
    struct signalfd_siginfo info = {0};
    sigset_t set = only(number);
    sigprocmask(SIG_BLOCK, &set, NULL);
    int fd = signalfd(-1, &set, SFD_CLOEXEC);
    busy_ms(20);
    kill(getpid(), number);
    busy_ms(20);
    ssize_t n = read(fd, &info, sizeof info);
    printf("read %zd bytes: signal %u\n", n, info.ssi_signo);
    close(fd);
}

/* Not by name: a mask of all signals, as libraries have that want no signal at all. */
static void by_all(int number) {
    sigset_t all, before, pending;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    busy_ms(20);
    kill(getpid(), number);
    busy_ms(20);
    sigpending(&pending);
    printf("%d is %s\n", number, sigismember(&pending, number) ? "pending" : "not pending");
    sigset_t set = only(number);
    wait_for(&set, number);
    sigprocmask(SIG_SETMASK, &before, NULL);
    busy_ms(20);
}

/* The same while the thread sleeps, in a call that is not libc's: what is blocked does not end it.
 */
static void by_asleep(int number) {
    sigset_t all, before, pending, set = only(number);
    struct epoll_event event;
    int epoll = epoll_create1(0);
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    busy_ms(20);
    pid_t child = fork();
    if (child == 0) {
        usleep(50000);
        kill(getppid(), number);
        _exit(0);
    }
    printf("epoll_pwait: %ld\n", syscall(SYS_epoll_pwait, epoll, &event, 1, 200, NULL, 0));
    waitpid(child, NULL, 0);
    sigpending(&pending);
    printf("%d is %s\n", number, sigismember(&pending, number) ? "pending" : "not pending");
    wait_for(&set, number);
    sigprocmask(SIG_SETMASK, &before, NULL);
    close(epoll);
}

static void *waiter(void *argument) {
    int number = *(const int *)argument;
    sigset_t set = only(number);
    busy_ms(20);
    wait_for(&set, number);
    return NULL;
}

static void by_thread(int number) {
    sigset_t set = only(number);
    pthread_t thread;
    sigprocmask(SIG_BLOCK, &set, NULL);
    pthread_create(&thread, NULL, waiter, &number);
    busy_ms(20);
    kill(getpid(), number);
    pthread_join(thread, NULL);
}

static void *idle(void *argument) {
    return argument;
}

/* While threads begin and end, one of them too small to be profiled; all signals are blocked. */
static void by_young(int number) {
    const struct timespec none = {0, 0};
    sigset_t all, before, set = only(number);
    pthread_attr_t small;
    pthread_t thread[4];
    int seen = 0;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 16384);
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    for (int i = 0; i < 20; i++) {
        for (int k = 0; k < 4; k++)
            pthread_create(&thread[k], k % 2 == 0 ? NULL : &small, idle, NULL);
        kill(getpid(), number);
        for (int k = 0; k < 4; k++)
            pthread_join(thread[k], NULL);
        seen += sigtimedwait(&set, NULL, &none) == number;
    }
    printf("%d times %d\n", seen, number);
    sigprocmask(SIG_SETMASK, &before, NULL);
}

static const struct {
    const char *name;
    void (*run)(int number);
} kinds[] = {{"kill", by_kill},  {"timer", by_timer},   {"descriptor", by_descriptor},
             {"all", by_all},    {"asleep", by_asleep}, {"thread", by_thread},
             {"young", by_young}};

int main(int argc, char **argv) {
    for (unsigned i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        for (unsigned k = 0; k < 2; k++)
            if (argc < 2 || strcmp(argv[1], kinds[i].name) == 0) {
                kinds[i].run(numbers[k]);
                fflush(stdout);
            }
    busy_ms(30);
    return 0;
}
