/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * sleep_on.cc - threads in calls that do not end, until the process does: by a return from main, or
 * by _exit. Prints the elapsed time of main, in nanoseconds.
 *
 *   usage: sleep_on SECONDS [_exit]
 */
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <poll.h>
#include <pthread.h>
#include <thread>
#include <unistd.h>

static volatile int sink;
static int ends[2];
static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;

/* Nothing comes after the call but a store, so that it is no tail call. */
#define THREAD(name, call)                                                                         \
    __attribute__((noinline)) static void *in_##name(void *unused) {                               \
        call;                                                                                      \
        sink = 1;                                                                                  \
        return unused;                                                                             \
    }

static void wait_for_any() {
    sigset_t all;
    int number;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    sigwait(&all, &number);
}

static void suspend() {
    sigset_t none;
    sigemptyset(&none);
    sigsuspend(&none);
}

static void read_byte() {
    char byte;
    if (read(ends[0], &byte, 1) != 1)
        abort();
}

/* Has its name from itself, and never computes again. */
static void pause_named() {
    pthread_setname_np(pthread_self(), "idler");
    pause();
}

THREAD(sigwait, wait_for_any())
THREAD(sigsuspend, suspend())
THREAD(pause, pause_named())
THREAD(read, read_byte())
THREAD(poll, poll(nullptr, 0, -1))
THREAD(mutex, pthread_mutex_lock(&held))
THREAD(sleep_for, std::this_thread::sleep_for(std::chrono::hours(1)))

int main(int argc, char **argv) {
    void *(*const functions[])(void *) = {in_sigwait, in_sigsuspend, in_pause,    in_read,
                                          in_poll,    in_mutex,      in_sleep_for};
    const auto began = std::chrono::steady_clock::now();
    if (argc < 2) {
        fprintf(stderr, "usage: sleep_on SECONDS [_exit]\n");
        return 2;
    }
    if (pipe(ends) != 0)
        return 1;
    pthread_mutex_lock(&held);
    for (auto function : functions) {
        pthread_t thread;
        pthread_create(&thread, nullptr, function, nullptr);
        pthread_detach(thread);
    }
    std::this_thread::sleep_for(std::chrono::duration<double>(atof(argv[1])));
    const std::chrono::nanoseconds spent = std::chrono::steady_clock::now() - began;
    printf("%lld\n", (long long)spent.count());
    fflush(stdout);
    if (argc > 2)
        _exit(3);
    return 0;
}
