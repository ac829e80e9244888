/*
 * tree_copy.c - a walk over a tree that keeps what it sees.
 */
#include "common/tree/tree_copy.h"

#include <stdlib.h>

struct copying {
    const struct mcct *tree;
    struct tree_copy *copy;
    uint32_t of; /* the node in the copy whose residuals come */
    size_t room;
    uint32_t *index_of; /* by tree node */
    uint32_t index_room;
    bool failed;
};

static bool remember(struct copying *copying, uint32_t tree_node, uint32_t index) {
    if (tree_node >= copying->index_room) {
        uint32_t room =
            tree_node + 1024 > 2 * copying->index_room ? tree_node + 1024 : 2 * copying->index_room;
        uint32_t *grown = realloc(copying->index_of, room * sizeof *grown);
        if (grown == NULL)
            return false;
        copying->index_of = grown;
        copying->index_room = room;
    }
    copying->index_of[tree_node] = index;
    return true;
}

static bool make_room(struct copying *copying) {
    if (copying->copy->n < copying->room)
        return true;
    size_t room = copying->room != 0 ? 2 * copying->room : 1024;
    struct copied_node *grown = realloc(copying->copy->node, room * sizeof *grown);
    if (grown == NULL)
        return false;
    copying->copy->node = grown;
    copying->room = room;
    return true;
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
    copying->failed = !make_room(copying) || !remember(copying, node, (uint32_t)copy->n);
    if (copying->failed)
        return false;
    copy->node[copy->n++] = (struct copied_node){
        .parent = view->parent != 0 ? copying->index_of[view->parent] : 0,
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
    free(copying.index_of);
    if (!whole)
        tree_copy_free(copy);
    return whole;
}

void tree_copy_free(struct tree_copy *copy) {
    free(copy->node);
    *copy = (struct tree_copy){0};
}
