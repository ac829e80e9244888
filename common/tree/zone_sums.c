/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * zone_sums.c - three arrays that grow. Row 0 has no blocks and belongs to all frames that were
 * never seen.
 */
#include "common/tree/zone_sums.h"

#include <stdlib.h>
#include <string.h>

#define ROOM_FIRST  64u
#define FRAMES_MAX  (1u << 23) /* what is beyond has no sums */
#define MEMORY_PART 8u         /* of the tree's, where that is limited */

#define ROW_BYTES   (ZONES_MAX * sizeof(uint32_t))
#define BLOCK_BYTES (ZONE_SUMS_BLOCK * sizeof(uint64_t))

void zone_sums_init(struct zone_sums *sums, struct budget *budget, uint32_t capacity) {
    *sums = (struct zone_sums){.budget = budget,
                               .most = capacity / 2 > ZONE_SUMS_MIN ? capacity / 2 : ZONE_SUMS_MIN};
}

static size_t bytes_of(const struct zone_sums *sums) {
    return sums->row_room * sizeof *sums->row + sums->rows_room * ROW_BYTES +
           sums->blocks_room * BLOCK_BYTES;
}

void zone_sums_free(struct zone_sums *sums) {
    free(sums->row);
    free(sums->block);
    free(sums->sum);
    budget_give(sums->budget, bytes_of(sums));
    *sums = (struct zone_sums){.budget = sums->budget, .most = sums->most};
}

/* ---- room ---- */

/* The array of elements of that size gets room for `need`, what is new is 0. NULL: no memory. */
static void *grow(struct zone_sums *sums, void *array, uint32_t *room, uint32_t need, size_t size) {
    uint32_t more = need > 2 * *room ? need - *room : *room;
    size_t bytes = (more > ROOM_FIRST ? more : ROOM_FIRST) * size, max = sums->budget->max;
    if ((max != 0 && bytes_of(sums) + bytes > max / MEMORY_PART) ||
        !budget_take(sums->budget, bytes))
        return NULL;
    char *grown = realloc(array, *room * size + bytes);
    if (grown == NULL) {
        budget_give(sums->budget, bytes);
        return NULL;
    }
    memset(grown + *room * size, 0, bytes);
    *room += (uint32_t)(bytes / size);
    return grown;
}

static bool have_row_room(struct zone_sums *sums, uint32_t at) {
    if (at < sums->row_room)
        return true;
    if (at >= FRAMES_MAX / ZONE_SUMS_BLOCK)
        return false;
    uint32_t *row = grow(sums, sums->row, &sums->row_room, at + 1, sizeof *row);
    sums->row = row != NULL ? row : sums->row;
    return row != NULL;
}

/* For one more. */
static bool have_rows_room(struct zone_sums *sums) {
    if (sums->rows + 1 < sums->rows_room)
        return true;
    uint32_t *block = grow(sums, sums->block, &sums->rows_room, sums->rows_room + 1, ROW_BYTES);
    sums->block = block != NULL ? block : sums->block;
    return block != NULL;
}

/* 0: no memory, or there are enough. */
static uint32_t new_block(struct zone_sums *sums) {
    uint32_t block = sums->free;
    if (block != 0) {
        sums->free = (uint32_t)sums->sum[block * ZONE_SUMS_BLOCK];
        sums->sum[block * ZONE_SUMS_BLOCK] = 0;
        return block;
    }
    if (sums->blocks >= sums->most)
        return 0;
    if (sums->blocks + 1 >= sums->blocks_room) {
        uint64_t *sum =
            grow(sums, sums->sum, &sums->blocks_room, sums->blocks_room + 1, BLOCK_BYTES);
        if (sum == NULL)
            return 0;
        sums->sum = sum;
    }
    return ++sums->blocks;
}

