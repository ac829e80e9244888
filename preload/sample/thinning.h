/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * thinning.h - of samples that weigh less than a point, some stand for the others.
 *
 * Those are taken that points of an interval course (interval.h) fall on, which lie on the sum of
 * all weights; a taken one weighs the steps of its points. So each sample is taken with a chance in
 * proportion to its weight, and what is taken never differs from what has come by more than two
 * steps, however many there were. (Decided for each by itself, by roulette, N of some hundred ticks
 * was off by 2 % and more.)
 */
#ifndef HCCT_THINNING_H
#define HCCT_THINNING_H

#include <stdint.h>

#include "preload/sample/interval.h"

/* All zero: it has yet to begin. */
struct thinning {
    struct interval_course course;
    uint64_t until_ns; /* to its next point, in weight */
};

/* What a sample of that weight is to weigh, where the others weigh `mean_ns` on average; 0: it is
 * not taken. One that weighs as much anyway stands for itself. `random`: the state of the thread's
 * draws. On the thread, any context. */
uint64_t thinning_weight(struct thinning *thinning, uint64_t weight, uint64_t mean_ns,
                         uint64_t *random);

/* The points that so much weight passes, once it has begun: the sum of their steps. The same. */
uint64_t thinning_pass(struct thinning *thinning, uint64_t weight, uint64_t *random);

#endif
