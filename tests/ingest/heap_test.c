/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * heap_test.c - contexts of sampled blocks: the tree is what the session's memory says, whatever
 * the order in which rings are read; paths that nobody needs are not kept.
 */
#include "daemon/ingest/heap.h"

#include "common/tree/tree_copy.h"
#include "tests/check.h"

static struct wire_block blocks[WIRE_BLOCKS];

static uint64_t number(uint64_t serial, uint32_t place) {
    return serial << WIRE_BLOCKS_SHIFT | place;
}

static void show(uint64_t it, uint64_t weight) {
    struct wire_block *block = &blocks[WIRE_BLOCK_PLACE(it)];
    atomic_store(&block->number, it);
    atomic_store(&block->weight, weight);
}

static void name_at(struct heap *heap, const uint32_t *frames, unsigned n, uint64_t it) {
    struct heap_cursor cursor = {0};
    for (unsigned i = 0; i < n; i++)
        heap_push(heap, &cursor, frames[i]);
    heap_name(heap, &cursor, it);
    CHECK_UINT(heap_pop(heap, &cursor, n + 1), n);
    heap_close(heap, &cursor);
}

/* What the context of a frame below the root's child `outer` weighs itself. */
static uint64_t weight_of(const struct tree_copy *copy, uint32_t outer, uint32_t frame) {
    for (size_t i = 1; i < copy->n; i++) {
        const struct copied_node *node = &copy->node[i];
        if (node->frame == frame && copy->node[node->parent].frame == outer)
            return node->count;
    }
    return 0;
}

static struct tree_copy see(struct heap *heap, uint64_t total) {
    struct tree_copy copy;
    struct draws draws;
    heap_see(heap, blocks);
    struct mcct *tree = heap_tree(heap, 99, false, &draws, NULL);
    CHECK(tree != NULL && tree_copy_take(&copy, tree));
    CHECK_UINT(copy.stats.total, total);
    mcct_free(tree);
    return copy;
}

static unsigned frames_kept;

static void count(uint32_t frame) {
    (void)frame;
    frames_kept++;
}

static unsigned kept(const struct heap *heap) {
    frames_kept = 0;
    heap_each_frame(heap, count);
    return frames_kept;
}

static void check_order(struct heap *heap) {
    const uint32_t f[] = {1, 2}, g[] = {1, 3};
    show(number(1, 5), 1u << 20);
    struct tree_copy copy = see(heap, 1u << 20); /* its ring was not read yet */
    CHECK_UINT(weight_of(&copy, 0, 99), 1u << 20);
    tree_copy_free(&copy);
    name_at(heap, f, 2, number(1, 5));
    copy = see(heap, 1u << 20);
    CHECK_UINT(weight_of(&copy, 1, 2), 1u << 20);
    tree_copy_free(&copy);

    name_at(heap, g, 2, number(3, 5)); /* the later one is heard of first */
    name_at(heap, f, 2, number(2, 5));
    show(number(3, 5), 2u << 20);
    show(number(4, 6), 3u << 20);
    name_at(heap, g, 2, number(4, 6));
    copy = see(heap, 5u << 20);
    CHECK_UINT(weight_of(&copy, 1, 3), 5u << 20);
    CHECK_UINT(weight_of(&copy, 1, 2), 0);
    tree_copy_free(&copy);

    show(0, 0); /* place 0 */
    atomic_store(&blocks[5].number, 0);
    copy = see(heap, 3u << 20);
    CHECK_UINT(weight_of(&copy, 1, 3), 3u << 20);
    tree_copy_free(&copy);
}

static void check_paths(struct heap *heap) {
    struct heap_cursor cursor = {0};
    unsigned before = kept(heap);
    CHECK(!heap_repeat(heap, &cursor, 3)); /* of nothing */
    for (uint32_t i = 0; i < 5000; i++)
        heap_push(heap, &cursor, 1000 + i);
    CHECK(heap_repeat(heap, &cursor, 10));
    CHECK_UINT(kept(heap), before + 5010);
    CHECK_UINT(heap_pop(heap, &cursor, 5000), 5000);
    CHECK_UINT(kept(heap), before + 10);
    CHECK_UINT(heap_pop(heap, &cursor, UINT64_MAX), 10);
    CHECK_UINT(kept(heap), before);
    heap_close(heap, &cursor);
}

/* A path stays as long as its place has no other. */
static void check_many(struct heap *heap) {
    uint64_t total = 0;
    for (uint32_t i = 0; i < WIRE_BLOCKS; i++) {
        const uint32_t frames[] = {7, i / 100, i};
        uint64_t it = number(10, i);
        name_at(heap, frames, 3, it);
        show(it, 1u << 20);
        total += 1u << 20;
    }
    struct tree_copy copy = see(heap, total);
    CHECK_UINT(copy.stats.nodes, 2 + (WIRE_BLOCKS + 99) / 100 + WIRE_BLOCKS);
    tree_copy_free(&copy);
    for (uint32_t i = 0; i < WIRE_BLOCKS; i++) {
        const uint32_t frames[] = {8};
        name_at(heap, frames, 1, number(11, i));
    }
    CHECK_UINT(kept(heap), 1);
}

int main(void) {
    const struct mcct_params params = {.epsilon = 1e-5};
    struct heap *heap = heap_new(&params);
    CHECK(heap != NULL);
    check_order(heap);
    check_paths(heap);
    check_many(heap);
    heap_free(heap);
    heap_free(NULL);
    return check_report();
}
