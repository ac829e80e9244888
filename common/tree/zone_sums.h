/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * zone_sums.h - weight by (zone, frame): for each zone of a tree (zones.h) how much weight came to
 * contexts in it, by their own frame.
 *
 * Weight is never taken away again, only moved outwards: when a zone is dissolved its sums join
 * those of the zone around it. A new zone begins with nothing; what came to its contexts before
 * stays in the zones around it. So for each zone and frame
 *
 *     sum of the zone and of all zones within it <= what contexts of that frame, below the context
 *                                                   that names the zone, have had
 *
 * and, unless memory was short (then weight is missing), the sums of a frame over all zones are
 * exactly what contexts of that frame have had.
 *
 * To add costs three loads and no search, as this is done for each word of a run: a table of rows
 * by frame / ZONE_SUMS_BLOCK, in a row the blocks by zone, in a block one sum for each frame. Only
 * what is needed exists.
 *
 * There are as many blocks as half of the tree's capacity at most, but ZONE_SUMS_MIN at least, and
 * all takes an eighth of the tree's memory at most where that is limited. Beyond that, weight goes
 * to the nearest zone around that has the block, and is missing if there is none.
 *
 * Not thread-safe.
 */
#ifndef HCCT_ZONE_SUMS_H
#define HCCT_ZONE_SUMS_H

#include "common/tree/zones.h"
#include "common/wire/compiler.h"

#define ZONE_SUMS_BLOCK 32u /* frames */
#define ZONE_SUMS_MIN   8192u

struct zone_sums {
    struct budget *budget;
    uint32_t most;     /* blocks */
    uint32_t *row;     /* by frame / ZONE_SUMS_BLOCK; 0: none */
    uint32_t *block;   /* of row r and zone z: [r * ZONES_MAX + z]; 0: none */
    uint64_t *sum;     /* of block b: [b * ZONE_SUMS_BLOCK] and so on */
    uint32_t row_room; /* of `row` */
    uint32_t rows, rows_room, blocks, blocks_room; /* [0] is none of them, but takes room */
    uint32_t free; /* a block that is not used any more, whose first sum tells the next; 0: none */
};

void zone_sums_init(struct zone_sums *sums, struct budget *budget, uint32_t capacity);
void zone_sums_free(struct zone_sums *sums);

/* The sum of that zone and frame, NULL: there is none yet. */
static inline uint64_t *zone_sums_find(const struct zone_sums *sums, uint8_t zone, uint32_t frame) {
    uint32_t at = frame / ZONE_SUMS_BLOCK, row, block;
    if (hcct_unlikely(at >= sums->row_room))
        return NULL;
    row = sums->row[at];
    block = sums->block[row * ZONES_MAX + zone];
    return hcct_likely(block != 0) ? &sums->sum[block * ZONE_SUMS_BLOCK + frame % ZONE_SUMS_BLOCK]
                                   : NULL;
}

/* Private: of zone_sums_add(). */
void zone_sums_add_first(struct zone_sums *sums, const struct zones *zones, uint8_t zone,
                         uint32_t frame, uint64_t weight);

/* Contexts of that frame in that zone have gained weight. */
static inline void zone_sums_add(struct zone_sums *sums, const struct zones *zones, uint8_t zone,
                                 uint32_t frame, uint64_t weight) {
    uint64_t *sum = zone_sums_find(sums, zone, frame);
    if (hcct_likely(sum != NULL))
        *sum += weight;
    else
        zone_sums_add_first(sums, zones, zone, frame, weight);
}

/* Takes weight out of the sum, and what it lacks out of those of the zones around. */
void zone_sums_take(struct zone_sums *sums, const struct zones *zones, uint8_t zone, uint32_t frame,
                    uint64_t weight);

/* Zones were dissolved (zones_choose()). */
void zone_sums_join(struct zone_sums *sums, const uint8_t became[ZONES_MAX]);

/* A copy, for zone_sums_take(), outside of the budget. False: no memory. */
bool zone_sums_copy(struct zone_sums *to, const struct zone_sums *from, struct budget *budget);

/* Calls `visit` for each sum that is not 0. */
typedef void zone_sums_visit(void *arg, uint8_t zone, uint32_t frame, uint64_t weight);
void zone_sums_walk(const struct zone_sums *sums, zone_sums_visit *visit, void *arg);

#endif
