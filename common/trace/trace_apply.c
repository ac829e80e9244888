/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * trace_apply.c - the loop that replay is.
 *
 * From the first call of a record on, calls and returns go through a batch; so do pushes, and
 * credits of 1, as which a call can be written. Any other token says that there are walks in the
 * record: the rest of it is applied one by one. The daemon does the same with what it writes
 * (ingest/reader.c), so that the tree is the same again.
 */
#include "common/trace/trace_apply.h"

#include "common/trace/trace_format.h"
#include "common/tree/batch.h"

static bool is_of_calls(uint32_t token) {
    enum trace_verb verb = TRACE_VERB_OF(token);
    return verb == TRACE_CALL || verb == TRACE_POP || verb == TRACE_PUSH ||
           token == TRACE_TOKEN(TRACE_CREDIT, 1);
}

static bool is_counted(uint32_t token) {
    return TRACE_VERB_OF(token) == TRACE_CALL || token == TRACE_TOKEN(TRACE_CREDIT, 1);
}

/* Gives the next token. */
static const uint32_t *apply_one(struct mcct_cursor *cursor, const uint32_t *at) {
    uint32_t operand = TRACE_OPERAND(*at);
    switch (TRACE_VERB_OF(*at)) {
    case TRACE_CALL:
        mcct_call(cursor, operand);
        break;
    case TRACE_POP:
        mcct_pop(cursor, operand);
        break;
    case TRACE_PUSH:
        mcct_push(cursor, operand);
        break;
    case TRACE_CREDIT:
        if (operand == 0) {
            mcct_credit(cursor, at[1] | (uint64_t)at[2] << 32);
            return at + 3;
        }
        mcct_credit(cursor, operand);
        break;
    case TRACE_REPEAT:
        mcct_repeat(cursor, operand);
        break;
    case TRACE_COUNT_AS:
        mcct_count_as(cursor, operand);
        break;
    }
    return at + 1;
}

/* Gives the first token that is not of calls. */
static const uint32_t *apply_calls(struct mcct_cursor *cursor, const uint32_t *at,
                                   const uint32_t *end) {
    struct mcct_batch_level *level = NULL;
    struct mcct_batch *batch = mcct_batch_begin(cursor, &level);
    uint64_t left;
    for (; batch != NULL && at < end; at++) {
        uint32_t operand = TRACE_OPERAND(*at);
        enum trace_verb verb = TRACE_VERB_OF(*at);
        if (verb == TRACE_CALL) /* what comes most is asked for first */
            level = mcct_batch_call(batch, level, operand);
        else if (verb == TRACE_POP)
            level = mcct_batch_pop(batch, level, operand, &left);
        else if (verb == TRACE_PUSH)
            level = mcct_batch_push(batch, level, operand);
        else if (verb == TRACE_CREDIT && operand == 1)
            level = mcct_batch_credit(batch, level);
        else
            break;
    }
    mcct_batch_end(batch, level);
    return at;
}

void trace_apply(struct mcct_cursor *cursor, const uint32_t *tokens, size_t n) {
    const uint32_t *at = tokens, *end = tokens + n;
    mcct_count_as(cursor, 1);
    if (at < end && TRACE_VERB_OF(*at) == TRACE_COUNT_AS)
        at = apply_one(cursor, at);
    while (at < end && is_of_calls(*at) && !is_counted(*at))
        at = apply_one(cursor, at);
    if (at < end && is_counted(*at))
        at = apply_calls(cursor, at, end);
    while (at < end)
        at = apply_one(cursor, at);
}
