/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * adaptive.h - encodings that follow a program: each time that it pays, a new one, with a time
 * stamp.
 *
 * New edges begin without a code. Which calls are frequent is known from samples, one call in so
 * many. A new encoding is due when there are many more edges than the last one knew, when samples
 * say that many calls are by edges that it does not know, or when calls have become dearer than
 * they were right after it: more of them are added or go through the stack. (DACCE, section 4.)
 * What was sampled before counts half as much at each new encoding.
 *
 * An encoding is kept for good under its time stamp, so that contexts of any time can be decoded.
 *
 * Not locked. Without memory the program ends (memory.h).
 */
#ifndef HCCT_ADAPTIVE_H
#define HCCT_ADAPTIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/encode/context.h"

struct adaptive {
    struct call_edges graph;
    struct encoding **encoding; /* by time stamp */
    uint32_t encodings, room;   /* the last one is in force */
    unsigned id_bits;
    uint32_t samples;        /* since the last judgement ... */
    uint32_t unknown, price; /* ... of these by edges that the encoding does not know; of all */
    double first_price;      /* of a call, by the first judgement of the encoding in force;
                              * negative: there was none */
    bool is_dear;            /* the last judgement asks for a new encoding */
};

/* With an encoding of no edges, of time stamp 0. */
void adaptive_start(struct adaptive *adaptive, unsigned id_bits);
void adaptive_end(struct adaptive *adaptive);

static inline uint32_t adaptive_time(const struct adaptive *adaptive) {
    return adaptive->encodings - 1;
}
static inline const struct encoding *adaptive_now(const struct adaptive *adaptive) {
    return adaptive->encoding[adaptive_time(adaptive)];
}

/* A sampled call: by which edge, and what it did. */
void adaptive_sample(struct adaptive *adaptive, uint32_t edge, enum context_step step);

bool adaptive_is_due(const struct adaptive *adaptive);
/* A new encoding is in force. All contexts have to be translated from the one before. */
void adaptive_renew(struct adaptive *adaptive);

#endif
