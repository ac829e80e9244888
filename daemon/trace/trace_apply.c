/*
 * trace_apply.c - the loop that replay is.
 *
 * Calls and returns go through a batch; so do pushes, and credits of 1, which a call can be written
 * as. What comes after any other token of the run has walks in it: few contexts of which two follow
 * each other, so that nothing is gained by gathering them.
 */
#include "daemon/trace/trace_apply.h"

#include "daemon/trace/trace_format.h"
#include "daemon/tree/batch.h"

/* Gives the first token that is no call's. */
static const uint32_t *apply_calls(struct mcct_cursor *cursor, const uint32_t *at,
                                   const uint32_t *end) {
    struct mcct_batch_level *level = NULL;
    struct mcct_batch *batch = mcct_batch_begin(cursor, &level);
    uint64_t left;
    for (; batch != NULL && at < end; at++) {
        uint32_t verb = TRACE_VERB_OF(*at), operand = TRACE_OPERAND(*at);
        if (verb == TRACE_CALL)
            level = mcct_batch_call(batch, level, operand);
        else if (verb == TRACE_POP)
            level = mcct_batch_pop(batch, level, operand, &left);
        else if (verb == TRACE_PUSH)
            level = mcct_batch_push(batch, level, operand);
        else if (*at == TRACE_TOKEN(TRACE_CREDIT, 1))
            level = mcct_batch_credit(batch, level);
        else
            break;
    }
    mcct_batch_end(batch, level);
    return at;
}

void trace_apply(struct mcct_cursor *cursor, const uint32_t *tokens, size_t n) {
    const uint32_t *end = tokens + n;
    for (const uint32_t *at = apply_calls(cursor, tokens, end); at < end; at++) {
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
            if (operand != 0) {
                mcct_credit(cursor, operand);
            } else {
                mcct_credit(cursor, at[1] | (uint64_t)at[2] << 32);
                at += 2;
            }
            break;
        case TRACE_AGAIN:
            mcct_again(cursor, operand);
            break;
        }
    }
}
