/*
 * node_pool.c - blocks of cells that grow and never move, with a list of freed cells.
 */
#include "daemon/tree/node_pool.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_BLOCK 128u /* nodes */
#define CACHE_LINE  64u

static uint32_t block_first(unsigned block) {
    return block == 0 ? 0 : FIRST_BLOCK << (block - 1);
}

static uint32_t block_nodes(unsigned block) {
    return block == 0 ? FIRST_BLOCK : FIRST_BLOCK << (block - 1);
}

static size_t cell_bytes(const struct node_pool *pool) {
    return sizeof(struct mcct_node) + pool->side_bytes;
}

void node_pool_init(struct node_pool *pool, struct budget *budget, uint32_t side_bytes) {
    *pool = (struct node_pool){.budget = budget, .side_bytes = side_bytes};
}

void node_pool_free(struct node_pool *pool) {
    for (unsigned i = 0; i < pool->blocks; i++)
        free((void *)(pool->base[i] + (uintptr_t)block_first(i) * sizeof(struct mcct_node)));
    pool->blocks = 0;
}

static bool add_block(struct node_pool *pool) {
    if (pool->blocks == NODE_POOL_BLOCKS)
        return false;
    unsigned i = pool->blocks;
    void *memory = aligned_alloc(CACHE_LINE, (size_t)block_nodes(i) * cell_bytes(pool));
    if (memory == NULL)
        return false;
    uintptr_t cells = (uintptr_t)memory, first = block_first(i);
    uintptr_t beside = cells + (uintptr_t)block_nodes(i) * sizeof(struct mcct_node);
    pool->base[i] = cells - first * sizeof(struct mcct_node);
    pool->side[i] = beside - first * pool->side_bytes;
    pool->blocks++;
    return true;
}

/* Makes the next FIRST_BLOCK cells usable. */
static bool grow(struct node_pool *pool) {
    size_t grain = FIRST_BLOCK * cell_bytes(pool); /* charged at a time: whole pages */
    if (!budget_take(pool->budget, grain))
        return false;
    uint32_t end = pool->blocks == 0 ? 0 : FIRST_BLOCK << (pool->blocks - 1);
    if (pool->fresh < end || add_block(pool))
        return true;
    budget_give(pool->budget, grain);
    return false;
}

uint32_t node_pool_take(struct node_pool *pool) {
    uint32_t index = pool->freed;
    if (index != 0) {
        pool->freed = node_at(pool, index)->next;
    } else {
        if (pool->fresh % FIRST_BLOCK == 0) {
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
