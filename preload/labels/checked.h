/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * checked.h - reading what the application has written for others, byte by byte, that may not be
 * there. Signal context.
 */
#ifndef HCCT_LABELS_CHECKED_H
#define HCCT_LABELS_CHECKED_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/sample/stack.h"

struct checked {
    struct stack_probe *probe; /* that of the walk being made; NULL: each word is read by itself */
    uint64_t low, high;        /* what is known to be there */
    uint64_t at, word;         /* the last word that was read; at 0: none */
    bool failed;               /* something was not there */
};

static inline uint64_t checked_word(struct checked *c, uint64_t at) {
    uint64_t word = 0;
    if (at >= c->low && at < c->high && (at & 7) == 0)
        return *(const volatile uint64_t *)at;
    c->failed |=
        c->probe != NULL ? !stack_read(c->probe, at, &word) : !stack_copy(&word, at, sizeof word);
    return word;
}

/* 0 of what is not there. */
static inline uint8_t checked_byte(struct checked *c, uint64_t at) {
    if (c->at != (at & ~7ull)) {
        c->at = at & ~7ull;
        c->word = checked_word(c, c->at);
    }
    return (uint8_t)(c->word >> 8 * (at & 7));
}

static inline uint64_t checked_number(struct checked *c, uint64_t at, unsigned bytes) {
    uint64_t number = 0;
    for (unsigned i = 0; i < bytes; i++)
        number |= (uint64_t)checked_byte(c, at + i) << 8 * i; /* both machines' order */
    return number;
}

#endif
