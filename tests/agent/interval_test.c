/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * interval_test.c - the law of steps, by all values of its random words in a grid: nothing is left
 * to chance. From the first moment on, the density of points is 1 / mean and the weight credited is
 * the time.
 */
#include <math.h>
#include <stdint.h>

#include "preload/sample/interval.h"
#include "tests/check.h"

#define MEAN  64u
#define GRID  256u /* values of each word */
#define RANGE (40u * MEAN)

/* Value `i` of the grid, in the middle of what it stands for. */
static uint64_t word(unsigned i) {
    return (uint64_t)i * (UINT64_MAX / GRID + 1) + UINT64_MAX / GRID / 2;
}

static double points[RANGE], weights[RANGE], over[RANGE];

/* Goes on with what has been drawn until something has to be drawn again. */
static void follow(struct interval_course course, uint64_t at, double probability) {
    for (;;) {
        if (at >= RANGE)
            return;
        points[at] += probability;
        weights[at] += probability * (double)course.step_ns;
        if (interval_is_over(&course))
            break;
        at += interval_next(&course, 1, 0);
    }
    over[at] += probability;
}

static void begin(unsigned block) {
    for (unsigned i = 0; i < GRID; i++)
        for (unsigned k = 0; k < GRID; k++) {
            struct interval_course course;
            const uint64_t words[INTERVAL_WORDS] = {word(i), word(k)};
            uint64_t first = interval_begin(&course, MEAN, block, words);
            CHECK(first >= 1 && first <= course.step_ns);
            follow(course, first, 1.0 / GRID / GRID);
        }
}

static void go_on(unsigned block) {
    for (unsigned at = 0; at < RANGE; at++)
        for (unsigned i = 0; over[at] > 0 && i < GRID; i++) {
            struct interval_course course = {.mean_ns = MEAN, .block = block};
            uint64_t step = interval_next(&course, block, word(i));
            follow(course, at + step, over[at] / GRID);
        }
}

static void check_law(unsigned block, double slack) {
    double worst_density = 0, worst_weight = 0;
    for (unsigned i = 0; i < RANGE; i++)
        points[i] = weights[i] = over[i] = 0;
    begin(block);
    go_on(block);
    for (unsigned at = 1; at + MEAN <= RANGE; at += MEAN / 4) {
        double density = 0, weight = 0;
        for (unsigned i = 0; i < MEAN / 4; i++) {
            density += points[at + i];
            weight += weights[at + i];
        }
        density = fabs(4 * density - 1);
        weight = fabs(4 * weight / MEAN - 1);
        worst_density = density > worst_density ? density : worst_density;
        worst_weight = weight > worst_weight ? weight : worst_weight;
    }
    printf("blocks of %u: density %.4f off, weight %.4f off\n", block, worst_density, worst_weight);
    CHECK(worst_density < slack);
    CHECK(worst_weight < slack);
}

static void check_steps(void) {
    double sum = 0, by_length = 0;
    for (unsigned i = 0; i < GRID; i++) {
        uint64_t step = interval_draw(1000000, word(i)), biased;
        biased = interval_draw_by_length(1000000, word(i));
        CHECK(step >= 500000 && step < 1500000);
        CHECK(biased >= 500000 && biased <= 1500000);
        sum += (double)step / GRID;
        by_length += (double)biased / GRID;
    }
    CHECK(fabs(sum - 1e6) < 1e3);
    CHECK(fabs(by_length - 1e6 * 13 / 12) < 1e3); /* E s^2 / E s */
}

/* The number of points of a pair is not left to chance. */
static void check_pairs(void) {
    for (unsigned i = 0; i < GRID; i++) {
        struct interval_course course = {.mean_ns = 1000003, .block = 1};
        uint64_t sum = 0;
        for (unsigned k = 0; k < 32; k++)
            sum += interval_next(&course, 16, word(i));
        CHECK_UINT(sum, 32u * 1000003u);
        CHECK(interval_is_over(&course));
    }
}

static void check_extremes(void) {
    static const uint64_t means[] = {2, 100000, 4000000, 1000000000, 3600000000000};
    for (unsigned i = 0; i < sizeof means / sizeof means[0]; i++)
        for (unsigned k = 0; k < 4; k++) {
            const uint64_t words[] = {k & 1 ? UINT64_MAX : 0, k & 2 ? UINT64_MAX : 0};
            struct interval_course course;
            for (uint32_t block = 1; block <= 16; block += 15) {
                uint64_t first = interval_begin(&course, means[i], block, words);
                CHECK(first >= 1 && first <= course.step_ns);
                CHECK(course.step_ns <= means[i] + means[i] / 2 + 1);
                CHECK(interval_next(&course, block, words[0]) >= means[i] / 2);
            }
        }
}

int main(void) {
    check_steps();
    check_pairs();
    check_extremes();
    check_law(1, 0.02);
    check_law(16, 0.02);
    check_law(4, 0.02);
    return check_report();
}
