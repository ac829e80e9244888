/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * leaky.c - a server with a heap of 100 MB in small blocks, of which it replaces some with each
 * request, and leaks a little with some: 1 % of the heap in all.
 *
 * Says "ready" when it has its heap, waits for a line, serves, says "ready", waits for a line. With
 * `sound` it does the same and leaks nothing.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define APART    __attribute__((noinline, noclone))
#define SLOTS    320000u /* of 319 bytes, on average */
#define LEAK     1000000u
#define REQUESTS 1000u
#define WORK_NS  500000 /* of its CPU time, for a request */

static void *slot[SLOTS];
static void *volatile leaked;
static unsigned state = 1;

static unsigned draw(unsigned below) {
    state = state * 1664525u + 1013904223u;
    return (unsigned)((unsigned long long)state * below >> 32);
}

/* Each kind of object has a place of its own where it is allocated. */
#define MAKER(name, least, most)                                                                   \
    static APART void *name(void) {                                                                \
        void *block = malloc(least + draw(most - least));                                          \
        __asm__ volatile("" : "+r"(block));                                                        \
        return block;                                                                              \
    }
MAKER(make_key, 20, 60)
MAKER(make_node, 48, 64)
MAKER(make_row, 100, 300)
MAKER(make_text, 200, 400)
MAKER(make_page, 500, 1500)

static void *(*const makers[])(void) = {make_key, make_node, make_row, make_text, make_page};

static APART void replace(unsigned i) {
    free(slot[i]);
    slot[i] = makers[i % 5]();
}

static APART void leak_session(void) {
    void **block = malloc(100);
    if (block == NULL)
        exit(1);
    *block = leaked;
    leaked = block;
}

static long long cpu_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * 1000000000ll + t.tv_nsec;
}

static APART void compute(long long until) {
    while (cpu_ns() < until)
        for (volatile int i = 0; i < 1000; i++)
            ;
}

static void serve(bool leaks) {
    for (unsigned request = 1; request <= REQUESTS; request++) {
        long long until = cpu_ns() + WORK_NS;
        for (int i = 0; i < 20; i++)
            replace(draw(SLOTS));
        for (unsigned bytes = 0; leaks && bytes < LEAK / REQUESTS; bytes += 100)
            leak_session();
        compute(until);
    }
}

static void mark(void) {
    char line[16];
    puts("ready");
    fflush(stdout);
    if (fgets(line, sizeof line, stdin) == NULL)
        exit(1);
}

int main(int argc, char **argv) {
    for (unsigned i = 0; i < SLOTS; i++)
        replace(i);
    mark();
    serve(argc < 2 || strcmp(argv[1], "sound") != 0);
    mark();
    return 0;
}
