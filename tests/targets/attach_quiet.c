/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * attach_quiet.c - a program that sleeps in one system call, and would notice if somebody woke it.
 *
 *   attach_quiet CALL [SIGNAL...]
 *
 * It has handlers for these signals, by number, which nobody is to send. CALL: epoll, nanosleep,
 * poll, sigwait, read, recv, futex, or spin, which is none. The call is made again and again until
 * SIGTERM, which only says so. Each time the result, errno and vector registers must be as they are
 * without anybody else. Where AS_USER is set, to a user's number, it changes its user first. Prints
 * how many calls were made; status 1: something was seen.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define NAP_MS 40

static volatile sig_atomic_t over;
static int ends[2];

static void on_term(int signal) {
    (void)signal;
    over = 1;
}

static volatile sig_atomic_t got;

static void on_other(int signal) {
    got = signal;
}

static void handle(char *const *numbers) {
    const struct sigaction action = {.sa_handler = on_other, .sa_flags = SA_RESTART};
    for (; *numbers != NULL; numbers++)
        sigaction(atoi(*numbers), &action, NULL);
}

static int by_epoll(void) {
    static int epoll = -1;
    struct epoll_event event;
    if (epoll < 0)
        epoll = epoll_create1(0);
    return epoll_wait(epoll, &event, 1, NAP_MS);
}

static int by_nanosleep(void) {
    const struct timespec time = {0, NAP_MS * 1000000};
    return nanosleep(&time, NULL);
}

static int by_poll(void) {
    struct pollfd one = {ends[0], POLLIN, 0};
    return poll(&one, 1, NAP_MS);
}

static int by_sigwait(void) {
    const struct timespec time = {0, NAP_MS * 1000000};
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    int result = sigtimedwait(&set, NULL, &time);
    return result < 0 && errno == EAGAIN ? 0 : -1;
}

/* Sleeps rarely. */
static int by_spin(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    const long until = now.tv_sec * 1000 + now.tv_nsec / 1000000 + NAP_MS;
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    while (now.tv_sec * 1000 + now.tv_nsec / 1000000 < until);
    return 0;
}

/* A byte comes from another thread. */
static int by_read(void) {
    char byte;
    return read(ends[0], &byte, 1) == 1 ? 0 : -1;
}

/* The last one comes after the end, which may be said between two calls of read. */
static void *write_bytes(void *unused) {
    const struct timespec time = {0, NAP_MS * 1000000};
    while (!over && write(ends[1], "x", 1) == 1)
        nanosleep(&time, NULL);
    (void)!write(ends[1], "x", 1);
    return unused;
}

/* Nothing comes, and the socket has a timeout. */
static int by_recv(void) {
    static int sockets[2] = {-1, -1};
    const struct timeval timeout = {0, NAP_MS * 1000};
    char byte;
    if (sockets[0] < 0 &&
        (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0 ||
         setsockopt(sockets[0], SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout) != 0))
        return -1;
    int result = (int)recv(sockets[0], &byte, 1, 0);
    return result < 0 && errno == EAGAIN ? 0 : -1;
}

static int by_futex(void) {
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += NAP_MS * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&mutex);
    int result = pthread_cond_timedwait(&never, &mutex, &until);
    pthread_mutex_unlock(&mutex);
    return result == ETIMEDOUT || result == 0 ? 0 : -1;
}

static const struct {
    const char *name;
    int (*make)(void);
} calls[] = {{"spin", by_spin}, {"epoll", by_epoll},     {"nanosleep", by_nanosleep},
             {"poll", by_poll}, {"sigwait", by_sigwait}, {"read", by_read},
             {"recv", by_recv}, {"futex", by_futex}};

static long now_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static int make(int (*call)(void)) {
    volatile double before = 3.25;
    double kept = before;
    long began = now_us();
    errno = 117;
    int result = call();
    int error = errno;
    bool early = call != by_read && call != by_spin && now_us() - began < (NAP_MS - 2) * 1000;
    if (early && !over)
        return ETIME; /* it has ended before its time */
    return over                                                                 ? 0
           : result != 0 || (error != 117 && error != EAGAIN) || kept != before ? error
                                                                                : 0;
}

int main(int argc, char **argv) {
    struct sigaction action = {.sa_handler = on_term};
    unsigned long made = 0;
    pthread_t thread;
    sigset_t usr;
    const char *user = getenv("AS_USER");
    if (argc < 2 || pipe(ends) != 0 || (user != NULL && setuid((uid_t)atoi(user)) != 0))
        return 2;
    handle(argv + 2);
    sigemptyset(&usr);
    sigaddset(&usr, SIGUSR1);
    sigprocmask(SIG_BLOCK, &usr, NULL);
    sigaction(SIGTERM, &action, NULL);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        if (strcmp(calls[i].name, argv[1]) != 0)
            continue;
        if (calls[i].make == by_read)
            pthread_create(&thread, NULL, write_bytes, NULL);
        for (; !over; made++) {
            int error = make(calls[i].make);
            if (error != 0) {
                printf("%s was seen to end with %s\n", argv[1], strerror(error));
                return 1;
            }
            if (got != 0) {
                printf("%s: signal %d was seen\n", argv[1], (int)got);
                return 1;
            }
        }
    }
    printf("%lu calls\n", made);
    return made == 0;
}
