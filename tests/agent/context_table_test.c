/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * context_table_test.c - numbers of contexts: random trees by several threads at once, each path
 * one number and each number one path; a table that is full; another root.
 */
#include "preload/context/table.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "preload/context/recent.h"
#include "preload/life/memory.h"
#include "tests/check.h"

#define THREADS 4
#define STEPS   200000
#define PCS     50 /* of each node's children */
#define DEPTH   12

void *memory_map(size_t bytes, int protection, int flags, int fd) {
    void *at = mmap(NULL, bytes, protection, flags, fd, 0);
    return at != MAP_FAILED ? at : NULL;
}

_Atomic uint32_t modules_checked[WIRE_MODULES_MAX];

static struct context_table *all;
static uint32_t root;

static uint32_t find(uint32_t parent, uint64_t pc, uint32_t module) {
    return context_find(all, parent, pc, (struct context_meant){.module = module});
}

/* Down at random, then up to the root by what the table says: the same addresses. */
static bool is_found_again(uint64_t *state) {
    uint64_t pc[DEPTH];
    uint32_t node = root, depth;
    for (depth = 0; depth < DEPTH && (*state >> 60) != 0; depth++) {
        *state = *state * 6364136223846793005ull + 1442695040888963407ull;
        pc[depth] = 0x401000 + (*state >> 33) % PCS;
        uint32_t below = context_add(all, node, pc[depth], depth);
        if (below == 0 || below <= node || find(node, pc[depth], depth) != below)
            return false;
        node = below;
    }
    *state = *state * 6364136223846793005ull + 1442695040888963407ull;
    for (; depth > 0; depth--) {
        if (all->node[node].pc != pc[depth - 1] || all->node[node].module != depth - 1)
            return false;
        node = all->node[node].parent;
    }
    return node == root;
}

static void *grow(void *arg) {
    uint64_t state = (uintptr_t)arg, wrong = 0;
    for (int i = 0; i < STEPS / DEPTH; i++)
        wrong += !is_found_again(&state);
    return (void *)(uintptr_t)wrong;
}

static int by_key(const void *a, const void *b) {
    const struct context_node *x = a, *y = b;
    if (x->parent != y->parent)
        return x->parent < y->parent ? -1 : 1;
    if (x->pc != y->pc)
        return x->pc < y->pc ? -1 : 1;
    return x->module < y->module ? -1 : x->module > y->module;
}

/* Each node that can be found is the only one of its parent, address and module. */
static void test_threads(void) {
    pthread_t id[THREADS];
    uint64_t wrong = 0;
    void *result;
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&id[i], NULL, grow, (void *)(i % 2 + 7)); /* two of each kind */
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(id[i], &result);
        wrong += (uintptr_t)result;
    }
    CHECK(wrong == 0);
    uint32_t used = all->used, n = 0;
    struct context_node *found = calloc(used + 1, sizeof *found);
    for (uint32_t i = root + 1; i <= used; i++)
        if (find(all->node[i].parent, all->node[i].pc, all->node[i].module) == i)
            memcpy(&found[n++], &all->node[i], sizeof *found);
    qsort(found, n, sizeof *found, by_key);
    for (uint32_t i = 1; i < n; i++)
        CHECK(by_key(&found[i - 1], &found[i]) < 0);
    CHECK(n > STEPS / DEPTH && n <= used);
    free(found);
}

static void test_root(void) {
    uint32_t again = context_root(all, 1), other = context_root(all, 2);
    uint64_t pc = 0x401000;
    CHECK(again == root && other > root);
    CHECK(context_root(all, 2) == other && context_root(all, 1) > other);
    CHECK(find(other, pc, 0) == 0);
    uint32_t node = context_add(all, other, pc, 0);
    CHECK(node != 0 && node != find(root, pc, 0));
    CHECK(context_holds(all->tag | node, all->tag, other));
    CHECK(!context_holds(all->tag | root, all->tag, other));
    CHECK(!context_holds((all->tag ^ 1ull << 32) | node, all->tag, other));
    CHECK(!context_holds(0, all->tag, other));
}

/* One address below one parent, in modules that have followed each other there: what it means now
 * is what was found last. */
static void test_modules(void) {
    const uint64_t pc = 0x700000;
    const struct context_meant first = {.validity = 50}, second = {.validity = 51};
    uint32_t of_3 = context_add(all, root, pc, 3), of_4 = context_add(all, root, pc, 4);
    CHECK(of_3 != 0 && of_4 != 0 && of_3 != of_4);
    CHECK(find(root, pc, 3) == of_3 && find(root, pc, 4) == of_4 && find(root, pc, 5) == 0);
    atomic_store(&modules_checked[2], 50);
    atomic_store(&modules_checked[3], 51);
    CHECK(context_find(all, root, pc, first) == of_3);
    CHECK(context_find(all, root, pc, second) == of_4);
    atomic_store(&modules_checked[3], MODULES_GONE);
    CHECK(context_find(all, root, pc, second) == 0);
}

/* Numbers have 16 hexadecimal digits and 19 decimal ones. */
static void test_tag(void) {
    struct context_table *other = context_table_make();
    CHECK(other != NULL && other->tag != all->tag && (uint32_t)other->tag == 0);
    CHECK(all->tag >> 62 == 1 && other->tag >> 62 == 1);
    munmap(other, sizeof *other);
}

static void test_full(void) {
    uint32_t parent = root, made = 0, before = 0, last = 0;
    for (uint64_t pc = 0x500000; (before = context_add(all, parent, pc, 0)) != 0; pc++, made++)
        last = before;
    CHECK(all->used == WIRE_CONTEXTS - 1 && made > 0);
    CHECK(find(parent, 0x500000, 0) != 0);
    CHECK(find(parent, 0x500000 + made - 1, 0) == last);
    CHECK(context_add(all, parent, 0x500000, 0) == find(parent, 0x500000, 0));
    CHECK(context_root(all, 77) == 0);
}

/* A number is given again only while each word is as it was. */
static void test_recent(void) {
    static struct context_recent recent;
    uint64_t stack[3] = {1, 2, 3};
    recent.n = 3;
    for (unsigned i = 0; i < 3; i++)
        recent.word[i] = (struct context_word){(uintptr_t)&stack[i], i + 1};
    CHECK(context_recent_words_hold(&recent));
    for (unsigned i = 0; i < 3; i++) {
        ((volatile uint64_t *)stack)[i] += 1ull << 63;
        CHECK(!context_recent_words_hold(&recent));
        ((volatile uint64_t *)stack)[i] = i + 1;
    }
    CHECK(context_recent_words_hold(&recent));
    CHECK(context_recent_place(1, 2) < CONTEXT_RECENT);
}

int main(void) {
    all = context_table_make();
    CHECK(all != NULL);
    root = context_root(all, 1);
    CHECK(root == 1);
    test_modules();
    test_threads();
    test_root();
    test_tag();
    test_recent();
    test_full();
    return check_report();
}
