/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * heap.h - where the sampled blocks of a process were allocated that have not been freed.
 *
 * The session's memory says which blocks there are, and what they weigh (wire_block); the rings say
 * where each comes from, which is kept here: a path of frames for each place of that table, shared
 * where they are the same. So what is kept is bounded by the table, and needs no summary. A tree as
 * others are is made of it when somebody asks.
 *
 * Of blocks that took the same place the one with the larger number is the later one: so it does
 * not matter in which order rings are read, or when a raw stack is unwound.
 *
 * Under the process's lock.
 */
#ifndef HCCT_HEAP_H
#define HCCT_HEAP_H

#include <stdbool.h>
#include <stdint.h>

#include "common/tree/draws.h"
#include "common/tree/scatter.h"
#include "common/tree/mcct.h"
#include "common/wire/wire.h"

struct heap;

/* `tree`: of the trees that are made of it. NULL: no memory. */
struct heap *heap_new(const struct mcct_params *tree);
void heap_free(struct heap *heap); /* NULL is allowed */

/* Where a thread stands. All zeros: outside of all frames. */
struct heap_cursor {
    uint32_t node;
    uint64_t depth, missing; /* frames; `missing`: of these, the innermost, which found no memory */
};

void heap_push(struct heap *heap, struct heap_cursor *cursor, uint32_t frame);
/* As mcct_pop. */
uint64_t heap_pop(struct heap *heap, struct heap_cursor *cursor, uint64_t n);
/* As mcct_repeat. */
bool heap_repeat(struct heap *heap, struct heap_cursor *cursor, uint64_t n);
/* Goes outside of all frames. */
void heap_close(struct heap *heap, struct heap_cursor *cursor);

/* The block of that number was allocated at the cursor. */
void heap_name(struct heap *heap, const struct heap_cursor *cursor, uint64_t number);

/* These are the blocks that there are now. The agent may change them meanwhile. Before an agent
 * shows a block its ring names it: whoever reads the rings after this finds the name of each,
 * unless its stack is still to be unwound. */
void heap_see(struct heap *heap, const struct wire_block *blocks);

/* A new tree of the blocks that were there when they were seen last, those of which it is not known
 * where they come from in frame `unknown`; `draws` gets what their weights differ by, of
 * `objects` in units of one, and `scatter`, which is of independent samples, what those of
 * functions do (NULL: it is not asked for). NULL: no memory. */
struct mcct *heap_tree(const struct heap *heap, uint32_t unknown, bool objects, struct draws *draws,
                       struct scatter *scatter);

/* Calls visit(frame) for each frame of the paths. */
void heap_each_frame(const struct heap *heap, void (*visit)(uint32_t frame));

#endif
