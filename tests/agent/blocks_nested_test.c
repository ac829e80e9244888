/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * blocks_nested_test.c - handlers of signals that came while a sample was taken run at its end,
 * and may allocate: what they allocate is sampled as all else, and not by the point that was met.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "common/wire/wire.h"
#include "preload/blocks/link.h"
#include "tests/check.h"

#define ALLOCATIONS 300000
#define OUTER       700u
#define INNER       3000u

/* Changed within malloc, which is declared as calling nothing here. */
static volatile unsigned samples, nested_samples;
static volatile bool in_handler;

static void allocate(size_t size) {
    void *volatile block = malloc(size);
    free(block);
}

/* As the agent's, at whose end signals are open again. */
static bool take_sample(const struct event_sample *sample) {
    (void)sample;
    if (in_handler) {
        nested_samples = nested_samples + 1;
        return true;
    }
    samples = samples + 1;
    in_handler = true;
    allocate(INNER);
    in_handler = false;
    return true;
}

/* Samples take none, so their mean distance stays as it is. */
static uint64_t no_time(void) {
    return 0;
}

int main(void) {
    hcct_blocks_link.event.sample = take_sample;
    hcct_blocks_link.now = no_time;
    hcct_blocks_link.cpu = no_time;
    atomic_store(&hcct_blocks_link.event.ready, true);
    for (unsigned i = 0; i < ALLOCATIONS; i++)
        allocate(OUTER);
    double points = (double)OUTER * ALLOCATIONS / WIRE_BLOCKS_MEAN;
    double wanted = (double)INNER / WIRE_BLOCKS_MEAN * samples;
    CHECK(samples > points / 2 && samples < 2 * points);
    CHECK(nested_samples > wanted / 2 && nested_samples < 2 * wanted);
    return check_report();
}
