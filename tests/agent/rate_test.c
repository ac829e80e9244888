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
#include "preload/blocks/sites.h"
#include "preload/blocks/stops.h"
#include "preload/sample/draw.h"
#include "tests/check.h"

static uint64_t random_state = 7;

/* ---- how large R is ---- */

/* A phase of a program that computes: bytes for each ns of its own time, at one place and at some
 * that allocate little, and what a sample and a stop take. */
struct phase {
    double ns, bytes_per_ns, little_per_ns, sample_ns, stop_ns;
};

struct run {
    struct rate_level level;
    double all, met, age, few; /* samples where little is allocated */
};

static const struct run begins = {.level = {0, RATE_QUOTA_NONE, RATE_SAVED_NS}};

static uint32_t limit_of(double all) {
    uint32_t most = RATE_DOUBLED_USUAL;
    while (most < RATE_DOUBLED_MAX && (double)wire_blocks_mean(most + 1) <= all / RATE_ALL_PART)
        most++;
    return most;
}

/* By R of the place that allocates much. */
static uint32_t doubled_there(const struct run *run) {
    uint32_t doubled = sites_doubled((uint64_t)run->met, run->level.quota);
    uint32_t limit = limit_of(run->all);
    doubled = doubled < limit ? doubled : limit;
    return doubled > run->level.doubled ? doubled : run->level.doubled;
}

static void grow_old(struct run *run, double ns) {
    run->age += ns;
    if (run->age >= 1e8) {
        run->age = 0;
        run->met /= 2;
    }
}

/* How long a window is: 16 samples, or a tenth of a second, and a hundredth at least, if it does
 * not become dear before that. */
static double window_ns(const struct run *run, double samples, double cost) {
    double half = (double)run->level.saved_ns / 2;
    return fmin(fmin(fmax(16 / samples, 1e7), 1e8), fmax(half, RATE_DEAR_NS) / cost);
}

/* What samples and stops took. */
static double go_through(struct run *run, const struct phase *phase) {
    double spent = 0;
    for (double at = 0; at < phase->ns;) {
        double mean = (double)wire_blocks_mean(run->level.doubled);
        double few = phase->little_per_ns / mean,
               samples = phase->bytes_per_ns / (double)wire_blocks_mean(doubled_there(run)) + few;
        double stops = (phase->bytes_per_ns + phase->little_per_ns) / mean - samples;
        double own = window_ns(run, samples, samples * phase->sample_ns + stops * phase->stop_ns);
        run->all += own * (phase->bytes_per_ns + phase->little_per_ns);
        const struct rate_window window = {
            (uint64_t)own, (uint64_t)(own * samples * phase->sample_ns),
            (uint64_t)(own * stops * phase->stop_ns), (uint64_t)run->met, (uint64_t)run->all};
        run->level = rate_next(run->level, &window);
        run->met += own * phase->bytes_per_ns / WIRE_BLOCKS_MEAN;
        run->few += own * few;
        grow_old(run, own);
        at += own;
        spent += (double)window.samples_ns + (double)window.stops_ns;
    }
    return spent;
}

/* Samples of the first gigabytes, by an R that is no larger yet. */
#define OF_ALL 10000

static void check_budget(void) {
    const double sample_ns[] = {2000, 10000, 50000};
    for (size_t i = 0; i < HCCT_ARRAY_LEN(sample_ns); i++) {
        for (double rate = 1e-4; rate < 20; rate *= 1.7) {
            struct run run = begins;
            const struct phase phase = {1e10, rate, 0, sample_ns[i], sample_ns[i] / 30};
            double spent = go_through(&run, &phase);
            double least = rate / (double)wire_blocks_mean(RATE_DOUBLED_MAX) * sample_ns[i];
            /* what the last window has taken beyond its part is the price of 16 samples */
            double most = fmax(1.0 / RATE_PART, least) * phase.ns + RATE_SAVED_NS +
                          OF_ALL * sample_ns[i] + 32 * sample_ns[i];
            CHECK(spent <= most);
            /* and no more than half of it stays unused, where R is not as small as it may be */
            CHECK(doubled_there(&run) == 0 || spent >= phase.ns / RATE_PART / 2.5);
        }
    }
}

