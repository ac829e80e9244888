/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * many_contexts.c - walks random ways through functions that call each other: there are more
 * contexts than anybody could keep, nearly each sample finds a new one.
 */
#include <stdio.h>

#include "busy.h"

static unsigned long state = 88172645463325252ul;

static unsigned next(void) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (unsigned)(state >> 32);
}

typedef int way(int depth);
static way way_a, way_b, way_c, way_d;
static way *const ways[] = {way_a, way_b, way_c, way_d};

#define WAY(name)                                                                                  \
    static __attribute__((noinline)) int name(int depth) {                                         \
        int below = 0;                                                                             \
        if (depth > 0)                                                                             \
            below = ways[next() & 3](depth - 1);                                                   \
        else                                                                                       \
            busy(300);                                                                             \
        return below + 1;                                                                          \
    }
WAY(way_a)
WAY(way_b)
WAY(way_c)
WAY(way_d)

int main(void) {
    long frames = 0;
    for (int i = 0; i < 400000; i++)
        frames += way_a(60);
    printf("%ld\n", frames);
    return 0;
}
