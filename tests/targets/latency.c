/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * latency.c - how long is it ever kept from its work? Threads of work of known kinds, and one that
 * does nothing but read the clock, until SIGTERM; then the longest time between two readings.
 *
 * Usage: latency THREADS [first]. With "first" the looking thread goes before all others where that
 * is allowed, so that a busy machine does not pause it; it rests a tenth of the time then, as Linux
 * makes a thread of that kind rest for 50 ms that doesn't. Prints "work UNITS", which shows that
 * all threads went on to the end, and "pause WALL_US CPU_US WAIT_US": the longest step of the wall
 * clock, of the thread's own CPU time, which other programs can't make longer, and the longest in
 * which the thread gave the CPU away, which it does not by itself.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define THREADS_MAX 64

static atomic_bool stop;
static atomic_ullong done[THREADS_MAX];

static void on_term(int signal_number) {
    (void)signal_number;
    atomic_store(&stop, true);
}

static uint64_t read_clock(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static __attribute__((noinline)) uint64_t sink(uint64_t n, unsigned depth) {
    volatile uint64_t sum = 0;
    for (uint64_t i = 0; i < n; i++)
        sum += i * i;
    return depth > 0 ? sink(n, depth - 1) + sum : sum;
}

static void *work(void *arg) {
    atomic_ullong *units = arg;
    for (unsigned i = 0; !atomic_load(&stop); i++) {
        sink(2000, i % 40);
        atomic_fetch_add(units, 1);
    }
    return NULL;
}

struct longest {
    uint64_t wall, cpu, wait, own;
};

#define LONG_NS 100000

/* How often the thread has waited for something. */
static long read_waits(void) {
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nvcsw;
}

/* Time that the hypervisor took from a processor so far. */
static uint64_t read_steal(int cpu) {
    char line[256], name[16];
    unsigned long long ticks = 0;
    FILE *file = fopen("/proc/stat", "r");
    int length = snprintf(name, sizeof name, "cpu%d ", cpu);
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, name, (size_t)length) == 0 &&
            sscanf(line + length, "%*u %*u %*u %*u %*u %*u %*u %llu", &ticks) != 1)
            ticks = 0;
    if (file != NULL)
        fclose(file);
    return ticks * (1000000000u / (uint64_t)sysconf(_SC_CLK_TCK));
}

struct stolen {
    int cpu; /* on which the thread is */
    uint64_t ns;
};

static struct stolen note_steal(void) {
    int cpu = sched_getcpu();
    return (struct stolen){cpu, read_steal(cpu)};
}

/* What of a step the hypervisor did not take. */
static uint64_t own_part(uint64_t step, const struct stolen *before) {
    struct stolen now = note_steal();
    uint64_t taken = now.cpu == before->cpu ? now.ns - before->ns : 0;
    return step > taken ? step - taken : 0;
}

static uint64_t larger(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

#define POLL_NS 9000000
#define REST_NS 1000000

static bool go_first(void) {
    return sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){.sched_priority = 1}) == 0 ||
           setpriority(PRIO_PROCESS, 0, -20) == 0; /* of this thread */
}

static __attribute__((noinline)) struct longest probe(bool first) {
    struct longest longest = {0};
    uint64_t wall = read_clock(CLOCK_MONOTONIC), cpu = read_clock(CLOCK_THREAD_CPUTIME_ID);
    uint64_t rest_at = wall + POLL_NS;
    long waits = read_waits();
    struct stolen stolen = note_steal();
    wall = read_clock(CLOCK_MONOTONIC);
    while (!atomic_load(&stop)) {
        uint64_t wall_now = read_clock(CLOCK_MONOTONIC);
        uint64_t cpu_now = read_clock(CLOCK_THREAD_CPUTIME_ID), step = wall_now - wall;
        longest.wall = larger(longest.wall, step);
        longest.cpu = larger(longest.cpu, cpu_now - cpu);
        if (step > LONG_NS && read_waits() != waits) {
            waits = read_waits();
            longest.wait = larger(longest.wait, step);
        }
        wall = wall_now;
        cpu = cpu_now;
        if (first && step > longest.own)
            longest.own = larger(longest.own, own_part(step, &stolen));
        if (first && wall > rest_at) {
            nanosleep(&(struct timespec){.tv_nsec = REST_NS}, NULL);
            waits = read_waits();
            stolen = note_steal();
            wall = read_clock(CLOCK_MONOTONIC);
            cpu = read_clock(CLOCK_THREAD_CPUTIME_ID);
            rest_at = wall + POLL_NS;
        }
    }
    return longest;
}

int main(int argc, char **argv) {
    pthread_t thread[THREADS_MAX];
    int threads = argc > 1 ? atoi(argv[1]) : 0, failed = 0;
    unsigned long long least = UINT64_MAX;
    if (threads < 0 || threads > THREADS_MAX)
        return 2;
    sigaction(SIGTERM, &(struct sigaction){.sa_handler = on_term}, NULL);
    for (int i = 0; i < threads; i++)
        failed |= pthread_create(&thread[i], NULL, work, &done[i]);
    if (failed)
        return 1;
    struct longest longest = probe(argc > 2 && go_first());
    for (int i = 0; i < threads; i++) {
        pthread_join(thread[i], NULL);
        least = atomic_load(&done[i]) < least ? atomic_load(&done[i]) : least;
    }
    printf("work %llu\npause %llu %llu %llu %llu\n", threads > 0 ? least : 0,
           (unsigned long long)longest.wall / 1000, (unsigned long long)longest.cpu / 1000,
           (unsigned long long)longest.wait / 1000, (unsigned long long)longest.own / 1000);
    return 0;
}
