/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * rate_test.c - R of a program that allocates at several rates: what samples take stays within its
 * part, R goes down again; and whatever R follows from the past, each block counts for what it is
 * on average, and the variance is the one that is told.
 *
 * The words of chance are the same in each run. What is counted is within five standard deviations.
 */
#include <math.h>

#include "common/tree/poisson.h"
#include "common/wire/compiler.h"
#include "common/wire/wire.h"
#include "preload/blocks/rate.h"
#include "preload/blocks/stops.h"
#include "preload/sample/draw.h"
#include "tests/check.h"

static uint64_t random_state = 7;

/* ---- how large R is ---- */

/* A phase of a program that computes: bytes for each ns of its own time, and what a sample takes.
 */
struct phase {
    double ns, bytes_per_ns, sample_ns;
};

struct run {
    uint32_t doubled;
    int64_t saved;
    double all;
};

/* What samples took, 16 in a window, or as many as there are in a tenth of a second. */
static double go_through(struct run *run, const struct phase *phase) {
    double spent = 0;
    for (double at = 0; at < phase->ns;) {
        double per_sample = (double)wire_blocks_mean(run->doubled) / phase->bytes_per_ns;
        double own = fmin(16 * per_sample, 1e8), cost = own / per_sample * phase->sample_ns;
        run->all += own * phase->bytes_per_ns;
        const struct rate_window window = {(uint64_t)own, (uint64_t)cost, (uint64_t)run->all};
        run->doubled = rate_next(run->doubled, &window, &run->saved);
        at += own;
        spent += cost;
    }
    return spent;
}

/* Samples of the first gigabytes, by an R that is no larger yet. */
#define OF_ALL 10000

static void check_budget(void) {
    const double sample_ns[] = {2000, 10000, 50000};
    for (size_t i = 0; i < HCCT_ARRAY_LEN(sample_ns); i++) {
        for (double rate = 1e-4; rate < 20; rate *= 1.7) {
            struct run run = {.saved = RATE_SAVED_NS};
            const struct phase phase = {1e10, rate, sample_ns[i]};
            double spent = go_through(&run, &phase);
            double least = rate / (double)wire_blocks_mean(RATE_DOUBLED_MAX) * sample_ns[i];
            /* what the last window has taken beyond its part is the price of 16 samples */
            double most = fmax(1.0 / RATE_PART, least) * phase.ns + RATE_SAVED_NS +
                          OF_ALL * sample_ns[i] + 32 * sample_ns[i];
            CHECK(spent <= most);
            /* and no more than half of it stays unused, where R is not as small as it may be */
            CHECK(run.doubled == 0 || spent >= phase.ns / RATE_PART / 2.5);
        }
    }
}

static void check_phases(void) {
    const struct phase loads = {3e8, 400, 5000}, serves = {2e9, 1e-3, 5000},
                       begins = {1e6, 400, 5000};
    struct run run = {.saved = RATE_SAVED_NS};
    (void)go_through(&run, &begins); /* a short phase is seen by the usual R */
    CHECK_UINT(run.doubled, RATE_DOUBLED_USUAL);
    (void)go_through(&run, &loads);
    CHECK(run.doubled == RATE_DOUBLED_MAX);
    (void)go_through(&run, &serves);
    CHECK_UINT(run.doubled, 0);
    CHECK(run.saved == RATE_SAVED_NS);
    CHECK_UINT(rate_next(3, &(struct rate_window){0, 0, 0}, &run.saved), 0);
    run.saved = INT64_MIN / 4; /* a clock may say anything */
    (void)rate_next(3, &(struct rate_window){UINT64_MAX, UINT64_MAX, UINT64_MAX}, &run.saved);
    CHECK(run.saved >= -RATE_SAVED_NS && run.saved <= RATE_SAVED_NS);
}

static void check_noted(void) {
    CHECK_UINT(rate_doubled(), 0);
    for (int i = 0; i < 2000; i++) {
        rate_spend(10000, 1, 1u << 30);
        rate_note(20000);
    }
    CHECK_UINT(rate_doubled(), RATE_DOUBLED_MAX);
    rate_spend(10000, 1, 1u << 30);
    rate_note(100000); /* too little to go by */
    CHECK_UINT(rate_doubled(), RATE_DOUBLED_MAX);
    rate_note(1000000000);
    rate_note(1000000000); /* nothing was spent in this one */
    CHECK_UINT(rate_doubled(), 0);
    rate_in_child();
    CHECK_UINT(rate_doubled(), RATE_DOUBLED_USUAL);
    rate_note(50000000);
    CHECK_UINT(rate_doubled(), RATE_DOUBLED_USUAL);
    rate_note(50000000);
    CHECK_UINT(rate_doubled(), 0);
}

