/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * heap.c - paths that share what they have in common, counted by who needs them.
 */
#include "daemon/ingest/heap.h"

#include <math.h>
#include <stdlib.h>

#include "common/base/seeded_hash.h"
#include "common/code/frame.h"
#include "common/tree/poisson.h"
#include "common/wire/compiler.h"

#define NODES_MAX   (1u << 22) /* of one process: more than its table can need, but for hostile */
#define NODES_FIRST 1024u

/* A frame below its parent. Node 0 is outside of all, and counts nobody. */
struct node {
    uint32_t parent, frame;
    uint32_t needed; /* by so many children, cursors and blocks; 0: it is free */
    uint32_t next;   /* of its bucket, or of those that are free */
};

struct place {
    uint64_t number; /* of the last block whose path is known */
    uint32_t node;
};

struct heap {
    struct mcct_params tree;
    struct place place[WIRE_BLOCKS];
    uint64_t number[WIRE_BLOCKS], weight[WIRE_BLOCKS]; /* as seen last */
    uint16_t drawn[WIRE_BLOCKS];                       /* by which R each was: WIRE_DRAWN */
    struct node *node;
    uint32_t *bucket; /* as many as there is room for nodes */
    uint32_t room, used, free;
};

struct heap *heap_new(const struct mcct_params *tree) {
    struct heap *heap = calloc(1, sizeof *heap);
    if (heap != NULL)
        heap->tree = *tree;
    return heap;
}

void heap_free(struct heap *heap) {
    if (heap == NULL)
        return;
    free(heap->node);
    free(heap->bucket);
    free(heap);
}

/* ---- nodes ---- */

/* The lowest bits of a product are no mixture of all. */
static uint32_t *bucket_of(const struct heap *heap, uint32_t parent, uint32_t frame) {
    uint64_t hash = ((uint64_t)parent << 32 | frame) * 0x9e3779b97f4a7c15ull;
    return &heap->bucket[hash >> 32 & (heap->room - 1)];
}

static void link_in(struct heap *heap, uint32_t n) {
    uint32_t *bucket = bucket_of(heap, heap->node[n].parent, heap->node[n].frame);
    heap->node[n].next = *bucket;
    *bucket = n;
}

static bool grow(struct heap *heap) {
    uint32_t room = heap->room > 0 ? 2 * heap->room : NODES_FIRST;
    if (room > NODES_MAX)
        return false;
    struct node *node = realloc(heap->node, room * sizeof *node);
    if (node != NULL)
        heap->node = node;
    uint32_t *bucket = node != NULL ? calloc(room, sizeof *bucket) : NULL;
    if (bucket == NULL)
        return false;
    free(heap->bucket);
    heap->bucket = bucket;
    heap->room = room;
    heap->used = heap->used > 0 ? heap->used : 1;
    for (uint32_t n = 1; n < heap->used; n++)
        link_in(heap, n); /* none is free, or there would be no need to grow */
    return true;
}

static uint32_t find(const struct heap *heap, uint32_t parent, uint32_t frame) {
    uint32_t n = heap->room > 0 ? *bucket_of(heap, parent, frame) : 0;
    while (n != 0 && (heap->node[n].parent != parent || heap->node[n].frame != frame))
        n = heap->node[n].next;
    return n;
}

static void need(struct heap *heap, uint32_t n) {
    if (n != 0)
        heap->node[n].needed++;
}

/* 0: no memory. */
static uint32_t make(struct heap *heap, uint32_t parent, uint32_t frame) {
    uint32_t n = heap->free;
    if (n == 0 && heap->used == heap->room && !grow(heap))
        return 0;
    if (n != 0)
        heap->free = heap->node[n].next;
    else
        n = heap->used++;
    heap->node[n] = (struct node){.parent = parent, .frame = frame};
    link_in(heap, n);
    need(heap, parent);
    return n;
}

static void unlink_from(struct heap *heap, uint32_t n) {
    uint32_t *at = bucket_of(heap, heap->node[n].parent, heap->node[n].frame);
    while (*at != n)
        at = &heap->node[*at].next;
    *at = heap->node[n].next;
}

/* One less needs it; a node that nobody needs goes, and needs its parent no more. */
static void release(struct heap *heap, uint32_t n) {
    while (n != 0 && --heap->node[n].needed == 0) {
        uint32_t parent = heap->node[n].parent;
        unlink_from(heap, n);
        heap->node[n].next = heap->free;
        heap->free = n;
        n = parent;
    }
}

/* ---- cursors ---- */

void heap_push(struct heap *heap, struct heap_cursor *cursor, uint32_t frame) {
    uint32_t child = cursor->missing == 0 ? find(heap, cursor->node, frame) : 0;
    if (child == 0 && cursor->missing == 0)
        child = make(heap, cursor->node, frame);
    cursor->depth++;
    if (child == 0) {
        cursor->missing++;
        return;
    }
    need(heap, child);
    release(heap, cursor->node);
    cursor->node = child;
}

static void go_up(struct heap *heap, struct heap_cursor *cursor) {
    uint32_t left = cursor->node;
    cursor->node = heap->node[left].parent;
    need(heap, cursor->node);
    release(heap, left);
}

uint64_t heap_pop(struct heap *heap, struct heap_cursor *cursor, uint64_t n) {
    uint64_t popped = n < cursor->depth ? n : cursor->depth;
    for (uint64_t i = 0; i < popped; i++)
        if (cursor->missing > 0)
            cursor->missing--;
        else
            go_up(heap, cursor);
    cursor->depth -= popped;
    return popped;
}

