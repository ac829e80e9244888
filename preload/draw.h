/*
 * draw.h - the laws of chance that sampling goes by, as pure functions of a random word.
 *
 * A sample of weight w that is taken with probability p at some point of a thread's CPU time has
 * the expectation p w there. All laws here keep that expectation at 1 per unit of CPU time, for
 * every point and whatever the program does; draw_test.c tries all draws.
 *
 * Russian roulette (the term is that of Monte Carlo transport codes). A sample whose weight w is
 * less than it should be to be worth its price, R, is taken with probability w/R and weighs R then.
 *
 * First ticks. The kernel serves CPU timers at its own ticks, H apart, whose phase against a thread
 * is one of chance, and again so each time that the thread comes back to a processor. So at each
 * point of its CPU time there is a tick with density 1/H, and a tick that stands for H is right
 * wherever it comes. A periodic timer makes each tick stand for the CPU time since the one before
 * it, which is H on average, but not in the beginning of a thread, where there is none before: a
 * thread that shares its processor would lose 0.6 H. So ticks stand for H until a thread is
 * DRAW_YOUNG_TICKS old, when hardly one is still without a tick.
 */
#ifndef HCCT_DRAW_H
#define HCCT_DRAW_H

#include <stdint.h>

#define DRAW_YOUNG_TICKS 4u

/* The next word of a generator (splitmix64), any state will do. Any context. */
uint64_t draw_word(uint64_t *state);

/* Uniform in [0, limit). Any context. */
uint64_t draw_below(uint64_t random, uint64_t limit);

/* The weight of a sample that should weigh `weight` and at least `least`; 0: it is not to be taken.
 */
uint64_t draw_roulette(uint64_t random, uint64_t weight, uint64_t least);

/* Still young, at the age `at`. */
static inline int draw_is_young(uint64_t tick, uint64_t at) {
    return at < DRAW_YOUNG_TICKS * tick;
}

/* What a tick at the age `at` stands for, up to the first one at which the thread is not young any
 * more; `last` is the tick before it, 0: none. */
uint64_t draw_tick_weight(uint64_t tick, uint64_t at, uint64_t last);

/* Above the kernel's rate the first tick starts a fine timer, whose samples weigh `fine` each and
 * begin `fine` after it. What the tick at `at` weighs, `at` counted from where ticks could come at
 * first, or from where the thread came back to a processor last. A point there is also reached by
 * the fine samples of each start at `fine`, 2 `fine`, ... before it, which have the same density as
 * the tick. */
uint64_t draw_start_weight(uint64_t tick, uint64_t fine, uint64_t at);

#endif
