/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * run.c - merging.
 *
 * One run often goes on for many words below a context that the other lacks, so the processor
 * foresees most of the branches here.
 */
#include "common/tree/run.h"

#include "common/wire/compiler.h"

/* The words of one context, whose weights are too much for one word. Gives the end of what was
 * written, with the carry. */
static uint64_t *put_with_carry(uint64_t *out, const uint64_t **a, const uint64_t **b) {
    uint64_t weight = (uint64_t)run_weight(**a) + run_weight(**b),
             word = *(*a)++ & ~(uint64_t)RUN_WEIGHT;
    uint32_t carry = 1;
    ++*b;
    if (run_is_carry(**a))
        carry += run_weight(*(*a)++);
    if (run_is_carry(**b))
        carry += run_weight(*(*b)++);
    *out++ = word | (weight & RUN_WEIGHT);
    *out++ = run_carry(run_depth(word), carry);
    return out;
}

size_t run_merge(uint64_t *out, const uint64_t *a, const uint64_t *b) {
    uint64_t *first = out;
    for (;;) {
        uint64_t x = *a, y = *b;
        if (run_key(x) != run_key(y)) {
            *out++ = x < y ? x : y;
            if (x < y)
                a++;
            else
                b++;
        } else if (hcct_likely(run_weight(x) + run_weight(y) <= RUN_WEIGHT)) {
            *out++ = x + run_weight(y);
            a++;
            b++;
        } else if (x == RUN_END) {
            *out = RUN_END;
            return (size_t)(out - first);
        } else {
            out = put_with_carry(out, &a, &b);
        }
    }
}
