/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * thinning_test.c - what is taken adds up to what has come, of each kind of sample as of all.
 */
#include "preload/sample/thinning.h"

#include "preload/sample/draw.h"
#include "tests/check.h"

#define MEAN  10000000u
#define TICKS 2000
#define TIMES 400

/* Light and heavy samples by turns, as of a function that runs right after the other. */
static const uint64_t weights[] = {1000000, 4000000, 6000000, 200000};
#define KINDS (sizeof weights / sizeof weights[0])

static void test_totals(void) {
    uint64_t random = 1, come_of[KINDS] = {0}, taken_of[KINDS] = {0};
    for (int i = 0; i < TIMES; i++) {
        struct thinning thinning = {.until_ns = 0};
        uint64_t come = 0, taken = 0;
        for (size_t j = 0; j < TICKS; j++) {
            uint64_t weight = weights[j % KINDS];
            uint64_t kept = thinning_weight(&thinning, weight, MEAN, &random);
            come += weight, taken += kept;
            come_of[j % KINDS] += weight, taken_of[j % KINDS] += kept;
            uint64_t off = come > taken ? come - taken : taken - come;
            if (off > 2 * MEAN)
                CHECK_UINT(off, 0);
        }
    }
    for (size_t kind = 0; kind < KINDS; kind++) {
        double share = (double)taken_of[kind] / (double)come_of[kind];
        CHECK(share > 0.97 && share < 1.03);
    }
}

/* A course has its share from the first moment on. */
static void test_few(void) {
    uint64_t random = 2, taken = 0;
    for (int i = 0; i < 100000; i++) {
        struct thinning thinning = {.until_ns = 0};
        taken += thinning_weight(&thinning, 3000000, MEAN, &random);
    }
    double mean = (double)taken / 100000 / 3000000;
    CHECK(mean > 0.97 && mean < 1.03);
}

static void test_heavy(void) {
    uint64_t random = 3;
    struct thinning thinning = {.until_ns = 0};
    CHECK_UINT(thinning_weight(&thinning, MEAN, MEAN, &random), MEAN);
    CHECK_UINT(thinning_weight(&thinning, 5 * MEAN, MEAN, &random), 5 * MEAN);
    CHECK_UINT(thinning_weight(&thinning, 0, MEAN, &random), 0);
}

int main(void) {
    test_totals();
    test_few();
    test_heavy();
    return check_report();
}
