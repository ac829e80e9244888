/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * chance_row.h - what chance made of the weights of a push, as two arrays of the table `totals`.
 *
 * `chance` is added up over pushes, element by element; it begins with 1, so that its sum tells
 * how many pushes have it. Of `chance_most` the greatest counts. They are those of common/profile/
 * merge.h: what they say of a sum of pushes is what merged profiles say.
 */
#ifndef HCCT_CHANCE_ROW_H
#define HCCT_CHANCE_ROW_H

#include "common/profile/profile.h"

struct json_object;

#define CHANCE_SUMS 19
#define CHANCE_MOST 6

/* Of a push of a process. */
void chance_row_make(const struct profile_process *process, uint64_t sums[CHANCE_SUMS],
                     uint64_t most[CHANCE_MOST]);

/* Of a row that is the sum of so many pushes. Where some do not have it nothing is known, and the
 * process stays as it is: no interval of its total is shown. */
void chance_row_read(const struct json_object *row, uint64_t pushes,
                     struct profile_process *process);

#endif
