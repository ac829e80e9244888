/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * lazy_queue.c - a radix heap with lazy keys.
 *
 * The article's Algorithm 2 keeps an unordered array M and a value `min`: entries equal to `min`
 * are found by one scan, and when none is left, M is scanned for the next `min`. For unit weights
 * that is constant amortised time (Theorem 4.1). With weights that all differ, a value of `min` is
 * held by one entry, and each eviction would scan all of M; even with unit weights each scan reads
 * the hot entries in vain.
 *
 * Here M is split as in a radix heap (Ahuja, Mehlhorn, Orlin, Tarjan: Faster algorithms for the
 * shortest path problem, JACM 1990), which the same two facts allow: the minimum never falls, and
 * counts only grow. `last` is the minimum of the latest time it was asked for. An entry is in
 * bucket 0 if its count was `last`, else in bucket b if bit b - 1 was the highest in which its
 * count and `last` differ. So all counts of a bucket were below all of the next:
 *
 *     last = 1010:   bucket 0: 1010   1: 1011   2: -   3: 11xx is 3, as bit 2 differs first ...
 *
 * Asked for the least, an entry of bucket 0 is it, if its count is still `last`; if it has grown,
 * the entry moves to where it belongs now. When bucket 0 is empty, the first other bucket is read:
 * its least count becomes `last`, and all its entries move down, or up those that have grown
 * beyond. A stale entry is in a bucket too low, never too high, so that none is overlooked, and the
 * minimum is exact.
 *
 * Cost. An entry moves up only after it has gained weight, and down at most 64 times after entering
 * or moving up: the amortised time of an update is O(log(largest count / least count)), whatever
 * the weights, and independent of the size of M. With unit weights the bound of Theorem 4.1 holds
 * too: between two values of the minimum an entry moves down once and is read once, which is the
 * article's two scans; a hot entry, however, is read only each time that the bit in which it
 * differs is reached.
 *
 * Entries are 4 bytes in chunks of 30. Moving needs at most one part-filled chunk for each bucket
 * and one more, and these are reserved, so that nothing here can fail but lazy_queue_reserve().
 */
#include "common/tree/lazy_queue.h"

#include <stdlib.h>

#define CHUNK_ENTRIES 30u
#define NODE_AHEAD    5 /* entries: far enough for memory to answer */
#define PARENT_AHEAD  3
#define SPREAD_AHEAD  6
#define SLAB_MIN      8u   /* chunks */
#define SLAB_MAX      256u /* chunks */

struct lazy_chunk {
    struct lazy_chunk *next;
    uint32_t node[CHUNK_ENTRIES];
};

_Static_assert(sizeof(struct lazy_chunk) == 128, "two cache lines");

/* ---- memory ---- */

void lazy_queue_init(struct lazy_queue *queue, struct mcct *tree) {
    *queue = (struct lazy_queue){.tree = tree};
}

void lazy_queue_free(struct lazy_queue *queue) {
    while (queue->slabs != NULL) {
        struct lazy_chunk *slab = queue->slabs;
        queue->slabs = slab->next;
        free(slab);
    }
}

static void give_chunk(struct lazy_queue *queue, struct lazy_chunk *chunk) {
    chunk->next = queue->spare;
    queue->spare = chunk;
}

/* A slab's first chunk links it to the others. */
static bool add_slab(struct lazy_queue *queue) {
    uint32_t n = queue->chunks < SLAB_MIN ? SLAB_MIN : queue->chunks;
    n = n > SLAB_MAX ? SLAB_MAX : n;
    size_t bytes = n * sizeof(struct lazy_chunk);
    if (!budget_take(&queue->tree->budget, bytes))
        return false;
    struct lazy_chunk *slab = aligned_alloc(64, bytes);
    if (slab == NULL) {
        budget_give(&queue->tree->budget, bytes);
        return false;
    }
    slab->next = queue->slabs;
    queue->slabs = slab;
    for (uint32_t i = 1; i < n; i++)
        give_chunk(queue, &slab[i]);
    queue->chunks += n - 1;
    return true;
}

bool lazy_queue_reserve(struct lazy_queue *queue, uint32_t entries) {
    uint32_t parts = entries < LAZY_QUEUE_BUCKETS ? entries : LAZY_QUEUE_BUCKETS;
    uint32_t need = entries / CHUNK_ENTRIES + parts + 1;
    while (queue->chunks < need)
        if (!add_slab(queue))
            return false;
    return true;
}

