/*
 * halves.c - a program that knows how its CPU time is spread over parts of a round, whatever it
 * calls between them.
 *
 *   usage: halves KIND US SECONDS
 *
 * A round has parts of US microseconds of CPU time each, spent in functions of their own: "first",
 * "second". Kinds: begin, a write at the beginning of the second; often, a write each 20 us in the
 * second; serve, a poll of a pipe that another process feeds before each round; nap, a nap after
 * both; handler, as begin, with a signal handler that writes, too, in each round. The program
 * prints the CPU time that each has taken by the thread's own clock, as "NANOSECONDS NAME".
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static volatile uint64_t sink;
static uint64_t spent[2];
static int null;

static uint64_t cpu_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void put(void) {
    if (write(null, "x", 1) != 1)
        abort();
}

/* Until the thread's CPU clock shows `end`; each reading of it costs what 100 to 200 of the inner
 * turns do. */
static inline __attribute__((always_inline)) uint64_t burn(uint64_t end, uint64_t call_each) {
    uint64_t now = cpu_ns(), call = now + call_each;
    while (now < end) {
        for (unsigned i = 0; i < 200; i++)
            sink += i;
        now = cpu_ns();
        if (call_each != 0 && now >= call) {
            put();
            call = now + call_each;
        }
    }
    return now;
}

__attribute__((noinline)) static void first(uint64_t ns) {
    uint64_t start = cpu_ns();
    spent[0] += burn(start + ns, 0) - start;
}

__attribute__((noinline)) static void second(uint64_t ns, int begins, uint64_t call_each) {
    uint64_t start = cpu_ns();
    if (begins)
        put();
    spent[1] += burn(start + ns, call_each) - start;
}

static void on_signal(int number) {
    (void)number;
    put();
}

static void feed(int fd) {
    while (write(fd, "x", 1) == 1)
        usleep(300);
    _exit(0);
}

int main(int argc, char **argv) {
    const char *kind = argc > 1 ? argv[1] : "begin";
    uint64_t ns = (uint64_t)(argc > 2 ? atol(argv[2]) : 2000) * 1000;
    uint64_t limit = (uint64_t)((argc > 3 ? atof(argv[3]) : 2) * 1e9);
    int serve = strcmp(kind, "serve") == 0, nap = strcmp(kind, "nap") == 0;
    int often = strcmp(kind, "often") == 0, handler = strcmp(kind, "handler") == 0;
    int fds[2];
    pid_t child = 0;
    null = open("/dev/null", O_WRONLY);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGUSR1, on_signal);
    if (serve) {
        if (pipe(fds) != 0)
            return 1;
        child = fork();
        if (child == 0) {
            close(fds[0]);
            feed(fds[1]);
        }
        close(fds[1]);
    }
    while (spent[0] + spent[1] < limit) {
        if (serve) {
            char byte;
            struct pollfd ready = {.fd = fds[0], .events = POLLIN};
            struct timespec second_ = {1, 0};
            if (ppoll(&ready, 1, &second_, NULL) != 1 || read(fds[0], &byte, 1) != 1)
                return 1;
        }
        first(ns);
        second(ns, !serve && !nap, often ? 20000 : 0);
        if (handler)
            raise(SIGUSR1);
        if (nap)
            usleep(1000);
    }
    printf("%llu first\n%llu second\n", (unsigned long long)spent[0], (unsigned long long)spent[1]);
    return 0;
}
