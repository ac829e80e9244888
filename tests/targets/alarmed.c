/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * alarmed.c - calls that sleep for ever, each ended by one signal of a timer: by EINTR, as its
 * handler has no SA_RESTART, or by siglongjmp out of the handler.
 *
 * "ends" prints how many calls have not ended with EINTR at the first signal (a second one comes
 * half a second later). "leaves" computes for 3 ms after each call, and prints the elapsed time in
 * each function, as "NANOSECONDS FUNCTION". "writes" does short writes, and then one of more than
 * the pipe has room for, which sleeps; it prints how many of these have not ended at the first
 * signal.
 *
 *   usage: alarmed ends|leaves|writes ROUNDS
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define MS_NS 1000000ull

static volatile sig_atomic_t alarms;
static volatile bool leaves;
static sigjmp_buf outside;
static volatile uint64_t sink;
static int pipe_ends[2], sockets[2];
static sem_t semaphore;

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void on_alarm(int number) {
    (void)number;
    alarms++;
    if (leaves)
        siglongjmp(outside, 1);
}

static void alarm_in(long us) {
    struct itimerval once = {{0, 500000}, {0, us}};
    if (leaves)
        once.it_interval = (struct timeval){0, 0};
    setitimer(ITIMER_REAL, &once, NULL);
}

static void no_alarm(void) {
    static const struct itimerval never;
    setitimer(ITIMER_REAL, &never, NULL);
}

static int read_pipe(void) {
    char byte;
    return (int)read(pipe_ends[0], &byte, 1);
}

static int receive(void) {
    char byte;
    return (int)recv(sockets[0], &byte, 1, 0);
}

static int wait_for_semaphore(void) {
    return sem_wait(&semaphore);
}

static int ends(int rounds) {
    static int (*const calls[])(void) = {read_pipe, receive, wait_for_semaphore};
    int missed = 0;
    for (int i = 0; i < 3 * rounds; i++) {
        alarms = 0;
        alarm_in(20000 + i * 7919 % 10000);
        bool too_early = alarms != 0;
        int result = calls[i % 3](), error = errno;
        no_alarm();
        missed += !too_early && (result != -1 || error != EINTR || alarms != 1);
    }
    printf("%d\n", missed);
    return 0;
}

static char bytes[1 << 20];

static void work(unsigned turns) {
    for (unsigned i = 0; i < turns; i++)
        sink += i;
}

static bool read_all(void) {
    int flags = fcntl(pipe_ends[0], F_GETFL);
    fcntl(pipe_ends[0], F_SETFL, flags | O_NONBLOCK);
    while (read(pipe_ends[0], bytes, sizeof bytes) > 0)
        ;
    return fcntl(pipe_ends[0], F_SETFL, flags) == 0;
}

static int writes(int rounds) {
    int missed = 0;
    for (int i = 0; i < rounds; i++) {
        for (int j = 0; j < 20; j++) {
            if (write(pipe_ends[1], bytes, 100) != 100 || read(pipe_ends[0], bytes, 100) != 100)
                return 1;
            work(20000);
        }
        alarms = 0;
        alarm_in(300 + random() % 3000);
        work((unsigned)(random() % 100000));
        uint64_t began = now_ns();
        bool too_early = alarms != 0;
        ssize_t written = write(pipe_ends[1], bytes, sizeof bytes);
        missed += !too_early && (written <= 0 || now_ns() - began > 400 * MS_NS);
        no_alarm();
        if (!read_all())
            return 1;
    }
    printf("%d\n", missed);
    return 0;
}

__attribute__((noinline)) static void asleep(long us) {
    leaves = true;
    if (sigsetjmp(outside, 1) == 0) {
        alarm_in(us);
        poll(NULL, 0, -1);
    }
    leaves = false;
    sink++;
}

__attribute__((noinline)) static void after(void) {
    for (uint64_t end = now_ns() + 3 * MS_NS; now_ns() < end;)
        for (unsigned i = 0; i < 1000; i++)
            sink += i;
}

static int leave(int rounds) {
    uint64_t spent[2] = {0};
    for (int i = 0; i < rounds; i++) {
        uint64_t began = now_ns();
        asleep(10000 + i * 7919 % 15000);
        uint64_t woken = now_ns();
        after();
        spent[0] += woken - began;
        spent[1] += now_ns() - woken;
    }
    printf("%llu asleep\n%llu after\n", (unsigned long long)spent[0], (unsigned long long)spent[1]);
    return 0;
}

int main(int argc, char **argv) {
    struct sigaction action = {.sa_handler = on_alarm};
    int rounds = argc > 2 ? atoi(argv[2]) : 1;
    if (pipe(pipe_ends) != 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0 ||
        sem_init(&semaphore, 0, 0) != 0 || sigaction(SIGALRM, &action, NULL) != 0)
        return 1;
    const char *what = argc > 1 ? argv[1] : "leaves";
    return strcmp(what, "ends") == 0     ? ends(rounds)
           : strcmp(what, "writes") == 0 ? writes(rounds)
                                         : leave(rounds);
}
