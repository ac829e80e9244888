/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * interval.c - steps from random words, by the inverse of their distribution.
 */
#include "preload/sample/interval.h"

/* Uniform in [0, whole). */
static uint64_t part(uint64_t whole, uint64_t word) {
    return (uint64_t)((unsigned __int128)whole * word >> 64);
}

uint64_t interval_draw(uint64_t mean_ns, uint64_t word) {
    return mean_ns - mean_ns / 2 + part(mean_ns, word);
}

static uint64_t square_root(uint64_t of) {
    uint64_t root = 0;
    for (uint64_t bit = 1ull << 31; bit != 0; bit >>= 1)
        if ((root + bit) * (root + bit) <= of)
            root += bit;
    return root;
}

/* The distribution is (s^2 - m^2/4) / 2 m^2 between m/2 and 3m/2. Solved for s in units of m, so
 * that nothing overflows. */
uint64_t interval_draw_by_length(uint64_t mean_ns, uint64_t word) {
    const uint64_t one = 1ull << 62; /* of s^2; its root is of 2^31 to m */
    uint64_t root = square_root(one / 4 + 2 * (word >> 2));
    uint64_t step = (uint64_t)((unsigned __int128)mean_ns * root >> 31);
    return step > 0 ? step : 1;
}

/* A pair is as long as all others: any place in it is as likely. */
static uint64_t begin_in_pair(struct interval_course *course, const uint64_t word[INTERVAL_WORDS]) {
    uint64_t step = interval_draw(course->mean_ns, word[0]), length = course->block * step;
    uint64_t place = part(2 * course->block * course->mean_ns, word[1]);
    course->paired = place < length;
    if (!course->paired) {
        place -= length;
        step = 2 * course->mean_ns - step;
    }
    course->step_ns = step;
    course->left = course->block - 1 - (uint32_t)(place / step);
    return step - place % step;
}

uint64_t interval_begin(struct interval_course *course, uint64_t mean_ns, uint32_t block,
                        const uint64_t word[INTERVAL_WORDS]) {
    *course = (struct interval_course){.mean_ns = mean_ns, .block = block};
    if (block > 1)
        return begin_in_pair(course, word);
    course->step_ns = interval_draw_by_length(mean_ns, word[0]);
    return course->step_ns - part(course->step_ns, word[1]);
}

bool interval_is_over(const struct interval_course *course) {
    return course->left == 0 && !course->paired;
}

uint64_t interval_next(struct interval_course *course, uint32_t block, uint64_t word) {
    if (course->left > 0) {
        course->left--;
        return course->step_ns;
    }
    if (course->paired) {
        course->step_ns = 2 * course->mean_ns - course->step_ns;
    } else {
        course->step_ns = interval_draw(course->mean_ns, word);
        course->block = block;
    }
    course->paired = !course->paired && course->block > 1;
    course->left = course->block - 1;
    return course->step_ns;
}