static void check_phases(void) {
    const struct phase loads = {3e8, 400, 0, 5000, 100}, serves = {2e9, 1e-3, 0, 5000, 100},
                       first = {1e6, 400, 0, 5000, 100};
    const struct rate_window most = {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX};
    struct run run = begins;
    (void)go_through(&run, &first); /* a short phase is seen by the usual R */
    CHECK_UINT(doubled_there(&run), RATE_DOUBLED_USUAL);
    (void)go_through(&run, &loads);
    CHECK(doubled_there(&run) == RATE_DOUBLED_MAX);
    (void)go_through(&run, &serves);
    CHECK_UINT(doubled_there(&run), 0);
    CHECK(run.level.saved_ns == RATE_SAVED_NS);
    run.level = rate_next((struct rate_level){3, 5, 0}, &(struct rate_window){0});
    CHECK(run.level.doubled == 0 && run.level.quota == RATE_QUOTA_NONE);
    run.level.saved_ns = INT64_MIN / 4; /* a clock may say anything */
    run.level = rate_next(run.level, &most);
    CHECK(run.level.saved_ns >= -RATE_SAVED_NS && run.level.saved_ns <= RATE_SAVED_NS);
}

/* A server that allocates a gigabyte in a second of its time for its requests, and a megabyte for
 * what it keeps: that is seen as if it were alone. */
static void check_places(void) {
    struct run run = begins;
    const struct phase serves = {2e9, 1, 1e-3, 5000, 150};
    double spent = go_through(&run, &serves);
    CHECK(spent <= serves.ns / RATE_PART + RATE_SAVED_NS + 100 * serves.sample_ns);
    CHECK(doubled_there(&run) >= 3);
    run.few = 0;
    (void)go_through(&run, &serves);
    CHECK_UINT(run.level.doubled, 0);
    CHECK(run.few >= 0.9 * serves.ns * serves.little_per_ns / WIRE_BLOCKS_MEAN);
}

/* ---- places ---- */

static void check_sites(void) {
    const struct event_place place = {0x555555560000, 0x7ffffff01230, 0},
                             deeper = {place.pc, place.sp - 32, 0},
                             thread = {place.pc, 0x7ffff7a01230, 0},
                             caller = {place.pc + 5, place.sp, 0};
    uint32_t site = sites_number(&place, 100);
    CHECK(site < SITES && sites_number(&thread, 100) == site && sites_number(&place, 102) == site);
    CHECK(sites_number(&deeper, 100) != site && sites_number(&caller, 100) != site);
    CHECK(sites_number(&place, 200) != site && sites_number(&place, 1 << 20) != site);
    CHECK(sites_number(&place, 1 << 20) == sites_number(&place, (1 << 20) + 1000));
    CHECK(sites_number(&place, 0) < SITES && sites_number(&place, SIZE_MAX) < SITES);
    CHECK_UINT(sites_meet(site, 1000), 0);
    CHECK_UINT(sites_meet(site, 24), 1000);
    sites_age();
    CHECK_UINT(sites_meet(site, 0), 512);
    CHECK_UINT(sites_meet(site, 0), 512);
    sites_age();
    sites_age();
    CHECK_UINT(sites_meet(site, UINT64_MAX), 128);
    CHECK(sites_meet(site, UINT64_MAX) > UINT32_MAX);
    for (int i = 0; i < 100; i++)
        sites_age();
    CHECK_UINT(sites_meet(site, 0), 0);
    CHECK(sites_doubled(0, 3) == 0 && sites_doubled(7, 3) == 0 && sites_doubled(8, 3) == 1);
    CHECK(sites_doubled(UINT64_MAX, 3) == 61 && sites_doubled(1ull << 47, RATE_QUOTA_NONE) == 0);
}

static void check_noted(void) {
    CHECK_UINT(rate_doubled(), 0);
    for (int i = 0; i < 2000; i++) {
        rate_spend(10000, i % 2 == 0, 1u << 30);
        rate_note(20000);
    }
    CHECK_UINT(rate_doubled(), RATE_DOUBLED_MAX);
    rate_spend(10000, true, 1u << 30);
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
    unsigned seen = 0;
    stops_draw(&stops, 3, true);
    for (unsigned i = 0; i < BLOCKS; i++) {
        uint64_t size = size_of(i);
        uint32_t doubled = stops.doubled;
        bool stop = size >= stops.course.left,
             hit = stop && stops_hit(&stops, size - stops.course.left);
        uint32_t rarer =
            i % 3 == 0 ? seen % 3 : 0; /* of the block's own place, by what came before */
        sums->asked[doubled] += size == 70000;
        sums->hits[doubled] += hit && size == 70000;
        if (hit && course_stays(size, wire_blocks_mean(doubled), rarer, &stops.course.random)) {
            uint64_t mean = wire_blocks_mean(doubled + rarer), weight = course_weight(size, mean);
            seen++;
            sums->weight[i] += (double)weight;
            sums->squares[i] += (double)weight * (double)weight;
            total += (double)weight;
            told += poisson_variance(weight, mean);
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
    check_places();
    check_sites();
    check_noted();
    check_unbiased();
    check_variance();
    return check_report();
}
