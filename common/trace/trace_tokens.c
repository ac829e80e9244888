/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * trace_tokens.c - one pass over a run of tokens that is in the cache.
 */
#include "common/trace/trace_tokens.h"

#include "common/wire/compiler.h"

/* `times` each of what `each` says. */
static uint64_t all_of(uint64_t times, uint32_t each) {
    uint64_t weight;
    return __builtin_mul_overflow(times, (uint64_t)each, &weight) ? UINT64_MAX : weight;
}

static void add(uint64_t *sum, uint64_t more) {
    if (__builtin_add_overflow(*sum, more, sum))
        *sum = UINT64_MAX;
}

/* The weight of a CREDIT at tokens[*i], which comes to stand at its last word; 0: it is cut off, or
 * it credits nothing. */
static uint64_t credit(const uint32_t *tokens, size_t n, size_t *i) {
    uint64_t weight = TRACE_OPERAND(tokens[*i]);
    if (weight == 0 && n - *i > 2) {
        weight = tokens[*i + 1] | (uint64_t)tokens[*i + 2] << 32;
        *i += 2;
    }
    return weight;
}

bool trace_tokens_count(const uint32_t *tokens, size_t n, uint32_t frames,
                        struct trace_totals *totals) {
    bool good = true;
    uint32_t each = 1;
    for (size_t i = 0; i < n && good; i++) {
        uint32_t verb = TRACE_VERB_OF(tokens[i]), operand = TRACE_OPERAND(tokens[i]);
        uint64_t weight = verb == TRACE_CALL;
        switch (verb) {
        case TRACE_CALL:
        case TRACE_PUSH:
            good = operand != 0 && operand < frames;
            break;
        case TRACE_POP:
            good = operand != 0;
            break;
        case TRACE_REPEAT:
            good = operand != 0 && operand <= TRACE_REPEAT_MAX;
            break;
        case TRACE_CREDIT:
            weight = credit(tokens, n, &i);
            good = weight != 0;
            break;
        case TRACE_COUNT_AS:
            good = operand != 0;
            each = operand;
            break;
        default:
            good = false;
        }
        if (hcct_likely(good)) {
            totals->events[verb]++;
            add(&totals->weight, all_of(weight, each));
        }
    }
    return good;
}

void trace_totals_add(struct trace_totals *totals, const struct trace_totals *more) {
    for (size_t i = 0; i < HCCT_ARRAY_LEN(totals->events); i++)
        totals->events[i] += more->events[i];
    add(&totals->weight, more->weight);
}

uint64_t trace_totals_events(const struct trace_totals *totals) {
    uint64_t sum = 0;
    for (size_t i = 0; i < HCCT_ARRAY_LEN(totals->events); i++)
        sum += totals->events[i];
    return sum;
}
