/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * course.h - which events are sampled: those that points of a Poisson process fall on, whose clock
 * is what events of a thread are long: the bytes that it asks for, or the time that it waits.
 *
 * Points are R apart on average, by an exponential law, which has no memory. So an event of length
 * S has one with probability p = 1 - exp(-S/R), whatever came before. One that has counts for S/p,
 * or for 1/p events: the expectation is what there is. Of what weighs W in all the variance is sum
 * of S^2 (1-p)/p, at most R W.
 *
 * R can be doubled: each sampled event stays with probability p(2R)/p(R) = 1/(1 + exp(-S/2R)).
 *
 * Integers only: a program may have asked for a signal at inexact results of floating point. Pure
 * functions, but course_begin; `random` is the state of draw_word, `mean` is R. Any context.
 */
#ifndef HCCT_COURSE_H
#define HCCT_COURSE_H

#include <stdbool.h>
#include <stdint.h>

/* Of a thread; all zero before its first event. */
struct course {
    uint64_t left; /* up to the next point, with the unit that it lies in */
    uint64_t random;
    int process; /* that it is of: a child of fork begins anew */
    bool begun;
};

/* Chance begins for a thread, otherwise than for any other, in any other process and run. */
void course_begin(struct course *course);

/* Up to the next point and with the unit that it lies in, at least 1. */
uint64_t course_gap(uint64_t mean, uint64_t *random);

/* S/p of an event of `size` > 0. */
uint64_t course_weight(uint64_t size, uint64_t mean);

/* S/p, where the clock had `length` for the event, and p follows from that. */
uint64_t course_weight_beside(uint64_t size, uint64_t length, uint64_t mean);

/* 1/p, rounded up or down by chance. */
uint64_t course_number(uint64_t size, uint64_t mean, uint64_t *random);

/* R, which is `mean`, is doubled so many times: whether a sampled event stays. */
bool course_stays(uint64_t size, uint64_t mean, uint32_t times, uint64_t *random);

#endif
