/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * calls_phases.c - two phases of equal functions that make 7 and 3 of 10 calls, again and again.
 *
 *   usage: calls_phases ROUNDS SECONDS     until both are over; seconds of CPU time
 *
 * Between the functions that report are some that do not: one of the program, and one of the C
 * library. What is printed does not depend on how many rounds there were.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define SILENT __attribute__((noinline, no_instrument_function))

static volatile uint64_t calls[2];

static void step(unsigned phase) {
    calls[phase]++;
}

static void work(unsigned phase) {
    for (unsigned i = 0; i < 4; i++)
        step(phase);
}

SILENT static void work_silently(unsigned phase) {
    work(phase);
    calls[phase]++;
}

static unsigned compared_in;

static int by_value(const void *a, const void *b) {
    step(compared_in);
    return *(const int *)a - *(const int *)b;
}

static void compare_two(unsigned phase) {
    int two[] = {2, 1};
    compared_in = phase;
    qsort(two, 2, sizeof two[0], by_value);
}

static void do_both(unsigned phase) {
    work_silently(phase);
    compare_two(phase);
}

static void often(void) {
    for (unsigned i = 0; i < 700; i++)
        do_both(0);
}

static void seldom(void) {
    for (unsigned i = 0; i < 300; i++)
        do_both(1);
}

SILENT static double cpu_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int main(int argc, char **argv) {
    if (argc != 3)
        return 2;
    unsigned rounds = (unsigned)atoi(argv[1]);
    double seconds = atof(argv[2]);
    for (unsigned i = 0; i < rounds || cpu_seconds() < seconds; i++) {
        often();
        seldom();
    }
    printf("as 7 to 3: %d\n", calls[0] * 3 == calls[1] * 7);
    return 0;
}
