/*
 * brief.h - a number in 16 bits: itself below 2048, else its eleven leading bits and how many
 * follow.
 */
#ifndef HCCT_BRIEF_H
#define HCCT_BRIEF_H

#include <stdint.h>

#define BRIEF_EXACT 2048u /* what is below stands for itself */
#define BRIEF_STEP  1024u /* numbers between two powers of two */

/* Not more than `value`. */
static inline uint32_t brief_floor(uint64_t value) {
    if (value < BRIEF_EXACT)
        return (uint32_t)value;
    unsigned shift = 53u - (unsigned)__builtin_clzll(value);
    return shift * BRIEF_STEP + (uint32_t)(value >> shift);
}

/* The number that it stands for. */
static inline uint64_t brief_value(uint32_t brief) {
    if (brief < BRIEF_EXACT)
        return brief;
    unsigned shift = brief / BRIEF_STEP - 1;
    uint64_t leading = BRIEF_STEP + brief % BRIEF_STEP;
    return shift > 53 ? UINT64_MAX : leading << shift;
}

/* Not less than `value`. */
static inline uint32_t brief_ceil(uint64_t value) {
    uint32_t brief = brief_floor(value);
    return brief + (brief_value(brief) < value);
}

#endif