static bool make(struct zone_sums *sums, uint8_t zone, uint32_t frame) {
    uint32_t at = frame / ZONE_SUMS_BLOCK, block;
    if (!have_rows_room(sums) || !have_row_room(sums, at))
        return false;
    if (sums->row[at] == 0)
        sums->row[at] = ++sums->rows;
    block = new_block(sums);
    if (block != 0)
        sums->block[sums->row[at] * ZONES_MAX + zone] = block;
    return block != 0;
}

void zone_sums_add_first(struct zone_sums *sums, const struct zones *zones, uint8_t zone,
                         uint32_t frame, uint64_t weight) {
    uint64_t *sum = NULL;
    if (make(sums, zone, frame))
        sum = zone_sums_find(sums, zone, frame);
    while (sum == NULL && zone != ZONES_ROOT) {
        zone = zones_around(zones, zone);
        sum = zone_sums_find(sums, zone, frame);
    }
    if (sum != NULL)
        *sum += weight;
}

/* ---- the rest ---- */

void zone_sums_take(struct zone_sums *sums, const struct zones *zones, uint8_t zone, uint32_t frame,
                    uint64_t weight) {
    for (bool last = false; weight > 0 && !last;) {
        uint64_t *sum = zone_sums_find(sums, zone, frame);
        uint64_t taken = sum == NULL ? 0 : *sum < weight ? *sum : weight;
        if (taken > 0)
            *sum -= taken;
        weight -= taken;
        last = zone == ZONES_ROOT;
        zone = zones_around(zones, zone);
    }
}

/* The block of a zone becomes one of another. */
static void join(struct zone_sums *sums, uint32_t *from, uint32_t *to) {
    if (*to == 0) {
        *to = *from;
    } else {
        uint64_t *sum = &sums->sum[*from * ZONE_SUMS_BLOCK];
        for (uint32_t i = 0; i < ZONE_SUMS_BLOCK; i++)
            sums->sum[*to * ZONE_SUMS_BLOCK + i] += sum[i];
        memset(sum, 0, BLOCK_BYTES);
        sum[0] = sums->free;
        sums->free = *from;
    }
    *from = 0;
}

void zone_sums_join(struct zone_sums *sums, const uint8_t became[ZONES_MAX]) {
    for (uint32_t row = 1; row <= sums->rows; row++)
        for (uint32_t z = 0; z < ZONES_MAX; z++) {
            uint32_t *block = &sums->block[row * ZONES_MAX];
            if (became[z] != z && block[z] != 0)
                join(sums, &block[z], &block[became[z]]);
        }
}

static void *copy(const void *from, size_t bytes, bool *whole) {
    void *to = malloc(bytes + 1);
    *whole = *whole && to != NULL;
    if (to != NULL && bytes > 0)
        memcpy(to, from, bytes);
    return to;
}

bool zone_sums_copy(struct zone_sums *to, const struct zone_sums *from, struct budget *budget) {
    bool whole = true;
    *to = *from;
    to->budget = budget;
    to->row = copy(from->row, from->row_room * sizeof *from->row, &whole);
    to->block = copy(from->block, from->rows_room * ROW_BYTES, &whole);
    to->sum = copy(from->sum, from->blocks_room * BLOCK_BYTES, &whole);
    (void)budget_take(budget, bytes_of(to));
    if (!whole)
        zone_sums_free(to);
    return whole;
}

void zone_sums_walk(const struct zone_sums *sums, zone_sums_visit *visit, void *arg) {
    for (uint32_t at = 0; at < sums->row_room; at++) {
        const uint32_t *block = &sums->block[sums->row[at] * ZONES_MAX];
        for (uint32_t z = 0; sums->row[at] != 0 && z < ZONES_MAX; z++)
            for (uint32_t i = 0; block[z] != 0 && i < ZONE_SUMS_BLOCK; i++) {
                uint64_t weight = sums->sum[block[z] * ZONE_SUMS_BLOCK + i];
                if (weight > 0)
                    visit(arg, (uint8_t)z, at * ZONE_SUMS_BLOCK + i, weight);
            }
    }
}
