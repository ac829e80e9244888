/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * leaky.c - a server with a heap of 100 MB in small blocks, of which it replaces some with each
 * request, and leaks a little with some: 1 % of the heap in all.
 *
 * Says "ready" when it has its heap, waits for a line, serves, says "ready", waits for a line.
 *
 *   leaky [KIND]
 *     leaky        half a millisecond a request
 *     sound        the same, and leaks nothing
 *     fast         allocates a gigabyte in a second for its requests, a tenth of a millisecond each
 *     fast-sound   the same, and leaks nothing
 *     wrapped      as fast, with all of its blocks from one function, as where malloc has a wrapper
 *     wrapped-sound  the same, and leaks nothing
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define APART __attribute__((noinline, noclone))
#define SLOTS 320000u /* of 319 bytes, on average */
#define LEAK  1000000u

static const struct kind {
    const char *name;
    unsigned leak; /* bytes */
    unsigned requests, before;
    unsigned objects; /* that are freed at the end of a request */
    bool wrapped;
    long long work_ns; /* of its CPU time, for a request */
} kinds[] = {
    {"leaky", LEAK, 1000, 0, 0, false, 500000},
    {"sound", 0, 1000, 0, 0, false, 500000},
    {"fast", LEAK, 10000, 20000, 500, false, 100000},
    {"fast-sound", 0, 10000, 20000, 500, false, 100000},
    {"wrapped", LEAK, 10000, 20000, 500, true, 100000},
    {"wrapped-sound", 0, 10000, 20000, 500, true, 100000},
};

static void *slot[SLOTS];
static void *volatile leaked;
static unsigned state = 1;

static unsigned draw(unsigned below) {
    state = state * 1664525u + 1013904223u;
    return (unsigned)((unsigned long long)state * below >> 32);
}

static APART void *wrapper(size_t size) {
    void *block = malloc(size);
    if (block == NULL)
        exit(1);
    return block;
}

static void *(*allocate)(size_t) = malloc;

/* Each kind of object has a place of its own where it is allocated. */
#define MAKER(name, least, most)                                                                   \
    static APART void *name(void) {                                                                \
        void *block = allocate(least + draw(most - least));                                        \
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
    void **block = allocate(100);
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

static APART void answer(unsigned objects) {
    void *object[500];
    for (unsigned i = 0; i < objects; i++)
        object[i] = makers[i % 5]();
    for (unsigned i = 0; i < objects; i++)
        free(object[i]);
}

static void serve(const struct kind *kind, unsigned requests, unsigned leak) {
    unsigned long long bytes = 0;
    for (unsigned request = 1; request <= requests; request++) {
        long long until = cpu_ns() + kind->work_ns;
        for (int i = 0; i < 20; i++)
            replace(draw(SLOTS));
        answer(kind->objects);
        for (; bytes < (unsigned long long)leak * request / requests; bytes += 100)
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
    const struct kind *kind = kinds, *end = kinds + sizeof kinds / sizeof *kinds;
    while (argc > 1 && kind < end && strcmp(kind->name, argv[1]) != 0)
        kind++;
    if (kind == end)
        return 2;
    allocate = kind->wrapped ? wrapper : malloc;
    for (unsigned i = 0; i < SLOTS; i++)
        replace(i);
    serve(kind, kind->before, 0);
    mark();
    serve(kind, kind->requests, kind->leak);
    mark();
    return 0;
}
