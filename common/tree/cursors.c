/*
 * cursors.c - cursors that follow others into another tree.
 */
#include <stdlib.h>

#include "common/tree/mcct.h"
#include "common/tree/tree.h"

/* Frames of the nodes between the root and `node`, outermost first. NULL: no memory. */
static uint32_t *path_to(const struct mcct *tree, uint32_t node, uint64_t depth) {
    uint32_t *frames = malloc((size_t)depth * sizeof *frames);
    for (uint64_t i = depth; i-- > 0 && frames != NULL;) {
        const struct mcct_node *n = node_at(&tree->pool, node);
        frames[i] = n->frame;
        node = n->parent;
    }
    return frames;
}

void mcct_cursor_open_at(struct mcct *tree, struct mcct_cursor *cursor,
                         const struct mcct_cursor *at) {
    uint64_t depth = mcct_depth(at) - at->missing;
    mcct_cursor_open(tree, cursor);
    uint32_t *frames = depth > 0 ? path_to(at->tree, at->node, depth) : NULL;
    for (uint64_t i = 0; i < depth && frames != NULL; i++)
        mcct_push(cursor, frames[i]);
    cursor->missing += frames != NULL ? at->missing : depth + at->missing;
    free(frames);
}

void mcct_close_cursors(struct mcct *tree) {
    while (tree->cursors.next != &tree->cursors)
        mcct_cursor_close(tree->cursors.next);
}
