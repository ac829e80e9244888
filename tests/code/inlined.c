/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* A program for symbolize_test: functions inlined into each other, and one that gcc splits. */
#include <stdio.h>
#include <stdlib.h>

static volatile unsigned sink;

static inline __attribute__((always_inline)) unsigned innermost(unsigned x) {
    sink += x;
    return sink * 3 + x;
}

static inline __attribute__((always_inline)) unsigned middle(unsigned x) {
    unsigned y = 0;
    for (unsigned i = 0; i < x; i++)
        y += innermost(i);
    return y;
}

__attribute__((noinline)) unsigned outer_function(unsigned x) {
    if (x > 5) {
        unsigned here = x * 2;
        sink = middle(here);
    }
    return middle(x) + 1;
}

__attribute__((noinline, cold)) static void complain(const char *what) {
    fprintf(stderr, "no: %s\n", what);
    sink = 7;
}

__attribute__((noinline)) unsigned with_cold_part(unsigned x) {
    if (__builtin_expect(x == 12345, 0)) {
        complain("first");
        sink = innermost(x);
        complain("second");
        abort();
    }
    return outer_function(x) * 2;
}

int main(int argc, char **argv) {
    (void)argv;
    return (int)(with_cold_part((unsigned)argc) + outer_function(3)) & 1;
}
