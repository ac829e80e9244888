/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * ids.h - a table from 64-bit identities (hashes of paths) to numbers.
 *
 * What is the same context in two answers has the same identity; that is how the screen keeps its
 * place. One thread at a time. Out of memory ends the program (memory.h).
 */
#ifndef HCCT_TOP_IDS_H
#define HCCT_TOP_IDS_H

#include <stdint.h>

#include "common/base/intern.h"

struct top_ids {
    struct intern places; /* of identities among the items */
    struct top_id {
        uint64_t id;
        uint32_t number;
    } * item; /* from 1 on */
    uint32_t n, room;
};

/* The number of `id`, 0 when it is not there. */
uint32_t top_ids_get(const struct top_ids *ids, uint64_t id);
void top_ids_set(struct top_ids *ids, uint64_t id, uint32_t number);
void top_ids_clear(struct top_ids *ids); /* all zero is an empty table, too */

/* Identities from others and from words; never 0. */
uint64_t top_id_mix(uint64_t id, uint64_t more);
uint64_t top_id_text(uint64_t id, const char *text);

#endif
