/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * heap_steps.c - allocates and frees what it is told by its standard input, a line each:
 *
 *   first BLOCKS, then BLOCKS    so many blocks of 1,000 bytes, in a function of that name, which
 *                                is called by another path of 200 calls for each
 *   free BLOCKS                  the oldest ones
 *
 * Answers each line with "done" when that was done, and begins with one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define APART __attribute__((noinline, noclone))
#define SIZE  1000
#define MOST  200000u

static void *block[MOST];
static unsigned oldest, newest;

static APART void first(void) {
    block[newest++] = malloc(SIZE);
    __asm__ volatile("" ::: "memory");
}

static APART void then(void) {
    block[newest++] = malloc(SIZE);
    __asm__ volatile("" ::: "memory");
}

static void go(unsigned path, unsigned calls, void allocate(void));

static APART void left(unsigned path, unsigned calls, void allocate(void)) {
    go(path, calls, allocate);
    __asm__ volatile("" ::: "memory");
}

static APART void right(unsigned path, unsigned calls, void allocate(void)) {
    go(path, calls, allocate);
    __asm__ volatile("" ::: "memory");
}

static inline void go(unsigned path, unsigned calls, void allocate(void)) {
    if (calls == 0)
        allocate();
    else if (path >> (calls % 32) & 1)
        left(path, calls - 1, allocate);
    else
        right(path, calls - 1, allocate);
}

static void many(unsigned n, void allocate(void)) {
    for (unsigned i = 0; i < n && newest < MOST; i++)
        go((i + 1) * 2654435761u, 200, allocate);
}

static void first_of_all(unsigned n) {
    many(n, first);
}

static void then_more(unsigned n) {
    many(n, then);
}

static APART void free_oldest(unsigned n) {
    for (unsigned i = 0; i < n && oldest < newest; i++)
        free(block[oldest++]);
}

int main(void) {
    const struct {
        const char *name;
        void (*run)(unsigned n);
    } steps[] = {{"first", first_of_all}, {"then", then_more}, {"free", free_oldest}};
    char name[16];
    unsigned n;
    do {
        puts("done");
        fflush(stdout);
        if (scanf("%15s %u", name, &n) != 2)
            return 0;
        for (unsigned i = 0; i < sizeof steps / sizeof *steps; i++)
            if (strcmp(name, steps[i].name) == 0)
                steps[i].run(n);
    } while (1);
}
