/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * node_pool.c - one reservation of addresses, opened by doubling, with a list of freed cells.
 *
 * What is reserved but not open has no access rights: it counts towards no limit but that of the
 * address space, and is as large as the budget could ever need, or as NODE_INDEX can name without
 * one. Where so much cannot be had, half of it is asked for, and so on.
 *
 * A build starts and ends a hundred small trees a second, and a mapping costs more than what most
 * of them do: one reservation of which only the first part was opened is kept for the next tree.
 */
#include "common/tree/node_pool.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define GRAIN_NODES 128u /* charged at a time */

/* Of addresses. */
static size_t cell_span(const struct node_pool *pool) {
    return sizeof(struct mcct_node) + pool->side_bytes;
}

/* Of memory. */
static size_t cell_bytes(const struct node_pool *pool) {
    return sizeof(struct mcct_node) + (pool->beside ? pool->side_bytes : 0);
}

static size_t page_size(void) {
    return (size_t)sysconf(_SC_PAGESIZE);
}

/* Whole pages of nodes. */
static uint32_t first_open(void) {
    uint32_t in_page = (uint32_t)(page_size() / sizeof(struct mcct_node));
    return in_page > GRAIN_NODES ? in_page : GRAIN_NODES;
}

void node_pool_init(struct node_pool *pool, struct budget *budget, uint32_t side_bytes,
                    bool later) {
    *pool = (struct node_pool){
        .budget = budget, .side_bytes = side_bytes, .beside = side_bytes != 0 && !later};
}

/* ---- the free list, of one reservation ---- */

/* In cell 0, which is never used. */
struct spare {
    uint32_t cells, side_bytes;
};

static _Atomic(struct spare *) free_list; /* NULL: none; what stands beside its cells is not open */

static void unmap(struct spare *spare) {
    if (spare != NULL)
        munmap(spare, spare->cells * (sizeof(struct mcct_node) + spare->side_bytes));
}

static bool is_worth_keeping(const struct node_pool *pool) {
    return !pool->beside && pool->open == first_open();
}

static void set_base(struct node_pool *pool, void *base, uint32_t cells) {
    pool->base = (uintptr_t)base;
    pool->side = pool->base + (uintptr_t)cells * sizeof(struct mcct_node);
    pool->reserved = cells;
}

/* True: the pool has its first part open, and `cells` in all. */
static bool take_reservation(struct node_pool *pool, uint32_t cells) {
    struct spare *spare = pool->beside ? NULL : atomic_exchange(&free_list, NULL);
    if (spare == NULL || spare->cells != cells || spare->side_bytes != pool->side_bytes) {
        unmap(spare);
        return false;
    }
    set_base(pool, spare, cells);
    pool->open = first_open();
    return true;
}

void node_pool_free(struct node_pool *pool) {
    struct spare *spare = (struct spare *)pool->base;
    if (spare != NULL && is_worth_keeping(pool)) {
        *spare = (struct spare){.cells = pool->reserved, .side_bytes = pool->side_bytes};
        spare = atomic_exchange(&free_list, spare);
        unmap(spare);
    } else if (spare != NULL) {
        munmap(spare, pool->reserved * cell_span(pool));
    }
    pool->base = 0;
}

/* ---- growing ---- */

static uint32_t most_cells(const struct node_pool *pool, uint32_t first) {
    uint64_t max = pool->budget->max != 0 ? pool->budget->max : UINT64_MAX;
    uint32_t cells = NODE_INDEX + 1;
    while (cells > first && cells / 2 * (uint64_t)cell_span(pool) >= max)
        cells /= 2;
    return cells;
}

static bool reserve(struct node_pool *pool, uint32_t first) {
    uint64_t cell = cell_span(pool);
    if (take_reservation(pool, most_cells(pool, first)))
        return true;
    for (uint32_t cells = most_cells(pool, first); cells >= first; cells /= 2) {
        if (cells * cell > SIZE_MAX / 4)
            continue;
        void *memory = mmap(NULL, (size_t)(cells * cell), PROT_NONE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED)
            continue;
        set_base(pool, memory, cells);
        return true;
    }
    return false;
}

/* From the page on in which `from` is. */
static bool make_usable(uintptr_t base, size_t size, uint32_t from, uint32_t to) {
    size_t begin = from * size / page_size() * page_size();
    return mprotect((void *)(base + begin), to * size - begin, PROT_READ | PROT_WRITE) == 0;
}

static bool open_more(struct node_pool *pool) {
    uint32_t to = pool->open != 0 ? 2 * pool->open : first_open();
    if (pool->base == 0 && !reserve(pool, to))
        return false;
    if (pool->open == to)
        return true;
    if (to > pool->reserved || !make_usable(pool->base, sizeof(struct mcct_node), pool->open, to) ||
        (pool->beside && !make_usable(pool->side, pool->side_bytes, pool->open, to)))
        return false;
    pool->open = to;
    return true;
}

bool node_pool_open_side(struct node_pool *pool) {
    if (pool->beside)
        return true;
    uint32_t charged = (pool->fresh + GRAIN_NODES - 1) / GRAIN_NODES * GRAIN_NODES;
    size_t bytes = (size_t)charged * pool->side_bytes;
    if (!budget_take(pool->budget, bytes))
        return false;
    pool->beside = make_usable(pool->side, pool->side_bytes, 0, pool->open);
    if (!pool->beside)
        budget_give(pool->budget, bytes);
    return pool->beside;
}

/* Charges for the next GRAIN_NODES cells, which can be used then. */
static bool grow(struct node_pool *pool) {
    size_t grain = GRAIN_NODES * cell_bytes(pool);
    if (!budget_take(pool->budget, grain))
        return false;
    if (pool->fresh < pool->open || open_more(pool))
        return true;
    budget_give(pool->budget, grain);
    return false;
}

uint32_t node_pool_take(struct node_pool *pool) {
    uint32_t index = pool->freed;
    if (index != 0) {
        pool->freed = node_at(pool, index)->next;
    } else {
        if (pool->fresh % GRAIN_NODES == 0) {
            if (!grow(pool))
                return 0;
            if (pool->fresh == 0)
                pool->fresh = 1; /* index 0 means none */
        }
        index = pool->fresh++;
    }
    memset(node_at(pool, index), 0, sizeof(struct mcct_node));
    return index;
}

void node_pool_give(struct node_pool *pool, uint32_t index) {
    node_at(pool, index)->next = pool->freed;
    pool->freed = index;
}
