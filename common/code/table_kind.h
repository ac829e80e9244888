/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * table_kind.h - the kinds of tables that are made from a module's file, kept on disk, and mapped
 * by agents.
 */
#ifndef HCCT_TABLE_KIND_H
#define HCCT_TABLE_KIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum table_kind {
    TABLE_UNWIND, /* common/wire/unwind_table.h */
    TABLE_CALLS,  /* common/wire/call_sites.h */
    TABLE_KINDS
};

struct table_kind_facts {
    const char *suffix; /* of files */
    uint32_t version;   /* another one has another format, or other content */
    /* Is a table of so many bytes consistent? One that is can't lead its reader out of bounds. */
    bool (*check)(const void *table, size_t bytes);
};

extern const struct table_kind_facts table_kinds[TABLE_KINDS];

#endif
