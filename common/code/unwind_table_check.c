/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * unwind_table_check.c - is a table that came out of the worker child consistent? The child parses
 * hostile files and is not trusted; a table that passes can't lead its reader out of bounds.
 */
#include <string.h>

#include "common/code/unwind_compile.h"
#include "common/wire/unwind_table.h"

/* True when n items at `offset` are inside the table, aligned to `align`. */
static bool inside(const struct unwind_table *table, uint64_t offset, uint64_t n, size_t item_bytes,
                   size_t align) {
    return offset % align == 0 && offset >= sizeof *table && offset <= table->bytes &&
           n * item_bytes <= table->bytes - offset;
}

static bool check_header(const struct unwind_table *table, size_t bytes) {
    return table->magic == UNWIND_TABLE_MAGIC && table->bytes == bytes && table->rows > 0 &&
           table->rules > 0 && table->rules <= UINT16_MAX + 1 && table->blocks > 0 &&
           table->text_span > 0 && table->text_span <= UINT32_MAX &&
           table->text_start <= UINT64_MAX - table->text_span && table->block_shift < 32 &&
           inside(table, table->rows_off, table->rows, sizeof(struct unwind_row), 4) &&
           inside(table, table->rules_off, table->rules, sizeof(struct unwind_rule), 4) &&
           inside(table, table->blocks_off, table->blocks, sizeof(uint32_t), 4) &&
           table->blocks == ((table->text_span - 1) >> table->block_shift) + 1;
}

static bool check_rules(const struct unwind_table *table) {
    const struct unwind_rule *rules = unwind_rules(table);
    if (rules[UNWIND_RULE_NONE].cfa != UNWIND_CFA_NONE)
        return false;
    for (uint32_t i = 0; i < table->rules; i++)
        if (rules[i].cfa > UNWIND_CFA_RICH || rules[i].cfa_reg >= UNWIND_REGISTERS_MAX ||
            (rules[i].ra > UNWIND_UNDEFINED && rules[i].ra != UNWIND_REPLACED) ||
            rules[i].fp > UNWIND_AT_REG)
            return false;
    return true;
}

/* A row's `back` either begins an entry or goes on counting: so no chain of them, however it is
 * followed, leads before the first row or into another entry. */
static bool check_rows(const struct unwind_table *table) {
    const struct unwind_row *rows = unwind_rows(table);
    uint32_t distance = 0;
    if (rows[0].pc != 0 || rows[table->rows - 1].pc >= table->text_span)
        return false;
    for (uint32_t i = 0; i < table->rows; i++) {
        if (rows[i].rule >= table->rules || (i > 0 && rows[i].pc <= rows[i - 1].pc))
            return false;
        distance = rows[i].back == 0 ? 0 : distance + 1;
        if ((i == 0 && distance != 0) ||
            rows[i].back != (distance < UNWIND_BACK_MAX ? distance : UNWIND_BACK_MAX))
            return false;
    }
    return true;
}

static bool check_blocks(const struct unwind_table *table) {
    const struct unwind_row *rows = unwind_rows(table);
    const uint32_t *blocks =
        (const uint32_t *)(const void *)((const char *)table + table->blocks_off);
    for (uint32_t block = 0; block < table->blocks; block++) {
        uint64_t at = (uint64_t)block << table->block_shift;
        uint32_t row = blocks[block];
        if (row >= table->rows || rows[row].pc > at ||
            (row + 1 < table->rows && rows[row + 1].pc <= at))
            return false;
    }
    return true;
}

bool unwind_table_check(const void *data, size_t bytes) {
    const struct unwind_table *table = data;
    return bytes >= sizeof *table && check_header(table, bytes) && check_rules(table) &&
           check_rows(table) && check_blocks(table);
}
