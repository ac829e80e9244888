/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * table.c - nodes in the order in which they were made, and where they are found: several levels of
 * open hash tables, each four times as large as the one before, of which a short line is searched
 * in each, and in the last one as many places as it takes. So a program with few contexts touches
 * little memory, and none is ever moved.
 *
 * A node is filled before its number can be found, by a compare-and-swap: of two threads that make
 * the same one, the second takes the first one's, and its own stays unused. Places of a line are
 * filled in their order and never emptied, so no node is in two of them.
 */
#include "preload/context/table.h"

#include <sys/mman.h>
#include <time.h>

#include "preload/life/memory.h"
#include "preload/life/sys.h"
#include "preload/sample/draw.h"

#define GETRANDOM_NOWAIT 1

/* Numbers are of 16 hexadecimal digits or of 19 decimal ones, whatever else they are, and fit into
 * a signed word. */
#define CONTEXT_TAG_FIXED  0x40000000u
#define CONTEXT_TAG_RANDOM 0x3fffffffu

/* Nobody else's: by chance, as processes do not know of each other. */
static uint64_t draw_tag(const struct context_table *all) {
    struct timespec now = {0, 0};
    uint64_t random = 0;
    sys2(SYS_clock_gettime, CLOCK_REALTIME, &now);
    sys3(SYS_getrandom, &random, sizeof random, GETRANDOM_NOWAIT);
    random ^= (uint64_t)now.tv_nsec << 34 ^ (uint64_t)now.tv_sec ^ (uint64_t)(uintptr_t)all ^
              (uint64_t)sys0(SYS_getpid) << 20;
    return ((draw_word(&random) & CONTEXT_TAG_RANDOM) | CONTEXT_TAG_FIXED) << 32;
}

struct context_table *context_table_make(void) {
    struct context_table *all = memory_map(sizeof *all, PROT_READ | PROT_WRITE,
                                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
    if (all == NULL)
        return NULL;
    sys3(SYS_madvise, all, sizeof *all, MADV_NOHUGEPAGE);
    sys3(SYS_madvise, all, sizeof *all, MADV_DONTFORK); /* a child's numbers are its own */
    all->tag = draw_tag(all);
    return all;
}

/* ---- nodes ---- */

static uint32_t take(struct context_table *all, uint32_t parent, uint64_t pc, uint32_t module) {
    uint32_t used = atomic_load_explicit(&all->used, memory_order_relaxed);
    do {
        if (used >= WIRE_CONTEXTS - 1)
            return 0;
    } while (!atomic_compare_exchange_weak(&all->used, &used, used + 1));
    struct context_node *node = &all->node[used + 1];
    node->parent = parent;
    node->module = module;
    atomic_store_explicit(&node->pc, pc, memory_order_release);
    return used + 1;
}

/* Puts the node into the first empty place of the level, unless there is one like it. 0: what is
 * searched is full of others. */
static uint32_t put(struct context_table *all, uint32_t first, unsigned level, uint64_t hash,
                    uint32_t mine) {
    const struct context_node *node = &all->node[mine];
    uint64_t pc = atomic_load_explicit(&node->pc, memory_order_relaxed);
    uint64_t own = (hash & ~(uint64_t)UINT32_MAX) | mine;
    for (uint32_t i = 0; i < context_places(level); i++) {
        uint64_t there = 0;
        if (atomic_compare_exchange_strong(&all->place[context_place(first, level, hash, i)],
                                           &there, own))
            return mine;
        if (context_is_node(all, there, hash, node->parent, pc) &&
            context_is_meant(all, there, (struct context_meant){.module = node->module}))
            return (uint32_t)there;
    }
    return 0;
}

uint32_t context_add(struct context_table *all, uint32_t parent, uint64_t pc, uint32_t module) {
    uint32_t found = context_find(all, parent, pc, (struct context_meant){.module = module});
    uint32_t first = 0;
    if (found != 0)
        return found;
    uint32_t mine = take(all, parent, pc, module);
    if (mine == 0)
        return 0;
    uint64_t hash = context_hash(parent, pc);
    for (unsigned level = 0; level < CONTEXT_LEVELS; level++) {
        if ((found = put(all, first, level, hash, mine)) != 0)
            return found;
        first += CONTEXT_PLACES_OF(level);
    }
    return 0;
}

uint32_t context_root(struct context_table *all, uint32_t epoch) {
    uint64_t pc = WIRE_CONTEXT_ROOT | epoch;
    uint32_t root = atomic_load_explicit(&all->root, memory_order_acquire), mine = 0;
    for (;;) {
        if (root != 0 && atomic_load_explicit(&all->node[root].pc, memory_order_relaxed) == pc)
            return root;
        if (mine == 0 && (mine = take(all, 0, pc, 0)) == 0)
            return 0;
        if (atomic_compare_exchange_strong(&all->root, &root, mine))
            return mine;
    }
}
