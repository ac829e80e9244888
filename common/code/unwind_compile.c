/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * unwind_compile.c - .eh_frame to compact unwind table: puts the entries' rows in order, closes the
 * gaps between them, and builds the block index.
 */
#include "common/code/unwind_compile.h"

#include <stdlib.h>
#include <string.h>

#include "common/code/unwind_collect.h"
#include "common/wire/unwind_table.h"

#define BLOCK_SHIFT_MIN   6 /* 64 bytes of code */
#define BLOCKS_NEVER_MANY 64

struct output {
    struct unwind_row *rows;
    uint32_t n;
};

/* The rows of a span from `from` on: entries that overlap lose what an earlier one covers. */
static void put_span(struct output *out, const struct unwind_span *span,
                     const struct unwind_row *rows, uint32_t from) {
    const struct unwind_row *row = rows + span->first_row;
    const struct unwind_row *end = row + span->n_rows;
    uint32_t first = out->n;
    while (row + 1 < end && row[1].pc <= from)
        row++;
    for (; row < end; row++) {
        uint32_t back = out->n - first;
        out->rows[out->n++] = (struct unwind_row){
            .pc = row->pc < from ? from : row->pc,
            .rule = row->rule,
            .back = (uint16_t)(back < UNWIND_BACK_MAX ? back : UNWIND_BACK_MAX),
        };
    }
}

/* All rows in order, with gaps closed; pc still counts from the start of the code. `out` has room
 * for all rows and a gap for each span. Returns the end of the last span. */
static uint32_t put_all(struct output *out, const struct unwind_collection *collection) {
    uint32_t covered = collection->spans[0].start;
    for (size_t i = 0; i < collection->n_spans; i++) {
        const struct unwind_span *span = &collection->spans[i];
        if (span->end <= covered)
            continue;
        if (span->start > covered)
            out->rows[out->n++] = (struct unwind_row){.pc = covered, .rule = UNWIND_RULE_NONE};
        put_span(out, span, collection->rows, span->start > covered ? span->start : covered);
        covered = span->end;
    }
    return covered;
}

static uint32_t choose_shift(uint64_t span, uint32_t rows) {
    uint32_t shift = BLOCK_SHIFT_MIN;
    while (((span - 1) >> shift) + 1 > 2 * (uint64_t)rows + BLOCKS_NEVER_MANY)
        shift++;
    return shift;
}

static void put_blocks(struct unwind_table *table) {
    uint32_t *blocks = (uint32_t *)(void *)((char *)table + table->blocks_off);
    const struct unwind_row *rows = unwind_rows(table);
    uint32_t row = 0;
    for (uint32_t block = 0; block < table->blocks; block++) {
        while (row + 1 < table->rows && rows[row + 1].pc <= (uint64_t)block << table->block_shift)
            row++;
        blocks[block] = row;
    }
}

/* Adds rules and blocks behind the rows of a half-made table. */
static struct unwind_table *finish(struct unwind_table *table,
                                   const struct unwind_collection *collection) {
    table->magic = UNWIND_TABLE_MAGIC;
    table->rules = (uint32_t)collection->n_rules;
    table->block_shift = choose_shift(table->text_span, table->rows);
    table->blocks = (uint32_t)(((table->text_span - 1) >> table->block_shift) + 1);
    table->rules_off = table->rows_off + table->rows * sizeof(struct unwind_row);
    table->blocks_off = table->rules_off + table->rules * sizeof(struct unwind_rule);
    table->bytes = table->blocks_off + table->blocks * sizeof(uint32_t);
    struct unwind_table *whole = realloc(table, table->bytes);
    if (whole == NULL) {
        free(table);
        return NULL;
    }
    memcpy((char *)whole + whole->rules_off, collection->rules,
           collection->n_rules * sizeof(struct unwind_rule));
    put_blocks(whole);
    return whole;
}

static struct unwind_table *build(const struct eh_frame *frame,
                                  struct unwind_collection *collection) {
    size_t rows_max = collection->n_rows + collection->n_spans;
    struct unwind_table *table = malloc(sizeof *table + rows_max * sizeof(struct unwind_row));
    if (table == NULL)
        return NULL;
    memset(table, 0, sizeof *table);
    unwind_collection_sort(collection);
    struct output out = {.rows = (struct unwind_row *)(void *)(table + 1)};
    uint32_t end = put_all(&out, collection);
    uint32_t start = collection->spans[0].start;
    for (uint32_t i = 0; i < out.n; i++)
        out.rows[i].pc -= start;
    table->text_start = frame->code_start + start;
    table->text_span = end - start;
    table->rows = out.n;
    table->rows_off = sizeof *table;
    return finish(table, collection);
}

void *unwind_compile(Elf *elf, size_t *bytes, struct unwind_account *account) {
    struct eh_frame frame;
    struct unwind_collection collection = {0};
    struct unwind_table *table = NULL;
    if (eh_frame_find(elf, &frame) && unwind_collect(elf, &frame, &collection) &&
        collection.n_spans > 0)
        table = build(&frame, &collection);
    if (account != NULL)
        *account = collection.account;
    unwind_collection_clear(&collection);
    if (table != NULL)
        *bytes = table->bytes;
    return table;
}
