/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * node_list.c - an array that doubles, and Hoare's selection in it (Algorithm 65: Find, CACM 1961).
 */
#include "common/tree/node_list.h"

#include <stdlib.h>

void node_list_free(struct node_list *list) {
    free(list->node);
    *list = (struct node_list){0};
}

bool node_list_reserve(struct node_list *list, struct mcct *tree) {
    if (list->n < list->room)
        return true;
    uint32_t room = list->room != 0 ? 2 * list->room : NODE_LIST_MIN;
    size_t more = (room - list->room) * sizeof *list->node;
    if (!budget_take(&tree->budget, more))
        return false;
    uint32_t *grown = realloc(list->node, room * sizeof *grown);
    if (grown == NULL) {
        budget_give(&tree->budget, more);
        return false;
    }
    list->node = grown;
    list->room = room;
    return true;
}

static void swap(uint32_t *a, uint32_t *b) {
    uint32_t was = *a;
    *a = *b;
    *b = was;
}

/* Larger counts before smaller ones: afterwards everything from `low` up to *right is at least as
 * large as the one that was in the middle, everything from *left up to `high` at most. */
static void part(const struct mcct *tree, uint32_t *node, ptrdiff_t low, ptrdiff_t high,
                 ptrdiff_t *left, ptrdiff_t *right) {
    uint64_t pivot = tree_count(tree, node[low + (high - low) / 2]);
    ptrdiff_t i = low, j = high;
    while (i <= j) {
        while (tree_count(tree, node[i]) > pivot)
            i++;
        while (tree_count(tree, node[j]) < pivot)
            j--;
        if (i <= j)
            swap(&node[i++], &node[j--]);
    }
    *left = i;
    *right = j;
}

void node_list_split(struct node_list *list, const struct mcct *tree, uint32_t keep) {
    ptrdiff_t low = 0, high = (ptrdiff_t)list->n - 1;
    while (low < high) {
        ptrdiff_t left, right;
        part(tree, list->node, low, high, &left, &right);
        if (left > keep && right < keep)
            break; /* what lies between is equal */
        if (left <= keep)
            low = left;
        else
            high = right;
    }
}
