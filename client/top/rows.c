/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * rows.c - a walk over the tree, with the children of each node put in order.
 */
#include "client/top/rows.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/memory.h"

/* ---- search ---- */

static bool has_capital(const char *text) {
    while (*text != '\0' && !isupper((unsigned char)*text))
        text++;
    return *text != '\0';
}

bool top_view_matches(const struct top_view *view, const struct top_frame *frame) {
    if (view->search[0] == '\0')
        return false;
    if (has_capital(view->search))
        return strstr(frame->name, view->search) != NULL ||
               strstr(frame->module, view->search) != NULL;
    return strcasestr(frame->name, view->search) != NULL ||
           strcasestr(frame->module, view->search) != NULL;
}

enum { NEAR_NOTHING, BELOW_MATCH, ABOVE_MATCH }; /* a match itself is above one */

/* By node: where it is to a match. NULL: all is to be seen. */
static uint8_t *mark_matches(const struct top_tree *tree, const struct top_view *view) {
    if (!view->only || view->search[0] == '\0')
        return NULL;
    uint8_t *near = memory_new(tree->n, sizeof *near, "contexts");
    for (uint32_t i = tree->n - 1; i > 0; i--) {
        const struct top_node *node = &tree->node[i];
        if (near[i] == ABOVE_MATCH || top_view_matches(view, &tree->frame[node->frame]))
            near[i] = near[node->parent] = ABOVE_MATCH;
    }
    for (uint32_t i = 1; i < tree->n; i++) { /* what is called by a match belongs to it */
        const struct top_node *node = &tree->node[i];
        uint32_t up = node->parent;
        if (near[i] == NEAR_NOTHING &&
            (near[up] == BELOW_MATCH ||
             (up != 0 && top_view_matches(view, &tree->frame[tree->node[up].frame]))))
            near[i] = BELOW_MATCH;
    }
    return near;
}

/* ---- order ---- */

struct order {
    const struct top_tree *tree;
    enum top_sort sort;
};

static uint64_t sort_weight(const struct top_node *node, enum top_sort sort) {
    switch (sort) {
    case TOP_BY_SELF:
        return node->weight[TOP_TOTAL].self;
    case TOP_BY_RECENT:
        return node->weight[TOP_RECENT].inclusive;
    case TOP_BY_RECENT_SELF:
        return node->weight[TOP_RECENT].self;
    default:
        return node->weight[TOP_TOTAL].inclusive;
    }
}

/* Heaviest first; equal ones by their inclusive weight, then by name, so that they keep still. */
static int compare(const void *a, const void *b, void *arg) {
    const struct order *order = arg;
    const struct top_node *x = &order->tree->node[*(const uint32_t *)a];
    const struct top_node *y = &order->tree->node[*(const uint32_t *)b];
    int names = strcmp(order->tree->frame[x->frame].name, order->tree->frame[y->frame].name);
    if (order->sort == TOP_BY_NAME && names != 0)
        return names;
    uint64_t heavy_x = sort_weight(x, order->sort), heavy_y = sort_weight(y, order->sort);
    if (heavy_x == heavy_y) {
        heavy_x = x->weight[TOP_TOTAL].inclusive;
        heavy_y = y->weight[TOP_TOTAL].inclusive;
    }
    if (heavy_x != heavy_y)
        return heavy_x > heavy_y ? -1 : 1;
    return names != 0 ? names : x->id < y->id ? -1 : x->id > y->id;
}

/* ---- rows ---- */

struct walk {
    const struct top_tree *tree;
    const struct top_view *view;
    struct top_rows *rows;
    uint8_t *near;
    struct top_row *pending; /* a stack: rows still to come, the next one last */
    uint32_t n, room;
    uint32_t *child; /* of one node, in order */
    uint32_t child_room;
};

static bool is_seen(const struct walk *w, uint32_t number) {
    const struct top_node *node = &w->tree->node[number];
    if (w->near != NULL && w->near[number] == NEAR_NOTHING)
        return false;
    for (int span = 0; span < TOP_SPANS; span++) {
        double all = (double)w->tree->node[0].weight[span].inclusive;
        uint64_t has = node->weight[span].inclusive;
        if (has > 0 && (double)has >= w->view->least * all)
            return true;
    }
    return false;
}

static uint32_t children(struct walk *w, uint32_t number) {
    uint32_t n = 0;
    for (uint32_t i = w->tree->node[number].first; i != 0; i = w->tree->node[i].next) {
        if (!is_seen(w, i))
            continue;
        w->child = memory_grow(w->child, n, &w->child_room, sizeof *w->child, "rows");
        w->child[n++] = i;
    }
    return n;
}

