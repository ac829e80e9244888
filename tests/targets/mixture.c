/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * mixture.c - phases of many kinds in random order, each with its own CPU time by the thread's
 * clock: what a profile of it should say.
 *
 *   usage: mixture mixed|serve|deep SECONDS SEED [FRAMES MILLISECONDS]
 *
 *   mixed  fifteen kinds of phases, 0.1 to 2 ms long
 *   serve  requests of 0.1, 1 and 5 ms in parts, after sleeps of 0.05 to 5 ms in calls of five
 * kinds deep   phases of MILLISECONDS below FRAMES frames of recursion, and above them, in turns
 *
 * Prints "NANOSECONDS NAME" for each phase, whose function is phase_NAME, and for "all" what
 * getrusage says.
 */
#include <ctype.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define SECOND_NS 1000000000u
#define PAGE      4096u
#define NAP_NS    60000

static volatile uint64_t sink;
static int null_fd;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;

static uint64_t cpu_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

static inline __attribute__((always_inline)) void burn(unsigned turns) {
    for (unsigned i = 0; i < turns; i++)
        sink += i;
}

static void put(void) {
    if (write(null_fd, "x", 1) != 1)
        abort();
}

static void wait_on_condition(long ns) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += (until.tv_nsec + ns) / SECOND_NS;
    until.tv_nsec = (until.tv_nsec + ns) % SECOND_NS;
    pthread_mutex_lock(&mutex);
    pthread_cond_timedwait(&never, &mutex, &until);
    pthread_mutex_unlock(&mutex);
}

static void touch_pages(unsigned n) {
    char *at = mmap(NULL, n * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (unsigned i = 0; i < n; i++)
        at[i * PAGE] = 1;
    munmap(at, n * PAGE);
}

/* A phase does the same again and again until the thread's clock shows `until`. */
#define PHASE(name, ...)                                                                           \
    __attribute__((noinline)) static void phase_##name(uint64_t until) {                           \
        do {                                                                                       \
            __VA_ARGS__                                                                            \
        } while (cpu_ns() < until);                                                                \
        sink++;                                                                                    \
    }

#define TIMES(n) for (int i = 0; i < (n); i++)

static ucontext_t caller, coroutine;
static char coroutine_stack[65536];

static void phase_coroutine_main(void) {
    for (;;) {
        burn(300);
        swapcontext(&coroutine, &caller);
    }
}

static void start_coroutine(void) {
    getcontext(&coroutine);
    coroutine.uc_stack.ss_sp = coroutine_stack;
    coroutine.uc_stack.ss_size = sizeof coroutine_stack;
    makecontext(&coroutine, phase_coroutine_main, 0);
}

static int compare(const void *a, const void *b) {
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

static void sort_some(void) {
    int values[256];
    TIMES(256) values[i] = (int)lrand48();
    qsort(values, 256, sizeof *values, compare);
}

static void raw_calls(void) {
    int word = 0;
    struct timespec time = {0, 1000};
    syscall(SYS_getppid);
    syscall(SYS_write, null_fd, "x", 1);
    syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 1, &time, NULL, 0);
}

static void on_signal(int number) {
    if (number == SIGUSR2)
        put();
    burn(2000);
}

__attribute__((noinline)) static void descend(int frames, uint64_t until) {
    if (frames > 0)
        descend(frames - 1, until);
    else
        do
            burn(2000);
        while (cpu_ns() < until);
    sink++;
}

PHASE(compute, burn(2000);)
PHASE(write, TIMES(10) put();)
PHASE(spaced, burn(12000); put();)
PHASE(poll, struct pollfd nothing = {.fd = null_fd}; TIMES(5) poll(&nothing, 1, 0);)
PHASE(condition, wait_on_condition(NAP_NS); burn(4000);)
PHASE(nap, struct timespec time = {0, NAP_NS}; nanosleep(&time, NULL); burn(4000);)
PHASE(raw, TIMES(10) raw_calls();)
PHASE(fault, touch_pages(16);)
PHASE(vdso, struct timespec time; TIMES(100) clock_gettime(CLOCK_MONOTONIC, &time);)
PHASE(coroutine, TIMES(10) swapcontext(&caller, &coroutine);)
PHASE(plt, TIMES(500) sink += (uint64_t)toupper(i & 0x7f);)
PHASE(qsort, sort_some();)
PHASE(handler, raise(SIGUSR1);)
PHASE(handler_write, raise(SIGUSR2);)
PHASE(recurse, descend(60, until);)

