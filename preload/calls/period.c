/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * period.c - draws of periods: see period.h for their law.
 */
#include "preload/calls/period.h"

#include "common/wire/wire.h"
#include "preload/sample/draw.h"

uint64_t period_times(uint64_t length_ns, uint64_t period_ns) {
    uint64_t most = (uint64_t)WIRE_BURST_MAX * PERIOD_ONE;
    if (length_ns == 0 || period_ns <= length_ns)
        return PERIOD_ONE;
    unsigned __int128 times = (unsigned __int128)period_ns * PERIOD_ONE / length_ns;
    return times < most ? (uint64_t)times : most;
}

void period_first(struct period *p, uint64_t length_ns, uint64_t now_ns) {
    *p = (struct period){.end_ns = now_ns + length_ns, .times = 1};
}

void period_begin(struct period *p, uint64_t now_ns) {
    *p = (struct period){.end_ns = now_ns, .times = 1};
}

/* A whole number, `mean` on average. */
static uint64_t whole(uint64_t mean, uint64_t *random) {
    uint64_t times = mean / PERIOD_ONE;
    return times + (draw_below(draw_word(random), PERIOD_ONE) < mean % PERIOD_ONE);
}

uint64_t period_next(struct period *p, uint64_t length_ns, uint64_t mean, uint64_t now_ns,
                     uint64_t *random) {
    uint64_t times = whole(mean, random), start = p->end_ns;
    if (start + times * length_ns < now_ns)
        start = now_ns;
    p->times = times;
    p->end_ns = start + times * length_ns;
    return start + draw_below(draw_word(random), times) * length_ns;
}
