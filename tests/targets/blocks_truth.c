/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * blocks_truth.c - allocates, keeps and frees known amounts in contexts of known names, in several
 * threads, and prints for each: its name, bytes and blocks allocated, bytes and blocks
 * kept, and the sums of 1/size of both.
 *
 *   blocks_truth        once
 *   blocks_truth leak   says "ready" when one mark has been reached, waits for a line, leaks more
 *                       in `leaks`, says "ready", waits for a line
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define APART __attribute__((noinline, noclone))

struct sum {
    unsigned long bytes, blocks, kept_bytes, kept_blocks;
    double inverse, kept_inverse; /* sums of 1/size: how far numbers of blocks can be off */
};

static void *volatile sink;

/* What is kept is not lost: a list of its own. */
static APART void keep(struct sum *sum, void **block, size_t size) {
    static __thread void *list;
    *block = list;
    list = block;
    sink = block;
    sum->kept_bytes += size;
    sum->kept_blocks++;
    sum->kept_inverse += 1.0 / (double)size;
}

static APART void note(struct sum *sum, size_t size) {
    sum->bytes += size;
    sum->blocks++;
    sum->inverse += 1.0 / (double)size;
}

static APART void small_kept(struct sum *sum) {
    for (int i = 0; i < 200000; i++) {
        keep(sum, malloc(160), 160);
        note(sum, 160);
    }
}

static APART void small_freed(struct sum *sum) {
    for (int i = 0; i < 300000; i++) {
        sink = malloc(200);
        free(sink);
        note(sum, 200);
    }
}

static APART void zeroed(struct sum *sum) {
    for (int i = 0; i < 8000; i++) {
        void *block = calloc(10, 1000);
        if (i % 2 == 0)
            keep(sum, block, 10000);
        else
            free(block);
        note(sum, 10000);
    }
}

static APART void large(struct sum *sum) {
    for (int i = 0; i < 120; i++) {
        void *block = malloc(900000);
        if (i % 3 == 0)
            keep(sum, block, 900000);
        else
            free(block);
        note(sum, 900000);
    }
}

static APART void grown(struct sum *sum) {
    for (int i = 0; i < 100; i++) {
        void *block = NULL;
        for (size_t size = 20000; size <= 320000; size *= 2) {
            block = realloc(block, size);
            note(sum, size);
        }
        if (i % 4 == 0)
            keep(sum, block, 320000);
        else
            free(block);
    }
}

static APART void aligned(struct sum *sum) {
    for (int i = 0; i < 500; i++) {
        void *block;
        if (posix_memalign(&block, 64, 60000) != 0)
            exit(1);
        if (i % 5 != 0)
            free(block);
        else
            keep(sum, block, 60000);
        note(sum, 60000);
    }
}

static struct kind {
    const char *name;
    void (*run)(struct sum *);
    struct sum sum;
} kinds[] = {
    {"small_kept", small_kept, {0}}, {"small_freed", small_freed, {0}},
    {"zeroed", zeroed, {0}},         {"large", large, {0}},
    {"grown", grown, {0}},           {"aligned", aligned, {0}},
};

#define KINDS (sizeof kinds / sizeof kinds[0])

static void *thread(void *kind) {
    struct kind *it = kind;
    it->run(&it->sum);
    return NULL;
}

static void once(void) {
    pthread_t id[KINDS];
    for (size_t i = 0; i < KINDS; i++)
        pthread_create(&id[i], NULL, thread, &kinds[i]);
    for (size_t i = 0; i < KINDS; i++)
        pthread_join(id[i], NULL);
    for (size_t i = 0; i < KINDS; i++)
        printf("%s %lu %lu %lu %lu %g %g\n", kinds[i].name, kinds[i].sum.bytes, kinds[i].sum.blocks,
               kinds[i].sum.kept_bytes, kinds[i].sum.kept_blocks, kinds[i].sum.inverse,
               kinds[i].sum.kept_inverse);
}

static APART void leaks(struct sum *sum) {
    for (int i = 0; i < 80; i++) {
        keep(sum, malloc(100000), 100000);
        note(sum, 100000);
    }
}

static void mark(void) {
    char line[16];
    puts("ready");
    fflush(stdout);
    if (fgets(line, sizeof line, stdin) == NULL)
        exit(1);
}

static void leak(void) {
    struct sum sum = {0};
    for (int i = 0; i < 20; i++)
        large(&sum);
    mark();
    small_freed(&sum);
    leaks(&sum);
    mark();
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "leak") == 0)
        leak();
    else
        once();
    return 0;
}
