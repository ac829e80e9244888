/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * table_kind.c - what is particular about each kind.
 */
#include "common/code/table_kind.h"

#include "common/code/call_sites_compile.h"
#include "common/code/unwind_compile.h"
#include "common/wire/call_sites.h"
#include "common/wire/unwind_table.h"

const struct table_kind_facts table_kinds[TABLE_KINDS] = {
    [TABLE_UNWIND] = {".unwind", UNWIND_TABLE_VERSION, unwind_table_check},
    [TABLE_CALLS] = {".calls", CALL_SITES_VERSION, call_sites_check},
};
