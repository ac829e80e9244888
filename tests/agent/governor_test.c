/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * governor_test.c - what profiling costs comes to its budget and stays there, whatever bursts cost:
 * in simulated programs, where each burst is paid for when it is over. And how a budget is written.
 */
#include "preload/calls/governor.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "common/wire/burst.h"
#include "common/wire/percent.h"
#include "preload/calls/period.h"
#include "preload/sample/draw.h"
#include "tests/check.h"

#define LENGTH 500000u
#define MS     1000000u
#define SECOND 1000000000ull

static uint64_t random_state = 20150613;

/* What a burst costs that begins then, in the program's thread and in hcctd. */
struct price {
    uint64_t cost_ns, reading_ns;
};
typedef struct price price_at(uint64_t now);

static struct price cheap(uint64_t now) {
    (void)now;
    return (struct price){60000, 20000};
}

static struct price dear(uint64_t now) {
    (void)now;
    return (struct price){4 * MS, 1 * MS};
}

static struct price by_chance(uint64_t now) {
    (void)now;
    uint64_t cost = 50000 + draw_below(draw_word(&random_state), 4 * MS);
    return (struct price){cost, cost / 3};
}

/* Half a second of hardly anything but calls in each two. */
static struct price in_phases(uint64_t now) {
    return now % (2 * SECOND) < SECOND / 2 ? dear(now) : cheap(now);
}

/* It is another program after ten seconds. */
static struct price changing(uint64_t now) {
    return now < 10 * SECOND ? cheap(now) : dear(now);
}

static const struct {
    const char *name;
    price_at *price;
    struct price start; /* what is paid for at the beginning */
} programs[] = {
    {"cheap", cheap, {0, 0}},          {"dear", dear, {0, 0}},
    {"by chance", by_chance, {0, 0}},  {"in phases", in_phases, {0, 0}},
    {"another one", changing, {0, 0}}, {"a dear start", by_chance, {20 * MS, 20 * MS}},
};

static double used(const struct governor_sums *sums) {
    return (double)(sums->cost_ns + sums->reading_ns) / (double)sums->program_ns;
}

/* Its share at the end, after `seconds`. */
static double run(size_t which, uint32_t ppm, uint64_t least, uint64_t seconds, double *greatest) {
    struct governor_sums sums = {.cost_ns = programs[which].start.cost_ns,
                                 .reading_ns = programs[which].start.reading_ns};
    struct period p;
    uint64_t price = 0;
    period_begin(&p, 0);
    *greatest = 0;
    while (sums.program_ns < seconds * SECOND) {
        uint64_t mean = governor_times(ppm, LENGTH, least, price, &sums);
        uint64_t at = period_next(&p, LENGTH, mean, sums.program_ns, &random_state);
        at = at > sums.program_ns ? at : sums.program_ns;
        struct price paid = programs[which].price(at);
        CHECK(mean >= least && mean <= period_times(LENGTH, BURST_PERIOD_MAX_NS));
        sums.program_ns = at + LENGTH;
        sums.cost_ns += paid.cost_ns;
        sums.reading_ns += paid.reading_ns;
        price = governor_price(price, paid.cost_ns);
        if (sums.program_ns > 4 * SECOND)
            *greatest = fmax(*greatest, used(&sums));
    }
    return used(&sums);
}

/* Within a quarter of it in the end; and not twice as much after some seconds already. */
static void test_budget(size_t which, uint32_t ppm) {
    uint64_t least = period_times(LENGTH, 10 * LENGTH);
    double greatest, share = run(which, ppm, least, 40, &greatest), budget = ppm / 1e6;
    bool held = fabs(share - budget) <= budget / 4 && greatest <= 2 * budget;
    if (!held)
        fprintf(stderr, "%s: %.2f %% of %.2f %%, %.2f %% at worst\n", programs[which].name,
                100 * share, 100 * budget, 100 * greatest);
    CHECK(held);
}

/* What costs less than the budget where bursts are as near as they may be stays there. */
static void test_least(void) {
    double greatest, share = run(0, 100000, period_times(LENGTH, 10 * LENGTH), 20, &greatest);
    CHECK(share > 0.012 && share < 0.02);
}

/* The first burst is far away where nothing is known: hundredths for a hundredth. */
static void test_start(void) {
    const struct governor_sums none = {0};
    CHECK_UINT(governor_times(10000, LENGTH, PERIOD_ONE, 0, &none), 100 * PERIOD_ONE);
    CHECK_UINT(governor_times(10000, LENGTH, 200 * PERIOD_ONE, 0, &none), 200 * PERIOD_ONE);
    const struct governor_sums owing = {.cost_ns = UINT64_MAX / 4};
    CHECK_UINT(governor_times(10000, LENGTH, PERIOD_ONE, UINT64_MAX / 4, &owing),
               period_times(LENGTH, BURST_PERIOD_MAX_NS));
}

static void test_percent(void) {
    static const struct {
        const char *text;
        uint32_t ppm; /* 0: it is none */
    } all[] = {
        {"1%", 10000},    {"1", 10000},    {"0.5%", 5000},
        {"0.01%", 100},   {"50%", 500000}, {"2.25", 22500},
        {"0.0100%", 100}, {"", 0},         {"%", 0},
        {"0%", 0},        {"0.009%", 0},   {"51%", 0},
        {"1.00001%", 0},  {".5%", 0},      {"-1%", 0},
        {"1 %", 0},       {"1%%", 0},      {"99999999999999999999", 0},
        {"1e2", 0},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        uint32_t ppm = 0;
        if (percent_parse(all[i].text, &ppm) != (all[i].ppm != 0) || ppm != all[i].ppm) {
            fprintf(stderr, "'%s' is read as %u\n", all[i].text, ppm);
            CHECK(false);
        }
    }
    uint64_t length, period;
    CHECK(burst_parse(PERCENT_BURST, &length, &period));
}

int main(void) {
    static const uint32_t budgets[] = {5000, 10000, 50000};
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        for (size_t b = 0; b < sizeof budgets / sizeof *budgets; b++)
            if (programs[i].price != cheap || budgets[b] <= 10000) /* else it costs less */
                test_budget(i, budgets[b]);
    test_least();
    test_start();
    test_percent();
    return check_report();
}
