/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * points_test.c - the weight credited at the points of a plan is the CPU time, from the first
 * moment on: without an end, in bursts, in bursts that touch; looked for at once or late, put off
 * or not. Draws are many and their generator begins with a constant, so each run sees the same.
 */
#include <math.h>
#include <stdint.h>

#include "preload/sample/points.h"
#include "preload/sample/ticker.h"
#include "tests/check.h"

#define DRAWS 200000
#define BINS  40
#define US    1000u

static uint64_t random_state = 20150613;

/* Steps are not as long as the kernel's tick here, but where they are. */
uint64_t ticker_resolution(void) {
    return 4000 * US;
}

static const struct {
    const char *name;
    struct sampling_plan plan;
    uint64_t since;
} cases[] = {
    {"endless", {.fine_ns = 200 * US, .length_ns = SAMPLING_ENDLESS}, 0},
    {"endless, from later on", {.fine_ns = 200 * US, .length_ns = SAMPLING_ENDLESS}, 77 * US},
    {"long steps", {.fine_ns = 5000 * US, .length_ns = SAMPLING_ENDLESS}, 0},
    {"bursts", {.fine_ns = 100 * US, .length_ns = 400 * US, .coarse_ns = 4000 * US}, 0},
    {"bursts, from later on",
     {.fine_ns = 100 * US, .length_ns = 400 * US, .coarse_ns = 4000 * US},
     12345 * US},
    {"bursts that touch", {.fine_ns = 100 * US, .length_ns = 800 * US, .coarse_ns = 1000 * US}, 0},
    {"bursts shorter than a step",
     {.fine_ns = 300 * US, .length_ns = 100 * US, .coarse_ns = 1000 * US},
     0},
};

/* The mean of what is credited in each bin, is the bin. */
static void test_density(size_t which) {
    const struct sampling_plan *plan = &cases[which].plan;
    bool endless = plan_is_endless(plan);
    uint64_t range = 4 * (endless ? plan->fine_ns : plan->coarse_ns), bin = range / BINS;
    double sum[BINS] = {0}, squares[BINS] = {0};
    for (int draw = 0; draw < DRAWS; draw++) {
        uint64_t weight[BINS] = {0}, since = cases[which].since, end = since + range;
        struct points points;
        points_begin(&points, plan, since, &random_state);
        for (uint64_t at; (at = points_next(&points)) < end;)
            weight[(at - since) / bin] += points_reach(&points, plan, at, &random_state);
        for (int i = 0; i < BINS; i++) {
            sum[i] += (double)weight[i];
            squares[i] += (double)weight[i] * (double)weight[i];
        }
    }
    for (int i = 0; i < BINS; i++) {
        double mean = sum[i] / DRAWS;
        double error = sqrt((squares[i] / DRAWS - mean * mean) / DRAWS);
        CHECK(fabs(mean - (double)bin) <= 5 * error + 0.002 * (double)bin);
    }
}

static void test_far_behind(void) {
    const struct sampling_plan plan = {.fine_ns = 100 * US, .length_ns = SAMPLING_ENDLESS};
    struct points points;
    points_begin(&points, &plan, 0, &random_state);
    uint64_t hour = 3600 * SECOND_NS, got = points_reach(&points, &plan, hour, &random_state);
    CHECK(got >= hour - 4 * plan.fine_ns && got <= hour + 4 * plan.fine_ns);
    CHECK(points_next(&points) > hour && points_next(&points) < hour + 2 * plan.fine_ns);
}

static void test_put_off(void) {
    const struct sampling_plan plans[] = {
        {.fine_ns = 100 * US, .length_ns = SAMPLING_ENDLESS},
        {.fine_ns = 100 * US, .length_ns = 400 * US, .coarse_ns = 1000 * US}};
    for (size_t i = 0; i < 2; i++)
        for (int draw = 0; draw < 100; draw++) {
            struct points points;
            points_begin(&points, &plans[i], 0, &random_state);
            points_reach(&points, &plans[i], 777 * US, &random_state);
            uint64_t next = points_next(&points);
            points_put_off(&points, 5000 * US);
            CHECK(points_next(&points) == next + 5000 * US);
        }
}

int main(void) {
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        test_density(i);
    test_far_behind();
    test_put_off();
    return check_report();
}
