/*
 * trace_apply.c - the loop that replay is.
 */
#include "daemon/trace/trace_apply.h"

#include "daemon/trace/trace_format.h"

void trace_apply(struct mcct_cursor *cursor, const uint32_t *tokens, size_t n) {
    for (const uint32_t *at = tokens, *end = tokens + n; at < end; at++) {
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
