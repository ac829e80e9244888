/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * history_sum.h - hours of one log added up: by the numbers of contexts, without reading a name.
 *
 * The sum is what merge_parts() makes of the hours' profiles. Gets memory by memory.h.
 */
#ifndef HCCT_HISTORY_SUM_H
#define HCCT_HISTORY_SUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/profile/profile.h"
#include "daemon/history/history_words.h"

struct history_sum;

/* Which processes; NULL: all. */
struct history_choice {
    bool (*wants)(const void *arg, const struct profile_process *process);
    const void *arg;
};

/* The words are the caller's, and have all that columns refer to. */
struct history_sum *history_sum_new(struct history_words *words,
                                    const struct history_choice *choice);
/* Adds an hour or a day (history_column.h). False: it is damaged, and what was added of it is not
 * to be shown. */
bool history_sum_add(struct history_sum *sum, const uint8_t *column, size_t bytes);

/* All of them as one profile, and by node how many trees count it (struct merge_part), both the
 * caller's. NULL: nothing has weight. Processes that are alike are one. */
struct profile *history_sum_profile(struct history_sum *sum, uint32_t **trees);
void history_sum_free(struct history_sum *sum);

#endif
