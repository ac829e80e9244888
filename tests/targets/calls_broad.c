/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * calls_broad.c - most calls are of contexts that come seldom: main calls broad, a random recursion
 * of two functions that is 14 deep, and hot. Prints how many calls were made of each function, and
 * how many below broad, itself included.
 */
#include <stdio.h>

#define ROUNDS 30000
#define DEPTH  14

static unsigned long left_calls, right_calls, broad_calls, hot_calls;
static unsigned long long state = 1;

static __attribute__((no_instrument_function)) unsigned draw(unsigned n) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 33) % n;
}

static void right(unsigned depth);

static __attribute__((noinline)) void left(unsigned depth) {
    left_calls++;
    if (depth == 0)
        return;
    if (draw(2) == 0)
        left(depth - 1);
    else
        right(depth - 1);
}

static __attribute__((noinline)) void right(unsigned depth) {
    right_calls++;
    if (depth == 0)
        return;
    if (draw(2) == 0)
        left(depth - 1);
    else
        right(depth - 1);
}

static __attribute__((noinline)) void broad(void) {
    broad_calls++;
    left(DEPTH);
}

static __attribute__((noinline)) void hot(void) {
    hot_calls++;
}

int main(void) {
    for (int i = 0; i < ROUNDS; i++) {
        broad();
        for (int k = 0; k < DEPTH; k++)
            hot();
    }
    printf("left %lu\nright %lu\nbroad %lu\nhot %lu\nbelow_broad %lu\n", left_calls, right_calls,
           broad_calls, hot_calls, left_calls + right_calls + broad_calls);
    return 0;
}
