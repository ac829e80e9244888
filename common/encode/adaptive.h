/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * adaptive.h - encodings that follow a program: each time that it pays, a new one, with a time
 * stamp.
 *
 * New edges begin without a code. Which calls are frequent is known from samples, one call in so
 * many; calls by edges without a code are all counted, as they do more than others anyway. A new
 * encoding is due (DACCE, section 4) when
 *   - there are many more edges than the last one knew, or
 *   - calls by edges that it does not know have cost as much as a new one does, or
 *   - of the sampled calls many more would have the code 0 than have it.
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
    uint64_t by_unknown; /* calls by edges that the encoding in force does not know */
    uint32_t samples;    /* since the last judgement */
    bool pays;           /* by that */
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

/* A call that went through the stack. */
static inline void adaptive_push(struct adaptive *adaptive, uint32_t edge) {
    adaptive->by_unknown += edge > adaptive_now(adaptive)->edges;
}
/* A sampled call. */
void adaptive_sample(struct adaptive *adaptive, uint32_t edge);

bool adaptive_is_due(const struct adaptive *adaptive);
/* A new encoding is in force. All contexts have to be translated from the one before. */
void adaptive_renew(struct adaptive *adaptive);

#endif