/* Alike, but not one function: each adds another number. */
PHASE(short_first, burn(500);)
PHASE(short_faults, touch_pages(8);)
PHASE(short_last, burn(500); sink += 2;)
PHASE(middle_first, burn(700);)
PHASE(middle_last, burn(700); sink += 3;)
PHASE(long_first, burn(900);)
PHASE(long_last, burn(900); sink += 4;)
PHASE(above, burn(1000);)

static struct part {
    const char *name;
    void (*run)(uint64_t until);
    uint64_t spent_ns;
} mixed[] =
#define PART(name)                                                                                 \
    { #name, phase_##name, 0 }
    {PART(compute), PART(write), PART(spaced),  PART(poll),          PART(condition),
     PART(nap),     PART(raw),   PART(fault),   PART(vdso),          PART(coroutine),
     PART(plt),     PART(qsort), PART(handler), PART(handler_write), PART(recurse)},
  requests[] = {PART(short_first), PART(short_faults), PART(short_last), PART(middle_first),
                PART(middle_last), PART(long_first),   PART(long_last)},
  above = PART(above), below = {"below", NULL, 0}, waits = {"waits", NULL, 0};

#define N(array) (sizeof(array) / sizeof *(array))

static void run(struct part *part, double microseconds) {
    uint64_t begin = cpu_ns();
    part->run(begin + (uint64_t)(1000 * microseconds));
    part->spent_ns += cpu_ns() - begin;
}

static void show(const struct part *parts, size_t n) {
    for (size_t i = 0; i < n; i++)
        printf("%llu %s\n", (unsigned long long)parts[i].spent_ns, parts[i].name);
}

__attribute__((noinline)) static void phase_waits(long kind, long ns) {
    struct timespec time = {0, ns};
    int word = 0;
    if (kind == 0)
        ppoll(NULL, 0, &time, NULL);
    else if (kind == 1)
        wait_on_condition(ns);
    else if (kind == 2)
        nanosleep(&time, NULL);
    else if (kind == 3)
        syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &time, NULL, 0);
    else
        syscall(SYS_nanosleep, &time, NULL);
    sink++;
}

static void wait_some(double longest_us) {
    uint64_t begin = cpu_ns();
    phase_waits(lrand48() % 5, (long)(50000 * pow(longest_us / 50, drand48())));
    waits.spent_ns += cpu_ns() - begin;
}

static void serve_one(void) {
    double which = drand48();
    wait_some(which < 0.8 ? 400 : 5000);
    if (which < 0.8) {
        run(&requests[0], 50);
        put();
        run(&requests[1], 25);
        run(&requests[2], 50);
    } else if (which < 0.96) {
        run(&requests[3], 500);
        run(&requests[4], 500);
    } else {
        run(&requests[5], 2500);
        run(&requests[6], 2500);
    }
}

/* The way down and up belongs to it. */
__attribute__((noinline)) static void phase_below(int frames, double microseconds) {
    uint64_t begin = cpu_ns();
    descend(frames, begin + (uint64_t)(1000 * microseconds));
    below.spent_ns += cpu_ns() - begin;
}

static void deep_one(int frames, double milliseconds) {
    double length = 1000 * milliseconds * (0.8 + 0.4 * drand48());
    phase_below(frames, length);
    run(&above, length);
}

static uint64_t used_ns(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * SECOND_NS +
           (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000;
}

int main(int argc, char **argv) {
    if (argc < 4)
        return 2;
    uint64_t limit = (uint64_t)(atof(argv[2]) * SECOND_NS);
    int frames = argc > 4 ? atoi(argv[4]) : 300;
    double milliseconds = argc > 5 ? atof(argv[5]) : 1;
    null_fd = open("/dev/null", O_WRONLY);
    signal(SIGUSR1, on_signal);
    signal(SIGUSR2, on_signal);
    start_coroutine();
    srand48(atol(argv[3]));
    while (cpu_ns() < limit)
        if (strcmp(argv[1], "mixed") == 0)
            run(&mixed[(size_t)lrand48() % N(mixed)], 100 * pow(20, drand48()));
        else if (strcmp(argv[1], "serve") == 0)
            serve_one();
        else
            deep_one(frames, milliseconds);
    if (strcmp(argv[1], "mixed") == 0)
        show(mixed, N(mixed));
    else if (strcmp(argv[1], "serve") == 0)
        show(requests, N(requests)), show(&waits, 1);
    else
        show(&below, 1), show(&above, 1);
    printf("%llu all\n", (unsigned long long)used_ns());
    return 0;
}
