/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * stack_row.h - a calling context as a row of the table `stacks`, and back.
 *
 * A row has one element for each frame in each of its arrays, the outermost first: functions,
 * system_names, files, lines, modules, build_ids, addresses, kinds. `kinds` has STACK_INLINED where
 * a frame was inlined into the one before, at the same address, and STACK_ENTRY where it stands for
 * its function as a whole.
 */
#ifndef HCCT_STACK_ROW_H
#define HCCT_STACK_ROW_H

#include <stdbool.h>
#include <stdint.h>

#include "common/profile/profile.h"

struct json_object;

enum { STACK_INLINED = 1, STACK_ENTRY = 2 };

/* The members of the row, as JSON without the braces; free() gives it back. Equal contexts have
 * equal text, on any machine, and so equal hashes of it. */
char *stack_row_write(const struct profile *profile, uint32_t node, uint64_t *hash);

/* The locations of the row, the outermost first, `n` of them; free() gives them back. NULL: it is
 * no such row. */
uint32_t *stack_row_read(struct profile *profile, const struct json_object *row, uint32_t *n);

#endif
