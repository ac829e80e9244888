/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * calls_asked.c - as many calls as it is asked for. Reads numbers: n > 0 makes n calls of one
 * function, 0 uses the processor for a fifth of a second without a call. Answers each with a line.
 */
#include <stdio.h>
#include <time.h>

#define NOT_REPORTED __attribute__((no_instrument_function))

static volatile long sink;

__attribute__((noinline)) static void asked_for(long n) {
    sink = sink + n;
}

NOT_REPORTED static void compute(void) {
    const clock_t until = clock() + CLOCKS_PER_SEC / 5;
    while (clock() < until)
        sink = sink + 1;
}

NOT_REPORTED int main(void) {
    long n;
    while (scanf("%ld", &n) == 1) {
        for (long i = 0; i < n; i++)
            asked_for(i);
        if (n == 0)
            compute();
        printf("%ld\n", n);
        fflush(stdout);
    }
    return 0;
}
