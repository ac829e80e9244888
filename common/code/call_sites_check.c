/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * call_sites_check.c - is a table of call sites that came out of the worker child consistent? The
 * child parses hostile files and is not trusted; a table that passes can't lead its reader out of
 * bounds.
 */
#include "common/code/call_sites_compile.h"

/* True when n items at `offset` are inside the table, aligned to `align`. */
static bool inside(const struct call_sites *table, uint64_t offset, uint64_t n, size_t item_bytes,
                   size_t align) {
    return offset % align == 0 && offset >= sizeof *table && offset <= table->bytes &&
           n * item_bytes <= table->bytes - offset;
}

static bool check_header(const struct call_sites *table, size_t bytes) {
    return table->magic == CALL_SITES_MAGIC && table->bytes == bytes &&
           table->verdict > CALLS_UNSAID && table->verdict < CALLS_VERDICTS &&
           (table->verdict == CALLS_FOLLOWED) == (table->sites > 0) &&
           table->text_start % CALL_SITES_PAGE == 0 && table->text_bytes % CALL_SITES_PAGE == 0 &&
           table->file_offset % CALL_SITES_PAGE == 0 && table->text_bytes <= UINT32_MAX &&
           table->text_start <= UINT64_MAX / 2 + CALL_SITES_PAGE &&
           table->file_offset <= INT64_MAX &&
           inside(table, table->sites_off, table->sites, sizeof(struct call_site), 4) &&
           inside(table, table->callees_off, table->callees, sizeof(struct call_callee), 8);
}

/* The instructions of two sites do not overlap. */
static bool check_sites(const struct call_sites *table) {
    const struct call_site *site = call_sites_of(table);
    uint64_t free_from = 0;
    for (uint32_t i = 0; i < table->sites; i++) {
        uint64_t end = (uint64_t)site[i].at + CALL_SITE_BYTES;
        bool by_word = site[i].callee < table->callees &&
                       call_sites_callees(table)[site[i].callee].target == 0;
        if (site[i].at < free_from + by_word || end > table->text_bytes ||
            site[i].routine > site[i].at || site[i].callee >= table->callees ||
            site[i].frame > CALL_FRAME_FP)
            return false;
        free_from = end;
    }
    return true;
}

static bool check_callees(const struct call_sites *table) {
    const struct call_callee *callee = call_sites_callees(table);
    for (uint32_t i = 0; i < table->callees; i++)
        if (callee[i].target == 0 ? callee[i].got == 0
                                  : callee[i].target - table->text_start >= table->text_bytes)
            return false;
    return true;
}

bool call_sites_check(const void *data, size_t bytes) {
    const struct call_sites *table = data;
    return bytes >= sizeof *table && check_header(table, bytes) && check_sites(table) &&
           check_callees(table);
}
