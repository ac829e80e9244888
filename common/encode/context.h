/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * context.h - the calling context of a thread: a number, and a short stack.
 *
 * A call by an edge with a code adds it to the number, and its return takes it away again. A call
 * by an edge without one puts the number and the edge on the stack, and the path of codes begins
 * anew at the function that is called, from max_id + 1 on: so a number above max_id says that the
 * top of the stack tells where its path begins. A call that finds its own edge and number on top of
 * the stack only counts there: however deep a function recurses in the same way, it has one entry.
 *
 * The state belongs to an encoding: at another one, context_translate() makes it again.
 *
 * Not locked. Without memory the program ends (memory.h).
 */
#ifndef HCCT_CONTEXT_H
#define HCCT_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "common/encode/encoding.h"

struct context_entry {
    uint64_t id;      /* the number before the call */
    uint32_t edge;    /* the call */
    uint32_t repeats; /* so many more calls by it, from the function that it leads to, with the same
                       * number */
};

/* All zero is a thread that executes nothing yet. */
struct context {
    uint64_t id;
    uint32_t node; /* the function that executes */
    uint32_t depth, room;
    struct context_entry *stack;
};

/* What a call has done to the state. */
enum context_step {
    CONTEXT_FREE,     /* nothing: its code is 0 */
    CONTEXT_ADDED,    /* its code was added */
    CONTEXT_PUSHED,   /* it is on the stack */
    CONTEXT_REPEATED, /* it was counted on top of the stack */
    CONTEXT_STEPS
};

/* The call by an edge of the function that executes; and its return. */
enum context_step context_call(struct context *context, const struct call_edges *graph,
                               const struct encoding *encoding, uint32_t edge);
void context_return(struct context *context, const struct call_edges *graph,
                    const struct encoding *encoding, uint32_t edge);
void context_free(struct context *context);

/* A copy that does not change with it, in memory that `into` may have already. */
void context_copy(struct context *into, const struct context *context);

/* ---- what it says ---- */

/* Edges of a path, the outermost call first. All zero is an empty one. */
struct context_path {
    uint32_t *edge;
    uint32_t n, room;
};

/* Calls of a path at most. */
#define CONTEXT_PATH_MAX (1u << 24)

void context_path_add(struct context_path *path, uint32_t edge);
void context_path_copy(struct context_path *into, const struct context_path *path);
bool context_path_equal(const struct context_path *a, const struct context_path *b);
void context_path_free(struct context_path *path);

/* The path of a context by the encoding of its time. False: it is no state that calls from the root
 * on can have led to. */
bool context_decode(const struct context *context, const struct call_edges *graph,
                    const struct encoding *encoding, struct context_path *path);

/* The same context by another encoding. False, and nothing has changed: it can't be decoded. */
bool context_translate(struct context *context, const struct call_edges *graph,
                       const struct encoding *from, const struct encoding *to,
                       struct context_path *path);

#endif
