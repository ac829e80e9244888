/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * context_decode.c - from the function that executes outwards, edge by edge.
 *
 * Edges with codes have no circles, so a part of the path that has only such edges meets a function
 * once. It ends where it has come to the function that the top of the stack leads to (with an empty
 * stack: to the root) and nothing is left of the number. Each step takes another edge with a code,
 * or an entry of the stack or one of its repetitions: it comes to an end, whatever the state is.
 */
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/encode/context.h"

void context_path_add(struct context_path *path, uint32_t edge) {
    path->edge =
        memory_grow(path->edge, path->n, &path->room, sizeof *path->edge, "a calling context");
    path->edge[path->n++] = edge;
}

void context_path_copy(struct context_path *into, const struct context_path *path) {
    into->n = 0;
    for (uint32_t i = 0; i < path->n; i++)
        context_path_add(into, path->edge[i]);
}

bool context_path_equal(const struct context_path *a, const struct context_path *b) {
    return a->n == b->n && (a->n == 0 || memcmp(a->edge, b->edge, a->n * sizeof *a->edge) == 0);
}

void context_path_free(struct context_path *path) {
    free(path->edge);
    *path = (struct context_path){0};
}

/* Where decoding has come to. */
struct decoder {
    const struct call_edges *graph;
    const struct encoding *encoding;
    const struct context_entry *stack;
    uint32_t depth, repeats; /* of the stack; of its top */
    uint32_t node;
    uint64_t sum;
    struct context_path *path;
};

/* A number as it stands in a state. False: it is not one of this encoding, or does not say what the
 * stack says. */
static bool read_id(struct decoder *d, uint64_t id) {
    uint64_t max_id = d->encoding->max_id;
    bool on_stack = id > max_id;
    d->sum = on_stack ? id - max_id - 1 : id;
    return d->sum <= max_id && on_stack == (d->depth > 0);
}

/* The edge is of the graph at that time, so that the entry may be one of a state of that time. */
static bool is_of_stack(const struct decoder *d, uint32_t edge) {
    return edge != CALL_EDGES_NONE && edge <= d->graph->edges &&
           encoding_code(d->encoding, edge) == ENCODING_NO_CODE;
}

static bool is_head(const struct decoder *d) {
    uint32_t head = CALL_EDGES_ROOT;
    if (d->depth > 0)
        head = d->graph->edge[d->stack[d->depth - 1].edge].callee;
    return d->sum == 0 && d->node == head;
}

/* To the function that has called this one: the part that ends there comes next. */
static bool pop(struct decoder *d) {
    const struct context_entry *top = &d->stack[d->depth - 1];
    context_path_add(d->path, top->edge);
    d->node = d->graph->edge[top->edge].caller;
    if (d->repeats > 0) {
        d->repeats--;
    } else {
        d->depth--;
        d->repeats = d->depth > 0 ? d->stack[d->depth - 1].repeats : 0;
    }
    return read_id(d, top->id);
}

static bool step(struct decoder *d) {
    uint32_t edge = encoding_last_edge(d->encoding, d->node, d->sum);
    if (edge == CALL_EDGES_NONE)
        return false;
    context_path_add(d->path, edge);
    d->sum -= d->encoding->code[edge];
    d->node = d->graph->edge[edge].caller;
    return true;
}

static bool start(struct decoder *d, const struct context *context) {
    for (uint32_t i = 0; i < context->depth; i++)
        if (!is_of_stack(d, context->stack[i].edge))
            return false;
    d->stack = context->stack;
    d->depth = context->depth;
    d->repeats = d->depth > 0 ? d->stack[d->depth - 1].repeats : 0;
    d->node = context->node;
    return read_id(d, context->id);
}

static void reverse(struct context_path *path) {
    for (uint32_t i = 0, j = path->n; i + 1 < j; i++) {
        uint32_t edge = path->edge[i];
        path->edge[i] = path->edge[--j];
        path->edge[j] = edge;
    }
}

bool context_decode(const struct context *context, const struct call_edges *graph,
                    const struct encoding *encoding, struct context_path *path) {
    struct decoder d = {.graph = graph, .encoding = encoding, .path = path};
    path->n = 0;
    bool right = start(&d, context);
    while (right && !(is_head(&d) && d.depth == 0))
        right = path->n < CONTEXT_PATH_MAX && (is_head(&d) ? pop(&d) : step(&d));
    reverse(path);
    return right;
}

bool context_translate(struct context *context, const struct call_edges *graph,
                       const struct encoding *from, const struct encoding *to,
                       struct context_path *path) {
    if (!context_decode(context, graph, from, path))
        return false;
    context->id = 0;
    context->node = CALL_EDGES_ROOT;
    context->depth = 0;
    for (uint32_t i = 0; i < path->n; i++)
        context_call(context, graph, to, path->edge[i]);
    return true;
}
