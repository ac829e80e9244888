/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* context.c - calls and returns. */
#include "common/encode/context.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"

static const char what[] = "an encoded context";

static struct context_entry *top_of(const struct context *context) {
    return &context->stack[context->depth - 1];
}

static bool is_repeated(const struct context *context, uint32_t edge) {
    if (context->depth == 0)
        return false;
    const struct context_entry *top = top_of(context);
    return top->edge == edge && top->id == context->id && top->repeats < UINT32_MAX;
}

static void push(struct context *context, uint32_t edge) {
    context->stack =
        memory_grow(context->stack, context->depth, &context->room, sizeof *context->stack, what);
    context->stack[context->depth++] = (struct context_entry){.id = context->id, .edge = edge};
}

static enum context_step call_by_stack(struct context *context, const struct encoding *encoding,
                                       uint32_t edge) {
    bool repeated = is_repeated(context, edge);
    if (repeated)
        top_of(context)->repeats++;
    else
        push(context, edge);
    context->id = encoding->max_id + 1;
    return repeated ? CONTEXT_REPEATED : CONTEXT_PUSHED;
}

enum context_step context_call(struct context *context, const struct call_edges *graph,
                               const struct encoding *encoding, uint32_t edge) {
    uint64_t code = encoding_code(encoding, edge);
    context->node = graph->edge[edge].callee;
    if (code == ENCODING_NO_CODE)
        return call_by_stack(context, encoding, edge);
    context->id += code;
    return code == 0 ? CONTEXT_FREE : CONTEXT_ADDED;
}

void context_return(struct context *context, const struct call_edges *graph,
                    const struct encoding *encoding, uint32_t edge) {
    uint64_t code = encoding_code(encoding, edge);
    context->node = graph->edge[edge].caller;
    if (code != ENCODING_NO_CODE) {
        context->id -= code;
        return;
    }
    struct context_entry *top = top_of(context);
    context->id = top->id;
    if (top->repeats > 0)
        top->repeats--;
    else
        context->depth--;
}

void context_free(struct context *context) {
    free(context->stack);
    *context = (struct context){0};
}

void context_copy(struct context *into, const struct context *context) {
    if (into->room < context->depth) {
        free(into->stack);
        into->stack = memory_new(context->depth, sizeof *into->stack, what);
        into->room = context->depth;
    }
    if (context->depth > 0)
        memcpy(into->stack, context->stack, context->depth * sizeof *into->stack);
    into->id = context->id;
    into->node = context->node;
    into->depth = context->depth;
}
