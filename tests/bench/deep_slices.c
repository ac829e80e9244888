/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * deep_slices.c - what a signal handler costs a program that has recursed deep.
 *
 * CPU time differs by more from one run to the next than what is looked for here, so slices of one
 * run are held against each other: slices of the same work with the handler that a preloaded
 * library has installed, and slices with its signal blocked, in which the timer that is waiting for
 * it stands still.
 *
 *   deep_slices DEPTH SLICES    prints the median cost in percent, and its quartiles
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define ITERATIONS 40000000 /* some 50 ms */
#define WARM_UP    (ITERATIONS / 20)
#define SLICES_MAX 1000

static volatile uint32_t result;

static double cpu_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Past the C library, whose mask is for show where a profiler keeps its signal to itself. */
static void mask_signal(int how) {
    uint64_t set = UINT64_C(1) << (SIGPROF - 1);
    if (syscall(SYS_rt_sigprocmask, how, &set, NULL, sizeof set) != 0)
        abort();
}

static void work(long iterations) {
    uint32_t x = result;
    for (long i = 0; i < iterations; i++) {
        x = x * 1664525u + 1013904223u;
        __asm__ volatile("" : "+r"(x));
    }
    result = x;
}

static double slice(int how) {
    mask_signal(how);
    work(WARM_UP);
    double start = cpu_seconds();
    work(ITERATIONS);
    return cpu_seconds() - start;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static __attribute__((noinline)) void measure(int slices) {
    static double percent[SLICES_MAX];
    for (int n = 0; n < slices; n++) {
        int first = n % 2 == 0 ? SIG_BLOCK : SIG_UNBLOCK;
        double one = slice(first), other = slice(first == SIG_BLOCK ? SIG_UNBLOCK : SIG_BLOCK);
        double ratio = first == SIG_BLOCK ? other / one : one / other;
        percent[n] = 100 * (ratio - 1);
    }
    qsort(percent, (size_t)slices, sizeof *percent, ascending);
    printf("%.2f %% (%.2f to %.2f)\n", percent[slices / 2], percent[slices / 4],
           percent[slices - 1 - slices / 4]);
}

static __attribute__((noinline)) void recurse(int depth, int slices) {
    volatile char local[32];
    local[0] = (char)depth;
    if (depth == 0)
        measure(slices);
    else
        recurse(depth - 1, slices);
    local[1] = local[0]; /* no tail call */
}

int main(int argc, char **argv) {
    int depth = argc > 1 ? atoi(argv[1]) : 0, slices = argc > 2 ? atoi(argv[2]) : 0;
    if (depth < 1 || slices < 1 || slices > SLICES_MAX) {
        fprintf(stderr, "usage: deep_slices DEPTH SLICES; at most %d slices\n", SLICES_MAX);
        return 2;
    }
    recurse(depth, slices);
    return 0;
}