/* ---- what blocks weigh ---- */

#define BLOCKS  400u
#define LARGEST 5u /* R is doubled so many times */

/* Small ones, some that are larger than R at times, and some that are always. */
static uint64_t size_of(unsigned i) {
    return i % 40 == 7 ? 3000000 : i % 10 == 3 ? 70000 : 100 + 16 * (uint64_t)(i % 50);
}

/* R follows from all that was seen up to now, as badly as can be: a sample makes it larger, a stop
 * without one smaller, and after a large block it is another one. */
static uint32_t next_doubled(uint32_t doubled, bool hit, uint64_t size) {
    if (size > 1000000)
        return hit ? 1 : 4;
    return hit ? (doubled < LARGEST ? doubled + 1 : 0) : doubled / 2;
}

struct sums {
    double weight[BLOCKS], squares[BLOCKS];         /* of each block, over all runs */
    double total, total_squares, told;              /* of all blocks */
    unsigned hits[LARGEST + 1], asked[LARGEST + 1]; /* of blocks of 70,000 */
    unsigned within;
};

static void run_once(struct sums *sums, double truth) {
    struct stops stops = {.course = {.random = draw_word(&random_state)}};
    double total = 0, told = 0;
    stops_draw(&stops, 3, true);
    for (unsigned i = 0; i < BLOCKS; i++) {
        uint64_t size = size_of(i);
        uint32_t doubled = stops.doubled;
        bool stop = size >= stops.course.left,
             hit = stop && stops_hit(&stops, size - stops.course.left);
        sums->asked[doubled] += size == 70000;
        sums->hits[doubled] += hit && size == 70000;
        if (hit) {
            uint64_t weight = course_weight(size, wire_blocks_mean(doubled));
            sums->weight[i] += (double)weight;
            sums->squares[i] += (double)weight * (double)weight;
            total += (double)weight;
            told += poisson_variance(weight, wire_blocks_mean(doubled));
        }
        if (stop)
            stops_draw(&stops, next_doubled(doubled, hit, size), true);
        else
            stops.course.left -= size;
    }
    sums->total += total;
    sums->total_squares += (total - truth) * (total - truth);
    sums->told += told;
    sums->within += fabs(total - truth) <= 1.96 * sqrt(told);
}

static void check_unbiased(void) {
    static struct sums sums;
    const unsigned n = 20000;
    double truth = 0;
    for (unsigned i = 0; i < BLOCKS; i++)
        truth += (double)size_of(i);
    for (unsigned i = 0; i < n; i++)
        run_once(&sums, truth);
    for (unsigned i = 0; i < BLOCKS; i++)
        CHECK(fabs(sums.weight[i] / n - (double)size_of(i)) <=
              5 * sqrt(sums.squares[i]) / n + 1); /* weights are whole numbers */
    for (uint32_t k = 0; k <= LARGEST; k++) {
        double p = -expm1(-70000 / (double)wire_blocks_mean(k)), asked = sums.asked[k];
        CHECK(asked > 100 && fabs(sums.hits[k] - asked * p) <= 5 * sqrt(asked * p * (1 - p)));
    }
    CHECK(fabs(sums.total / n - truth) <= 5 * sqrt(sums.total_squares) / n + BLOCKS);
    CHECK(fabs(sums.told / sums.total_squares - 1) < 0.05);
    CHECK(sums.within >= 0.9 * n && sums.within <= 0.99 * n); /* of 40 blocks, mostly */
}

/* A variance follows from a weight and R alone. */
static void check_variance(void) {
    for (uint32_t k = 0; k <= WIRE_DOUBLED_MAX; k++) {
        double mean = (double)wire_blocks_mean(k);
        for (double size = mean / 4096; size < 30 * mean; size *= 1.5) {
            double missed = exp(-size / mean), weight = size / (1 - missed);
            double got = poisson_variance((uint64_t)weight, (uint64_t)mean);
            CHECK(fabs(got - weight * weight * missed) <= 1e-3 * mean * mean);
        }
        CHECK(poisson_variance((uint64_t)mean, (uint64_t)mean) <= mean * mean);
        CHECK(poisson_variance((uint64_t)(1000 * mean), (uint64_t)mean) == 0);
    }
    CHECK(poisson_variance(0, 16384) == 0 && poisson_variance_of_number(0) == 0);
    CHECK(poisson_variance_of_number(1) == 0 && poisson_variance_of_number(7) == 42);
}

int main(void) {
    check_budget();
    check_phases();
    check_noted();
    check_unbiased();
    check_variance();
    return check_report();
}
