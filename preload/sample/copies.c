/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * copies.c - how much time the largest copy of late needs until there is room for the next one.
 *
 * That is a power of two times FULL_NS / 8, and only grows until the copies have ended: a course
 * that began anew with each size would not be a course. Where a copy found no room, because the
 * daemon waits for a processor longer than that, it grows, too.
 *
 * A course that is left right after a point has credited more than has passed, by 13/24 of its mean
 * on average: a course begins within a step, which its first point weighs as a whole. So the course
 * ends at a time that none of its points decides about, and where it gets a larger mean it goes on
 * so often, instead of beginning anew, that this is made up for.
 */
#include "preload/sample/copies.h"

#include "preload/sample/draw.h"

#define FULL_NS    8000000 /* in which the daemon empties a ring where it gets a processor ... */
#define LONGEST_NS (8 * FULL_NS) /* ... and where it has to wait for one */
#define ENDED      4             /* steps without a copy: the daemon has the tables now */

static uint64_t longer(uint64_t mean) {
    return mean < FULL_NS ? FULL_NS : mean < LONGEST_NS ? 2 * mean : mean;
}

static uint64_t spacing(uint32_t words) {
    uint64_t spacing = FULL_NS / 8;
    while (spacing < FULL_NS && words * (uint64_t)FULL_NS > spacing * WALK_WORDS)
        spacing *= 2;
    return spacing;
}

/* What the course has credited too much by now, on average, where it has come to a point `passed`
 * of its time ago. */
static uint64_t ahead(uint64_t mean, uint64_t passed) {
    uint64_t most = mean * 13 / 24;
    return most > passed ? most - passed : 0;
}

/* With the mean f1 the course is ahead by a. Beginning anew with f2 leaves that as it is, and going
 * on credits 13/24 (f2 - f1) too little from here on: so it goes on with probability
 * a / (a + 13/24 (f2 - f1)). */
static void widen(struct copies *copies, uint64_t mean, uint64_t *random) {
    const uint64_t drawn[INTERVAL_WORDS] = {draw_word(random), draw_word(random)};
    uint64_t before = copies->points.course.mean_ns,
             passed = copies->points.course.step_ns - copies->points.until_ns;
    uint64_t a = ahead(before, passed), behind = ahead(mean, 0) - ahead(before, 0);
    bool goes_on = draw_below(draw_word(random), a + behind) < a;
    copies->points.until_ns = interval_begin(&copies->points.course, mean, 1, drawn);
    if (goes_on)
        copies->points.until_ns = interval_next(&copies->points.course, 1, drawn[0]) - passed;
}

void copies_walked(struct copies *copies, uint32_t words, uint64_t *random) {
    if (words == 0)
        return;
    uint64_t before = copies->points.course.mean_ns;
    uint64_t mean = words == COPIES_NO_ROOM ? longer(before) : spacing(words);
    copies->quiet_ns = 0;
    if (mean > before)
        widen(copies, mean, random);
}

static bool have_ended(struct copies *copies, uint64_t weight) {
    copies->quiet_ns += weight;
    return copies->quiet_ns > ENDED * copies->points.course.mean_ns;
}

uint64_t copies_weight(struct copies *copies, uint64_t weight, uint64_t *random) {
    if (copies->points.course.mean_ns == 0)
        return weight;
    if (have_ended(copies, weight)) {
        *copies = (struct copies){0};
        return weight;
    }
    if (weight >= copies->points.course.mean_ns)
        return weight;
    return thinning_pass(&copies->points, weight, random);
}
