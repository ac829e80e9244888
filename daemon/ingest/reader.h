/*
 * reader.h - one ring's words applied to a tree.
 *
 * Trusts nothing: a ring whose positions or words can't be is closed for good, and said to be.
 */
#ifndef HCCT_READER_H
#define HCCT_READER_H

#include <stdbool.h>
#include <stdint.h>

#include "common/wire.h"
#include "daemon/ingest/addresses.h"
#include "daemon/tree/mcct.h"

struct reader {
    uint64_t at; /* words read, ever */
    bool open;   /* the cursor is in the tree */
    bool broken;
    struct mcct_cursor cursor;
};

/* What the words of one drain did beside the tree. */
struct reader_effect {
    uint64_t credits; /* CREDIT events */
    bool map_changed; /* a MAP event came: modules are to be looked at again */
};

/* Applies all that is published in the slot; stops early at a MAP event, with effect->map_changed,
 * so that the caller can bring `map` up to date and call again. */
void reader_drain(struct reader *reader, struct wire_slot *slot, struct mcct *tree,
                  struct addresses *map, struct reader_effect *effect);

/* The thread is gone: its cursor leaves the tree. */
void reader_close(struct reader *reader);

#endif
