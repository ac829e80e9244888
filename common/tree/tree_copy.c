/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * tree_copy.c - a walk over a tree that keeps what it sees.
 */
#include "common/tree/tree_copy.h"

#include <stdlib.h>

#include "common/base/array_grow.h"

struct copying {
    const struct mcct *tree;
    struct tree_copy *copy;
    uint32_t of; /* the node in the copy whose residuals come */
    size_t room;
    uint32_t *path; /* indices in the copy of the nodes from the root to the one before */
    size_t path_room;
    bool failed;
};

static bool make_room(struct copying *copying) {
    struct tree_copy *copy = copying->copy;
    return array_grow(&copy->node, copy->n, &copying->room, sizeof *copy->node);
}

static bool visit_residual(void *arg, uint32_t frame, uint64_t weight) {
    struct copying *copying = arg;
    struct tree_copy *copy = copying->copy;
    copying->failed = !make_room(copying);
    if (!copying->failed)
        copy->node[copy->n++] = (struct copied_node){
            .parent = copying->of, .frame = frame, .count = weight, .residual = true};
    return !copying->failed;
}

static bool visit(void *arg, uint32_t node, const struct mcct_view *view) {
    struct copying *copying = arg;
    struct tree_copy *copy = copying->copy;
    copying->failed =
        !make_room(copying) ||
        !array_grow(&copying->path, view->depth, &copying->path_room, sizeof *copying->path);
    if (copying->failed)
        return false;
    copying->path[view->depth] = (uint32_t)copy->n;
    copy->node[copy->n++] = (struct copied_node){
        .parent = view->depth != 0 ? copying->path[view->depth - 1] : 0,
        .frame = view->frame,
        .count = view->monitored ? view->count : 0,
        .error = view->monitored ? view->error : 0,
    };
    copying->of = (uint32_t)copy->n - 1;
    copying->failed =
        !mcct_residuals(copying->tree, node, visit_residual, copying) || copying->failed;
    return !copying->failed;
}

bool tree_copy_take(struct tree_copy *copy, const struct mcct *tree) {
    struct copying copying = {.tree = tree, .copy = copy};
    *copy = (struct tree_copy){0};
    mcct_stats(tree, &copy->stats);
    bool whole = mcct_walk(tree, visit, &copying) && !copying.failed;
    free(copying.path);
    if (!whole)
        tree_copy_free(copy);
    return whole;
}

void tree_copy_free(struct tree_copy *copy) {
    free(copy->node);
    *copy = (struct tree_copy){0};
}