/* ---- buckets ---- */

static unsigned bucket_of(const struct lazy_queue *queue, uint64_t count) {
    return count == queue->last ? 0 : 64 - (unsigned)__builtin_clzll(count ^ queue->last);
}

static void put(struct lazy_queue *queue, unsigned b, uint32_t node) {
    struct lazy_bucket *bucket = &queue->bucket[b];
    if (bucket->head == NULL || bucket->used == CHUNK_ENTRIES) {
        struct lazy_chunk *chunk = queue->spare;
        queue->spare = chunk->next;
        chunk->next = bucket->head;
        bucket->head = chunk;
        bucket->used = 0;
        if (b > 0)
            queue->nonempty |= UINT64_C(1) << (b - 1);
    }
    bucket->head->node[bucket->used++] = node;
}

void lazy_queue_insert(struct lazy_queue *queue, uint32_t node) {
    put(queue, bucket_of(queue, tree_count(queue->tree, node)), node);
}

static uint64_t least_count(const struct lazy_queue *queue, const struct lazy_bucket *bucket) {
    uint64_t least = UINT64_MAX;
    uint32_t used = bucket->used;
    for (const struct lazy_chunk *c = bucket->head; c != NULL; c = c->next, used = CHUNK_ENTRIES)
        for (uint32_t i = 0; i < used; i++) {
            uint64_t count = tree_count(queue->tree, c->node[i]);
            least = count < least ? count : least;
        }
    return least;
}

/* All entries of the lowest bucket with any go where they belong. */
static void spread(struct lazy_queue *queue) {
    unsigned b = 1 + (unsigned)__builtin_ctzll(queue->nonempty);
    struct lazy_bucket from = queue->bucket[b];
    uint64_t least = least_count(queue, &from);
    if (bucket_of(queue, least) == b) /* else all have grown beyond the bucket */
        queue->last = least;
    queue->bucket[b] = (struct lazy_bucket){0};
    queue->nonempty &= queue->nonempty - 1;
    for (uint32_t used = from.used; from.head != NULL; used = CHUNK_ENTRIES) {
        struct lazy_chunk *chunk = from.head;
        from.head = chunk->next;
        for (uint32_t i = 0; i < used; i++) {
            if (i + SPREAD_AHEAD < used)
                __builtin_prefetch(node_at(&queue->tree->pool, chunk->node[i + SPREAD_AHEAD]));
            lazy_queue_insert(queue, chunk->node[i]);
        }
        give_chunk(queue, chunk);
    }
}

/* Those on top are the next to go, most likely. They are cold, and so are their parents, from which
 * they are to be removed: the memory of both comes while the caller is busy with others. (A
 * function that does nothing but prefetch would have no effect that the compiler knows of.) */
static uint32_t take_from_first(struct lazy_queue *queue) {
    struct lazy_bucket *bucket = &queue->bucket[0];
    struct lazy_chunk *chunk = bucket->head;
    const struct node_pool *pool = &queue->tree->pool;
    const uint32_t *top = &chunk->node[--bucket->used];
    uint32_t node = *top;
    if (bucket->used == 0) {
        bucket->head = chunk->next;
        bucket->used = CHUNK_ENTRIES;
        give_chunk(queue, chunk);
    } else if (bucket->used >= NODE_AHEAD) {
        __builtin_prefetch(node_at(pool, top[-NODE_AHEAD]));
        __builtin_prefetch(node_at(pool, node_at(pool, top[-PARENT_AHEAD])->parent));
    }
    return node;
}

uint64_t lazy_queue_least(struct lazy_queue *queue) {
    for (;;) {
        while (queue->bucket[0].head == NULL)
            spread(queue);
        const struct lazy_bucket *first = &queue->bucket[0];
        if (tree_count(queue->tree, first->head->node[first->used - 1]) == queue->last)
            return queue->last;
        lazy_queue_insert(queue, take_from_first(queue));
    }
}

uint32_t lazy_queue_take_least(struct lazy_queue *queue) {
    (void)lazy_queue_least(queue);
    return take_from_first(queue);
}
