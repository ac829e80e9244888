/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * course.h - which blocks are sampled: those that points of a Poisson process fall on, whose clock
 * is the bytes that a thread asks for.
 *
 * Points are R bytes apart on average, by an exponential law, which has no memory. So a block of S
 * bytes has one with probability p = 1 - exp(-S/R), whatever came before. One that has counts for
 * S/p bytes, or 1/p blocks: the expectation is what there is. Of what weighs W in all the variance
 * is sum of S^2 (1-p)/p, at most R W.
 *
 * R can be doubled: each sampled block stays with probability p(2R)/p(R) = 1/(1 + exp(-S/2R)).
 *
 * Integers only: a program may have asked for a signal at inexact results of floating point. Pure
 * functions; `random` is the state of draw_word. Any context.
 */
#ifndef HCCT_BLOCKS_COURSE_H
#define HCCT_BLOCKS_COURSE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/wire/wire.h"

#define COURSE_MEAN        WIRE_BLOCKS_MEAN
#define COURSE_DOUBLED_MAX 20u

/* R, after it was doubled so many times. */
static inline uint64_t course_mean(uint32_t doubled) {
    return (uint64_t)COURSE_MEAN << doubled;
}

/* Bytes up to the next point and with the one that it lies in, at least 1. */
uint64_t course_gap(uint32_t doubled, uint64_t *random);

/* S/p of a block of `size` > 0. */
uint64_t course_bytes(uint64_t size, uint32_t doubled);

/* 1/p, rounded up or down by chance. */
uint64_t course_blocks(uint64_t size, uint32_t doubled, uint64_t *random);

/* R is doubled once more than `doubled` times: whether a sampled block stays. */
bool course_stays(uint64_t size, uint32_t doubled, uint64_t *random);

#endif
