/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * period.h - when bursts of calls begin, and for how much each of them stands.
 *
 * A thread's own CPU time is divided into periods, each a whole number k of lengths of a burst.
 * Each has one burst, in one of its k lengths, all of which are equally likely: so each moment of
 * the period is seen with probability 1/k, and what is seen there counts k times. The expectation
 * of what is counted is what there was, at each moment and whatever the program does. k may be
 * another one for each period, as long as it depends on nothing but the past.
 *
 * (Stratified sampling with one draw for each stratum; Horvitz and Thompson's estimator.)
 */
#ifndef HCCT_CALLS_PERIOD_H
#define HCCT_CALLS_PERIOD_H

#include <stdint.h>

#define PERIOD_ONE 65536u /* a mean number of lengths is in such parts */

struct period {
    uint64_t end_ns; /* of the thread's own time; the next period begins there */
    uint64_t times;  /* lengths of a burst: its own stands for so many */
};

/* `period_ns` in lengths of a burst, in parts of PERIOD_ONE; at least one. */
uint64_t period_times(uint64_t length_ns, uint64_t period_ns);

/* A period that is all seen begins at `now`: its burst is all of it. */
void period_first(struct period *p, uint64_t length_ns, uint64_t now_ns);
/* No period is under way: the next one begins at `now`. */
void period_begin(struct period *p, uint64_t now_ns);

/* The next period, which has `mean` lengths on average. Gives when its burst begins: before `now`
 * where the one before has ended late. A thread that lags by more than a whole period goes on at
 * `now`. `random`: of draw_word(). Any context. */
uint64_t period_next(struct period *p, uint64_t length_ns, uint64_t mean, uint64_t now_ns,
                     uint64_t *random);

#endif
