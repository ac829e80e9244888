/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * attach_sleepers.c - threads that sleep, each in a function of its own, and have done so before
 * anybody attaches.
 *
 * Four wait for ever: in poll, for a condition, in read and in recv. One naps 2 ms at a time, and
 * one transfers more than a pipe has room for, in blocks, to one that reads them slowly. What ends
 * otherwise than it would by itself is counted: SIGUSR1 begins to, as what is on its way when
 * somebody attaches has no wrapper yet. Until SIGTERM; then prints "wrong N, of M", and its status
 * says whether N is 0. With an argument, a user's number, it changes its user first.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define BLOCK_BYTES 400000
#define PART_BYTES  20000

static volatile sig_atomic_t over, counts;
static _Atomic unsigned long wrong, made;
static int silent[2], transfer[2], sockets[2];

static void on_signal(int signal) {
    if (signal == SIGTERM)
        over = 1;
    else
        counts = 1;
}

static void made_one(int good) {
    if (counts) {
        atomic_fetch_add(&made, 1);
        if (!good && !over)
            atomic_fetch_add(&wrong, 1);
    }
}

#define SLEEPER(name) __attribute__((noinline, noclone)) static void *name(void *unused)

SLEEPER(waits_in_poll) {
    struct pollfd one = {silent[0], POLLIN, 0};
    made_one(poll(&one, 1, -1) == 0);
    counts = 1;
    made_one(0);
    return unused;
}

SLEEPER(waits_for_condition) {
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
    pthread_mutex_lock(&mutex);
    for (;;)
        pthread_cond_wait(&never, &mutex);
    return unused;
}

SLEEPER(waits_in_read) {
    char byte;
    made_one(read(silent[0], &byte, 1) == 0);
    counts = 1;
    made_one(0);
    return unused;
}

SLEEPER(waits_in_recv) {
    char byte;
    made_one(recv(sockets[0], &byte, 1, 0) == 0);
    counts = 1;
    made_one(0);
    return unused;
}

SLEEPER(naps) {
    const struct timespec time = {0, 2000000};
    while (!over)
        made_one(nanosleep(&time, NULL) == 0);
    return unused;
}

SLEEPER(transfers) {
    static char block[BLOCK_BYTES];
    while (!over)
        made_one(write(transfer[1], block, sizeof block) == sizeof block);
    return unused;
}

SLEEPER(takes) {
    static char part[PART_BYTES];
    const struct timespec time = {0, 1000000};
    while (read(transfer[0], part, sizeof part) > 0)
        nanosleep(&time, NULL);
    return unused;
}

int main(int argc, char **argv) {
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    void *(*const all[])(void *) = {
        waits_in_poll, waits_for_condition, waits_in_read, waits_in_recv, naps, transfers, takes};
    pthread_t thread[sizeof all / sizeof *all];
    sigset_t set, before;
    if (argc > 1 && setuid((uid_t)atoi(argv[1])) != 0)
        return 2;
    if (pipe(silent) != 0 || pipe(transfer) != 0 ||
        socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0)
        return 2;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGUSR1);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGUSR1, &action, NULL);
    pthread_sigmask(SIG_BLOCK, &set, &before);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        pthread_create(&thread[i], NULL, all[i], NULL);
    while (!over)
        sigsuspend(&before);
    printf("wrong %lu, of %lu\n", atomic_load(&wrong), atomic_load(&made));
    return atomic_load(&wrong) != 0;
}
