/* SPDX-License-Identifier: LGPL-3.0-or-later */
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
 * First ticks, where the CPU timer alone samples. The kernel serves CPU timers at its own ticks, H
 * apart, whose phase against a thread is one of chance, so there is one at each point of its CPU
 * time with density 1/H. A periodic timer makes each stand for the CPU time since the one before
 * it, H on average; and the first one, which comes at x < H, for H. Where the thread has left the
 * processor meanwhile, ticks have another phase since, and the first one may come later: it stands
 * for x and for what a thread that is always on its way had behind it at the beginning, H on
 * average when it leaves often. (That each tick stood for H would be right as well if ticks came
 * independently of the scheduler, which they do not: on a busy machine threads had 0.85 to 1.45 of
 * the ticks that their CPU time is worth.)
 */
#ifndef HCCT_DRAW_H
#define HCCT_DRAW_H

#include <stdint.h>

/* The next word of a generator (splitmix64), any state will do. Any context. */
uint64_t draw_word(uint64_t *state);

/* Uniform in [0, limit). Any context. */
uint64_t draw_below(uint64_t random, uint64_t limit);

/* The weight of a sample that should weigh `weight` and at least `least`; 0: it is not to be taken.
 */
uint64_t draw_roulette(uint64_t random, uint64_t weight, uint64_t least);

/* What the first tick of a thread stands for, at `at` of its CPU time, after it has left the
 * processor `switches` times. */
uint64_t draw_first_weight(uint64_t tick, uint64_t at, uint64_t switches);

/* A tick that starts a fine timer, whose samples have the density 1/f from there on and weigh f
 * each. What it weighs at `at`, counted from where ticks could come at first, or from where the
 * thread came back to a processor last: what is left of H, as the samples of each start before it,
 * of density 1/H, reach that point as well. */
uint64_t draw_start_weight(uint64_t tick, uint64_t at);

#endif
