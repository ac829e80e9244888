/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * recent.h - numbers that a thread was given not long ago, each with all that it hangs on: where
 * the caller stands, the words of the stack that the way from there led through, and the open call
 * with a number that it has met, or none where it was the root. A step of a walk is a function of
 * these (sample/memo.h), so while they are the same the number is.
 */
#ifndef HCCT_CONTEXT_RECENT_H
#define HCCT_CONTEXT_RECENT_H

#include <stdint.h>

#define CONTEXT_RECENT_BITS  6u
#define CONTEXT_RECENT       (1u << CONTEXT_RECENT_BITS)
#define CONTEXT_RECENT_WORDS 124u

struct context_word {
    uint64_t place, word;
};

struct context_recent {
    uint64_t pc, sp, fp; /* of the caller; pc 0: nothing */
    uint64_t met;        /* the place of the open call's return address; 0: the root was met */
    uint64_t met_number; /* that the open call has */
    uint64_t number;
    uint64_t n; /* words */
    uint64_t unused;
    struct context_word word[CONTEXT_RECENT_WORDS]; /* innermost first */
};

static inline uint32_t context_recent_place(uint64_t pc, uint64_t sp) {
    return (uint32_t)((pc ^ sp << 20) * 0x9e3779b97f4a7c15ull >> (64 - CONTEXT_RECENT_BITS));
}

/* Words on the thread's own stack, above its stack pointer, are as they were. */
static inline int context_recent_words_hold(const struct context_recent *recent) {
    uint64_t n = recent->n, different = 0;
    for (uint64_t i = 0; i < n; i++)
        different |= *(const volatile uint64_t *)recent->word[i].place ^ recent->word[i].word;
    return different == 0;
}

#endif
