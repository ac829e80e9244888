/*
 * draw.h - the laws of chance that sampling goes by, as pure functions of a random word.
 *
 * A sample of weight w that is taken with probability p at some point of a thread's CPU time has
 * the expectation p w there. All laws here keep that expectation at 1 per unit of CPU time, for
 * every point and whatever the program does; draw_test.c tries all draws.
 *
 * Sample points. The kernel serves a CPU timer at its own ticks, H apart, whose phase against the
 * thread is uniform. With one point in each period P >= H, a tick at x serves the points in
 * (x - H, x]. So points have to be spread with density 1/P from -H on, not from 0 on, where the
 * thread begins: of those below 0, the ticks before the thread began would have served some. A
 * point e < 0 is left for the tick at x if x - H < e. The first point is uniform in [-H, P - H).
 *
 * Russian roulette (the term is that of Monte Carlo transport codes). A sample whose weight w is
 * less than it should be to be worth its price is taken with probability w/R and weighs R then.
 */
#ifndef HCCT_DRAW_H
#define HCCT_DRAW_H

#include <stdint.h>

/* The next word of a generator (splitmix64), any state will do. Any context. */
uint64_t draw_word(uint64_t *state);

/* Uniform in [0, limit). Any context. */
uint64_t draw_below(uint64_t random, uint64_t limit);

/* The first sample point of a thread whose CPU time counts from 0 on, uniform in
 * [-tick, period - tick). Where a tick of the kernel has just passed at 0, `tick` is 0. */
int64_t draw_first_point(uint64_t random, uint64_t period, uint64_t tick);

/* How many of the points first, first + period, ... the thread's first tick serves, which has come
 * at `at`. */
uint64_t draw_first_points(int64_t first, uint64_t period, uint64_t tick, uint64_t at);

/* Time from `at` to the first point after it. */
uint64_t draw_next_point(int64_t first, uint64_t period, uint64_t at);

/* The weight of a sample that should weigh `weight` and at least `least`; 0: it is not to be taken.
 */
uint64_t draw_roulette(uint64_t random, uint64_t weight, uint64_t least);

/* Above the kernel's rate the first tick starts a fine timer, whose samples weigh `fine` each and
 * begin `fine` after it. What the tick at `at` weighs, `at` counted from where ticks could come at
 * first. A point there is also reached by the fine samples of each start at `fine`, 2 `fine`, ...
 * before it, which have the same density as the tick. */
uint64_t draw_start_weight(uint64_t tick, uint64_t fine, uint64_t at);

#endif
