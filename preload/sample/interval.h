/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * interval.h - the law of the steps between sample points on a thread's CPU clock.
 *
 * A step is uniform between a half and three halves of its mean, so that points do not fall into
 * step with what the program does. A timer that need not be set again costs less: then a step is
 * taken several times in a row (a block), and as often what it lacks to twice the mean, so that a
 * pair of blocks is always equally long, and the number of points is not left to chance.
 *
 * A course that begins anywhere begins as if it had always been going on. So the density of points
 * is 1 / mean at every moment from the first one on, and each point weighs its step: the proof is
 * in doc/sampling.md.
 *
 * Pure functions; `word` is 64 random bits. Any context.
 */
#ifndef HCCT_INTERVAL_H
#define HCCT_INTERVAL_H

#include <stdbool.h>
#include <stdint.h>

struct interval_course {
    uint64_t mean_ns; /* > 1 */
    uint64_t step_ns; /* of the point that comes next: what it weighs */
    uint32_t block;   /* points in a block: 1, or as many in each block of a pair */
    uint32_t left;    /* points of this block after the one that comes next */
    bool paired;      /* the other block of the pair is still to come */
};

/* Uniform in [mean / 2, mean * 3 / 2). */
uint64_t interval_draw(uint64_t mean_ns, uint64_t word);
/* The same steps, drawn in proportion to their length. */
uint64_t interval_draw_by_length(uint64_t mean_ns, uint64_t word);

#define INTERVAL_WORDS 2

/* The course begins: the time to the first point. Blocks have `block` points, at least one. */
uint64_t interval_begin(struct interval_course *course, uint64_t mean_ns, uint32_t block,
                        const uint64_t word[INTERVAL_WORDS]);
/* The step that comes after the next point will be a new one: the course doesn't depend on what
 * else is chosen here. */
bool interval_is_over(const struct interval_course *course);
/* A point was reached: the time from it to the next one. Where the course is over, the next blocks
 * have `block` points; what that depends on has to lie in the past. */
uint64_t interval_next(struct interval_course *course, uint32_t block, uint64_t word);

#endif