bool heap_repeat(struct heap *heap, struct heap_cursor *cursor, uint64_t n) {
    if (cursor->depth == 0)
        return false;
    for (uint64_t i = 0; i < n; i++)
        heap_push(heap, cursor, cursor->node != 0 ? heap->node[cursor->node].frame : 0);
    return true;
}

void heap_close(struct heap *heap, struct heap_cursor *cursor) {
    release(heap, cursor->node);
    *cursor = (struct heap_cursor){0};
}

/* ---- blocks ---- */

void heap_name(struct heap *heap, const struct heap_cursor *cursor, uint64_t number) {
    struct place *place = &heap->place[WIRE_BLOCK_PLACE(number)];
    if (number <= place->number)
        return;
    need(heap, cursor->node);
    release(heap, place->node);
    *place = (struct place){number, cursor->node};
}

void heap_see(struct heap *heap, const struct wire_block *blocks) {
    for (uint32_t i = 0; i < WIRE_BLOCKS; i++) {
        const struct wire_block *block = &blocks[i];
        uint64_t number = atomic_load_explicit(&block->number, memory_order_acquire);
        uint64_t weight = atomic_load_explicit(&block->weight, memory_order_relaxed);
        atomic_thread_fence(memory_order_acquire);
        bool same = atomic_load_explicit(&block->number, memory_order_relaxed) == number;
        heap->number[i] = same ? number : 0;
        heap->weight[i] = weight & WIRE_BLOCK_MASK;
        heap->drawn[i] = (uint16_t)(weight >> WIRE_BLOCK_BITS);
    }
}

/* What a tree is made with. */
struct maker {
    struct mcct_cursor cursor;
    struct scatter_thread *samples;
    uint64_t rarest;
    uint32_t *frames; /* of one path */
};

static void push(struct maker *maker, uint32_t frame) {
    struct frame_key key = {0};
    mcct_push(&maker->cursor, frame);
    if (frame_get(frame, &key) && frame_is_leaf_pc(&key))
        scatter_push_leaf_pc(maker->samples);
    else
        scatter_push(maker->samples, seeded_hash(key.routine_module, key.routine), frame);
}

/* Pushes the path of a node, and returns how many frames that are. */
static uint64_t push_path(const struct heap *heap, uint32_t n, struct maker *maker) {
    uint64_t depth = 0;
    for (; n != 0; n = heap->node[n].parent)
        maker->frames[depth++] = heap->node[n].frame;
    for (uint64_t i = depth; i-- > 0;)
        push(maker, maker->frames[i]);
    return depth;
}

/* Of the newest block: what one may weigh that is drawn now, where few were met up to now. */
static uint64_t rarest_of(const struct heap *heap, bool objects) {
    uint32_t newest = 0;
    for (uint32_t i = 1; i < WIRE_BLOCKS; i++)
        if (heap->number[i] > heap->number[newest])
            newest = i;
    return wire_rarest_block(wire_blocks_usual_mean(heap->drawn[newest]), objects);
}

/* `variance`: what it adds to that of all. */
static void credit(const struct heap *heap, uint32_t i, uint32_t unknown, double variance,
                   struct maker *maker) {
    const struct place *place = &heap->place[i];
    uint64_t depth = 0;
    if (place->number == heap->number[i])
        depth = push_path(heap, place->node, maker);
    if (depth == 0 && unknown != 0) {
        push(maker, unknown);
        depth = 1;
    }
    mcct_credit(&maker->cursor, heap->weight[i]);
    scatter_credit(maker->samples, &(struct scatter_sample){.weight = heap->weight[i],
                                                            .chance = (uint64_t)sqrt(variance),
                                                            .rarest = maker->rarest});
    mcct_pop(&maker->cursor, depth);
    scatter_pop(maker->samples, depth);
}

struct mcct *heap_tree(const struct heap *heap, uint32_t unknown, bool objects, struct draws *draws,
                       struct scatter *scatter) {
    struct mcct *tree = mcct_new(&heap->tree);
    struct maker maker = {
        .frames = malloc(((size_t)heap->used + 1) * sizeof *maker.frames), /* none is longer */
        .samples = scatter_thread_new(scatter),
        .rarest = rarest_of(heap, objects)};
    *draws = (struct draws){0};
    if (tree == NULL || maker.frames == NULL) {
        mcct_free(tree);
        free(maker.frames);
        scatter_thread_free(maker.samples);
        return NULL;
    }
    mcct_cursor_open(tree, &maker.cursor);
    for (uint32_t i = 0; i < WIRE_BLOCKS; i++) {
        uint64_t weight = heap->weight[i];
        if (heap->number[i] == 0 || weight == 0)
            continue;
        double variance = objects ? poisson_variance_of_number(weight)
                                  : poisson_variance(weight, wire_blocks_mean(heap->drawn[i]));
        credit(heap, i, unknown, variance, &maker);
        draws_add_event(draws, weight, variance, objects ? 0 : DRAWS_UNIT_SHIFT);
    }
    mcct_cursor_close(&maker.cursor);
    mcct_flush(tree);
    free(maker.frames);
    scatter_thread_free(maker.samples);
    return tree;
}

void heap_each_frame(const struct heap *heap, void (*visit)(uint32_t frame)) {
    for (uint32_t n = 1; n < heap->used; n++)
        if (heap->node[n].needed > 0)
            visit(heap->node[n].frame);
}