static bool is_open(const struct walk *w, uint32_t number) {
    const struct top_node *node = &w->tree->node[number];
    uint32_t state = top_ids_get(&w->view->folds, node->id);
    if (state != TOP_FOLD_UNSAID)
        return state == TOP_UNFOLDED;
    if (w->near != NULL && w->near[number] == ABOVE_MATCH)
        return true;
    if (w->view->open != TOP_OPEN_HOT)
        return w->view->open == TOP_OPEN_ALL;
    for (int span = 0; span < TOP_SPANS; span++)
        if (node->weight[span].inclusive > 0 &&
            (double)node->weight[span].inclusive >=
                TOP_HOT_SHARE * (double)w->tree->node[0].weight[span].inclusive)
            return true;
    return false;
}

/* Children of `above` (NULL: roots), to be shown next. */
static void push_children(struct walk *w, const struct top_row *above, uint32_t n) {
    struct order order = {w->tree, w->view->sort};
    struct top_row row = {.lone = n == 1 && above != NULL};
    if (above != NULL) {
        row.level = above->level;
        row.bars = above->bars;
        if (!row.lone && row.level < TOP_LEVELS_MAX)
            row.level++;
    }
    if (n > 1)
        qsort_r(w->child, n, sizeof *w->child, compare, &order);
    for (uint32_t i = n; i-- > 0;) {
        row.node = w->child[i];
        row.last = i == n - 1;
        w->pending = memory_grow(w->pending, w->n, &w->room, sizeof *w->pending, "rows");
        w->pending[w->n++] = row;
    }
}

static void show(struct walk *w, struct top_row *row) {
    const struct top_node *node = &w->tree->node[row->node];
    struct top_rows *rows = w->rows;
    uint32_t n = children(w, row->node);
    row->match = top_view_matches(w->view, &w->tree->frame[node->frame]);
    row->leaf = n == 0;
    row->open = n > 0 && is_open(w, row->node);
    rows->row = memory_grow(rows->row, rows->n, &rows->room, sizeof *row, "rows");
    rows->row[rows->n++] = *row;
    if (!row->open)
        return;
    if (row->level > 0 && !row->lone) { /* what is below passes the brothers that come later */
        uint64_t bar = 1ull << row->level;
        row->bars = row->last ? row->bars & ~bar : row->bars | bar;
    }
    push_children(w, row, n);
}

void top_rows_make(struct top_rows *rows, const struct top_tree *tree,
                   const struct top_view *view) {
    struct walk w = {.tree = tree, .view = view, .rows = rows, .near = mark_matches(tree, view)};
    rows->n = 0;
    push_children(&w, NULL, children(&w, 0));
    while (w.n > 0) {
        struct top_row row = w.pending[--w.n];
        show(&w, &row);
    }
    free(w.near);
    free(w.pending);
    free(w.child);
}

void top_rows_free(struct top_rows *rows) {
    free(rows->row);
    *rows = (struct top_rows){0};
}

uint32_t top_rows_find(const struct top_rows *rows, const struct top_tree *tree, uint64_t id) {
    uint32_t i = 0;
    while (i < rows->n && tree->node[rows->row[i].node].id != id)
        i++;
    return i;
}

/* ---- what people do ---- */

uint32_t top_view_search(const struct top_view *view, const struct top_tree *tree, uint64_t from,
                         int step) {
    struct top_view all = *view;
    struct top_rows rows = {0};
    uint32_t found = 0;
    all.folds = (struct top_ids){0};
    all.open = TOP_OPEN_ALL;
    all.least = 0;
    top_rows_make(&rows, tree, &all);
    uint32_t at = top_rows_find(&rows, tree, from);
    if (at == rows.n) /* begin at an end */
        at = step > 0 && rows.n > 0 ? rows.n - 1 : 0;
    for (uint32_t i = 0; i < rows.n && found == 0; i++) {
        at = step > 0 ? (at + 1) % rows.n : (at + rows.n - 1) % rows.n;
        if (rows.row[at].match)
            found = rows.row[at].node;
    }
    top_rows_free(&rows);
    return found;
}

void top_view_fold(struct top_view *view, const struct top_node *node, enum top_fold fold) {
    top_ids_set(&view->folds, node->id, fold);
}

void top_view_reveal(struct top_view *view, const struct top_tree *tree, uint32_t node) {
    for (uint32_t up = tree->node[node].parent; up != 0; up = tree->node[up].parent)
        top_view_fold(view, &tree->node[up], TOP_UNFOLDED);
}

void top_view_fold_all(struct top_view *view, enum top_open open) {
    top_ids_clear(&view->folds);
    view->open = open;
}
