/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * blocks_late_test.c - a thread that allocates little meets a point that was drawn long before:
 * since then others have allocated much, and points are further apart. The sample says so, as what
 * the thread allocates from there on is met as seldom.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "preload/blocks/link.h"
#include "preload/blocks/rate.h"
#include "tests/check.h"

#define ENOUGH 100000 /* allocations of 1,000 bytes: a point 16 KiB away is met */

/* Changed within malloc, which is declared as calling nothing here. */
static volatile unsigned samples, doubled, usual;

static bool take_sample(const struct event_sample *sample) {
    if (samples == 0) {
        doubled = sample->doubled;
        usual = sample->usual;
    }
    samples = samples + 1;
    return true;
}

static uint64_t no_time(void) {
    return 0;
}

static void allocate(size_t size) {
    void *volatile block = malloc(size);
    free(block);
}

int main(void) {
    hcct_blocks_link.event.sample = take_sample;
    hcct_blocks_link.now = no_time;
    hcct_blocks_link.cpu = no_time;
    atomic_store(&hcct_blocks_link.event.ready, true);
    allocate(1); /* draws the first point */
    for (int i = 0; i < 1000; i++) {
        rate_spend(10000, i % 2 == 0, 1u << 30);
        rate_note(20000);
    }
    uint32_t now = rate_doubled();
    CHECK(now > RATE_DOUBLED_USUAL);
    for (int i = 0; i < ENOUGH && samples == 0; i++)
        allocate(1000);
    CHECK_UINT(samples, 1);
    CHECK_UINT(doubled, 0);
    CHECK_UINT(usual, now);
    return check_report();
}
