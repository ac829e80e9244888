/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * reader_ring.h - a ring that a test fills word by word, and the reader that empties it into an
 * exact tree. For one test program each.
 */
#ifndef HCCT_TEST_READER_RING_H
#define HCCT_TEST_READER_RING_H

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/code/frame.h"
#include "common/tree/summary.h"
#include "common/wire/ring.h"
#include "daemon/ingest/reader.h"
#include "tests/tree/nodes.h"

static struct wire_slot *slot;
static struct reader reader;
static struct raw_sample_list deferred;
static struct mcct *tree;
static struct addresses *map;
static struct reader_effect effect;

static inline void start(void) {
    const struct mcct_params params = {.summary = &summary_exact, .epsilon = 0.001};
    reader = (struct reader){.size = WIRE_RING_WORDS(WIRE_SLOT_BYTES)};
    deferred = (struct raw_sample_list){0};
    reader.deferred = &deferred;
    slot = aligned_alloc(64, WIRE_SLOT_BYTES);
    memset(slot, 0, WIRE_SLOT_BYTES);
    tree = mcct_new(&params);
    map = addresses_new(frame_user(geteuid()));
}

static inline void stop(void) {
    struct raw_sample *sample;
    while ((sample = raw_sample_list_take(&deferred)) != NULL)
        raw_sample_free(sample);
    reader_close(&reader);
    mcct_free(tree);
    addresses_free(map);
    free(slot);
}

static inline void put(uint64_t word) {
    uint64_t at = atomic_load(&slot->head);
    ring_put(slot, WIRE_RING_WORDS(WIRE_SLOT_BYTES), at, word);
    ring_publish(slot, at + 1);
}

static inline void drain(void) {
    reader_drain(&reader, slot, reader_end(&reader, slot), tree, map, &effect);
}

static inline uint64_t total(void) {
    struct mcct_stats stats;
    mcct_stats(tree, &stats);
    return stats.total;
}

static inline void put_call(uint64_t pops, uint64_t routine, uint64_t site) {
    put(wire_call(pops, routine, site));
}

#endif
