/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * filter.c - the cells of a filter.
 */
#include "common/tree/filter.h"

#include <stdlib.h>

#include "common/tree/path_hash.h"

#define CELLS_PER_COUNTER 4u /* at least, and less than twice as many */

static uint32_t cells(const struct filter *filter) {
    return 1u << (32 - filter->shift);
}

/* Half of what is left of the tree's memory is for more nodes. */
static uint32_t *new_cells(struct mcct *tree, uint32_t n) {
    struct budget *budget = &tree->budget;
    size_t bytes = n * sizeof(uint32_t);
    if (budget->max != 0 && bytes > (budget->max - budget->used) / 2)
        return NULL;
    uint32_t *cell = malloc(bytes);
    if (cell != NULL && !budget_take(budget, bytes)) {
        free(cell);
        cell = NULL;
    }
    return cell;
}

void filter_fill(struct filter *filter, uint64_t bound) {
    for (uint32_t i = 0; i < cells(filter); i++)
        filter_set(&filter->cell[i], bound);
}

bool filter_begin(struct filter *filter, struct mcct *tree, uint64_t bound) {
    filter->shift = 31;
    while (filter->shift > 1 && cells(filter) / CELLS_PER_COUNTER < tree->capacity)
        filter->shift--;
    filter->cell = new_cells(tree, cells(filter));
    if (filter->cell == NULL)
        return false;
    if (!path_hash_begin(tree)) {
        budget_give(&tree->budget, cells(filter) * sizeof(uint32_t));
        filter_free(filter);
        return false;
    }
    filter_fill(filter, bound);
    return true;
}

void filter_free(struct filter *filter) {
    free(filter->cell);
    filter->cell = NULL;
}
