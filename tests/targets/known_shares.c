/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * known_shares.c - a program that knows where its CPU time goes.
 *
 * Two threads run the same rounds; each round spends a fixed amount of the thread's CPU time in
 * each of the contexts below. The program prints the CPU time that it has really spent in each, as
 * "NANOSECONDS PATH", PATH from the thread's first own function inwards.
 *
 *   usage: known_shares SECONDS_OF_CPU_PER_THREAD
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define ROUND_NS 20000000ull /* many sampling periods, and no multiple of one */

struct context {
    const char *path;
    unsigned percent;
    uint64_t spent[2];
};

static struct context contexts[] = {
    {"rounds;alpha;burn", 40, {0, 0}},
    {"rounds;beta;burn", 10, {0, 0}},
    {"rounds;beta;gamma_;burn", 15, {0, 0}},
    {"rounds;recurse;recurse;recurse;recurse;burn", 20, {0, 0}},
    {"rounds;recurse;recurse;burn", 5, {0, 0}},
    {"rounds;burn", 10, {0, 0}},
};

static volatile uint64_t sink;

static uint64_t cpu_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

__attribute__((noinline)) static void burn(struct context *context, unsigned thread) {
    uint64_t start = cpu_ns(), now, budget = ROUND_NS * context->percent / 100;
    do {
        for (unsigned i = 0; i < 20000; i++)
            sink += i;
        now = cpu_ns();
    } while (now - start < budget);
    context->spent[thread] += now - start;
}

__attribute__((noinline)) static void gamma_(struct context *context, unsigned thread) {
    burn(context, thread);
    sink++;
}

__attribute__((noinline)) static void alpha(unsigned thread) {
    burn(&contexts[0], thread);
    sink++;
}

__attribute__((noinline)) static void beta(unsigned thread) {
    burn(&contexts[1], thread);
    gamma_(&contexts[2], thread);
    sink++;
}

__attribute__((noinline)) static void recurse(struct context *context, unsigned depth,
                                              unsigned thread) {
    if (depth > 1)
        recurse(context, depth - 1, thread);
    else
        burn(context, thread);
    sink++;
}

static uint64_t wanted_ns;

static void *rounds(void *arg) {
    unsigned thread = (unsigned)(uintptr_t)arg;
    uint64_t start = cpu_ns();
    while (cpu_ns() - start < wanted_ns) {
        alpha(thread);
        beta(thread);
        recurse(&contexts[3], 4, thread);
        recurse(&contexts[4], 2, thread);
        burn(&contexts[5], thread);
    }
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t other;
    wanted_ns = (uint64_t)((argc > 1 ? atof(argv[1]) : 5) * 1e9);
    if (pthread_create(&other, NULL, rounds, (void *)1) != 0)
        return 1;
    rounds(NULL);
    pthread_join(other, NULL);
    for (unsigned i = 0; i < sizeof contexts / sizeof contexts[0]; i++)
        printf("%llu %s\n", (unsigned long long)(contexts[i].spent[0] + contexts[i].spent[1]),
               contexts[i].path);
    return 0;
}
