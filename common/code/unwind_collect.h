/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * unwind_collect.h - reads all entries of an .eh_frame: rows and rules, not yet in order. The code
 * of _init, _fini and _start that has no entry comes last (init_code.h).
 */
#ifndef HCCT_UNWIND_COLLECT_H
#define HCCT_UNWIND_COLLECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/intern.h"
#include "common/code/eh_frame.h"
#include "common/code/init_code.h"
#include "common/code/unwind_compile.h"
#include "common/wire/unwind_table.h"

/* One entry's code, or that of _init, _fini or _start, and its rows, which are rows[first_row ..].
 * Addresses count from code_start. */
struct unwind_span {
    uint32_t start;
    uint32_t end; /* 2^32 - 1 at most */
    uint32_t first_row;
    uint32_t n_rows; /* never 0: the first row's pc is `start` */
    uint64_t entry;  /* where it is in .eh_frame; of init code: its number in `init` */
    bool is_signal;  /* the kernel's signal frame */
    bool is_init;    /* the code of _init, _fini or _start, not an entry's */
};

struct unwind_collection {
    struct unwind_span *spans; /* in the order of the section */
    size_t n_spans, room_spans;
    struct unwind_row *rows; /* `back` is not set */
    size_t n_rows, room_rows;
    struct unwind_rule *rules; /* rules[0] is "none"; all are different */
    size_t n_rules, room_rules;
    struct intern by_rule; /* its number plus one */
    uint64_t *signing;     /* where in .eh_frame an instruction tells of a signed return address */
    size_t n_signing, room_signing;
    struct init_section init[INIT_CODES_MAX];
    struct unwind_account account; /* of the entries alone */
};

/* `frame` is what was found in `elf`. False when memory runs out or the machine is not known. To be
 * cleared in any case. */
bool unwind_collect(Elf *elf, const struct eh_frame *frame, struct unwind_collection *into);
/* Puts the spans in the order of their starts; of equal ones the first of the section is first. */
void unwind_collection_sort(struct unwind_collection *collection);
void unwind_collection_clear(struct unwind_collection *collection);

#endif
