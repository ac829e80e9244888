/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * halves.c - a program that knows how its CPU time is spread over parts of a round, whatever it
 * calls between them.
 *
 *   usage: halves KIND US SECONDS
 *
 * A round has parts of US microseconds of CPU time each, spent in functions of their own: "first",
 * "second". The program prints the CPU time that each has taken by the thread's own clock, as
 * "NANOSECONDS NAME". KIND says what else is in a round:
 *
 *   begin     a write at the beginning of the second
 *   often     a write each 20 us in the second
 *   serve     a poll of a pipe that another process feeds, before both
 *   nap       a nap after both
 *   handler   as begin, with a signal handler that writes, too
 *   frames    both after a sleep until the next multiple of 4 ms
 *   slot      the same, timed so that a round is over 0.5 ms before the kernel's tick
 *   alarms    the second in the handler of a timer of 1.5 ms of real time, the first meanwhile
 *   pipe      both after a byte has gone to another thread and come back
 *   wait      both after 0.3 ms on a condition variable, and a write after them
 *   taken     the first in a mutex, which two other threads want as often
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile uint64_t sink;
static volatile uint64_t spent[2]; /* a handler adds */
static int null;
static volatile sig_atomic_t rung;

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

/* `ns` 0: until a signal has come, whose handler has time of its own. */
__attribute__((noinline)) static void first(uint64_t ns) {
    uint64_t start = cpu_ns(), before = spent[1];
    if (ns != 0)
        burn(start + ns, 0);
    while (ns == 0 && !rung)
        for (unsigned i = 0; i < 200; i++)
            sink += i;
    spent[0] += cpu_ns() - start - (spent[1] - before);
}

__attribute__((noinline)) static void second(uint64_t ns, int begins, uint64_t call_each) {
    uint64_t start = cpu_ns();
    if (begins)
        put();
    spent[1] += burn(start + ns, call_each) - start;
}

#define FRAME_NS       4000000u
#define BEFORE_TICK_NS 500000u
#define SECOND_NS      1000000000u

static uint64_t part_ns, frame_ns;
static int fds[2], back[2];

static uint64_t real_ns(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

static void halves(int begins, uint64_t call_each) {
    first(part_ns);
    second(part_ns, begins, call_each);
}

static void start_nothing(void) {}

static void begin_round(void) {
    halves(1, 0);
}

static void often_round(void) {
    halves(1, 20000);
}

static void nap_round(void) {
    halves(0, 0);
    usleep(1000);
}

static void feed(int fd) {
    while (write(fd, "x", 1) == 1)
        usleep(300);
    _exit(0);
}

static void start_feeder(void) {
    if (pipe(fds) != 0)
        abort();
    if (fork() == 0) {
        close(fds[0]);
        feed(fds[1]);
    }
    close(fds[1]);
}

static void serve_round(void) {
    char byte;
    struct pollfd ready = {.fd = fds[0], .events = POLLIN};
    struct timespec limit = {1, 0};
    if (ppoll(&ready, 1, &limit, NULL) != 1 || read(fds[0], &byte, 1) != 1)
        abort();
    halves(0, 0);
}

static void on_signal(int number) {
    (void)number;
    put();
}

static void start_handler(void) {
    signal(SIGUSR1, on_signal);
}

static void handler_round(void) {
    halves(1, 0);
    raise(SIGUSR1);
}

static void start_frames(void) {
    frame_ns = real_ns(CLOCK_MONOTONIC);
}

/* The coarse clock moves at the kernel's tick. */
static void start_slot(void) {
    uint64_t before = real_ns(CLOCK_MONOTONIC_COARSE);
    while (real_ns(CLOCK_MONOTONIC_COARSE) == before)
        ;
    frame_ns = real_ns(CLOCK_MONOTONIC) + FRAME_NS - BEFORE_TICK_NS - 2 * part_ns;
}

static void frame_round(void) {
    frame_ns += FRAME_NS;
    struct timespec until = {(time_t)(frame_ns / SECOND_NS), (long)(frame_ns % SECOND_NS)};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
    halves(0, 0);
}

static void on_alarm(int number) {
    (void)number;
    second(part_ns, 0, 0);
    rung = 1;
}

static void start_alarms(void) {
    struct itimerval each = {{0, 1500}, {0, 1500}};
    signal(SIGALRM, on_alarm);
    setitimer(ITIMER_REAL, &each, NULL);
}

static void alarm_round(void) {
    rung = 0;
    first(0);
}

static void *answer(void *unused) {
    char byte;
    while (read(fds[0], &byte, 1) == 1 && write(back[1], &byte, 1) == 1)
        ;
    return unused;
}

static void start_pipe(void) {
    pthread_t thread;
    if (pipe(fds) != 0 || pipe(back) != 0 || pthread_create(&thread, NULL, answer, NULL) != 0)
        abort();
}

static void pipe_round(void) {
    char byte = 0;
    if (write(fds[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
        abort();
    halves(0, 0);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;

static void wait_round(void) {
    uint64_t until = real_ns(CLOCK_REALTIME) + 300000;
    struct timespec limit = {(time_t)(until / SECOND_NS), (long)(until % SECOND_NS)};
    pthread_mutex_lock(&mutex);
    while (pthread_cond_timedwait(&never, &mutex, &limit) == 0)
        ;
    pthread_mutex_unlock(&mutex);
    halves(0, 0);
    put();
}

__attribute__((noinline)) static void elsewhere(void) {
    burn(cpu_ns() + part_ns, 0);
}

static void *take_too(void *unused) {
    for (;;) {
        pthread_mutex_lock(&mutex);
        elsewhere();
        pthread_mutex_unlock(&mutex);
        elsewhere();
    }
    return unused;
}

static void start_taken(void) {
    pthread_t thread;
    for (int i = 0; i < 2; i++)
        if (pthread_create(&thread, NULL, take_too, NULL) != 0)
            abort();
}

static void taken_round(void) {
    pthread_mutex_lock(&mutex);
    first(part_ns);
    pthread_mutex_unlock(&mutex);
    second(part_ns, 0, 0);
}

static const struct {
    const char *name;
    void (*start)(void), (*round)(void);
} kinds[] = {
    {"begin", start_nothing, begin_round},     {"often", start_nothing, often_round},
    {"serve", start_feeder, serve_round},      {"nap", start_nothing, nap_round},
    {"handler", start_handler, handler_round}, {"frames", start_frames, frame_round},
    {"slot", start_slot, frame_round},         {"alarms", start_alarms, alarm_round},
    {"pipe", start_pipe, pipe_round},          {"wait", start_nothing, wait_round},
    {"taken", start_taken, taken_round},
};

int main(int argc, char **argv) {
    const char *kind = argc > 1 ? argv[1] : "begin";
    uint64_t limit = (uint64_t)((argc > 3 ? atof(argv[3]) : 2) * 1e9);
    part_ns = (uint64_t)(argc > 2 ? atol(argv[2]) : 2000) * 1000;
    null = open("/dev/null", O_WRONLY);
    signal(SIGPIPE, SIG_IGN);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(kinds[i].name, kind) != 0)
            continue;
        kinds[i].start();
        while (spent[0] + spent[1] < limit)
            kinds[i].round();
        printf("%llu first\n%llu second\n", (unsigned long long)spent[0],
               (unsigned long long)spent[1]);
        return 0;
    }
    fprintf(stderr, "halves: there is no kind %s\n", kind);
    return 2;
}
