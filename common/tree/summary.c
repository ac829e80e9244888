/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * summary.c - the table of summaries.
 */
#include "common/tree/summary.h"

#include <string.h>

const struct summary_kind *const summary_kinds[] = {
    &summary_filtered_space_saving,
    &summary_space_saving,
    &summary_space_saving_list,
    &summary_lossy_counting,
    &summary_sticky_sampling,
    &summary_exact,
    &(const struct summary_kind){.name = NULL},
};

const struct summary_kind *summary_find(const char *name) {
    for (const struct summary_kind *const *kind = summary_kinds; (*kind)->name != NULL; kind++)
        if (strcmp((*kind)->name, name) == 0)
            return *kind;
    return NULL;
}
