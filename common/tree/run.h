/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * run.h - contexts and what they gained, in order: a calling context tree as a list of words.
 *
 * Preorder, children in the order of their frames, the root left out. The depths tell who calls
 * whom, so that a word holds all that there is to say of a context:
 *
 *     15 bits  RUN_DEPTH_MAX + 1 - depth     33 bits  frame + 1     16 bits  weight
 *
 * Two runs are merged as two sorted lists are: of their next words the smaller one comes first, and
 * words that differ in the weight alone are the same context. That keeps preorder: the deeper of
 * two words lies below a context that came before, whose callees must all come before the other
 * word; and the deeper word is the smaller one.
 *
 * What a weight has beyond 16 bits stands in a carry behind it, a callee without a frame, so many
 * times RUN_CARRY.
 */
#ifndef HCCT_RUN_H
#define HCCT_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RUN_DEPTH_MAX 0x7ffeu
#define RUN_WEIGHT    0xffffu /* of a word */
#define RUN_CARRY     (RUN_WEIGHT + UINT64_C(1))
#define RUN_END       UINT64_MAX /* after the last word: larger than any */

/* All weights of a run together: so that no carry needs one. */
#define RUN_TOTAL_MAX (UINT64_C(1) << 31)

/* 1 <= depth <= RUN_DEPTH_MAX, weight <= RUN_WEIGHT */
static inline uint64_t run_word(uint32_t depth, uint32_t frame, uint32_t weight) {
    return (uint64_t)(RUN_DEPTH_MAX + 1 - depth) << 49 | ((uint64_t)frame + 1) << 16 | weight;
}

/* So many times RUN_CARRY for the context of that depth, whose word goes before. */
static inline uint64_t run_carry(uint32_t depth, uint32_t times) {
    return (uint64_t)(RUN_DEPTH_MAX - depth) << 49 | times;
}

/* Which context a word is of, for one that comes after the same others. */
static inline uint64_t run_key(uint64_t word) {
    return word >> 16;
}

static inline uint32_t run_depth(uint64_t word) {
    return RUN_DEPTH_MAX + 1 - (uint32_t)(word >> 49);
}

static inline uint32_t run_frame(uint64_t word) {
    return (uint32_t)((word >> 16) - 1);
}

static inline uint32_t run_weight(uint64_t word) {
    return (uint32_t)word & RUN_WEIGHT;
}

static inline bool run_is_carry(uint64_t word) {
    return (word >> 16 & UINT64_C(0x1ffffffff)) == 0;
}

/* `b` is added to `a`; both are ended by RUN_END, and so is what is written to `out`, which may
 * begin as far below one of them as the other is long. Gives the number of words, without the end.
 */
size_t run_merge(uint64_t *out, const uint64_t *a, const uint64_t *b);

#endif
