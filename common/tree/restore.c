/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * restore.c - a tree from what was written down of another.
 *
 * As merging into an empty tree (merge.c), but for counts that come one by one, from any summary:
 * what is known of a context is its bounds, and these mean the same to all kinds.
 */
#include "common/tree/mcct.h"

#include "common/tree/packed.h"
#include "common/tree/tree.h"

bool mcct_restore(struct mcct_cursor *cursor, uint64_t count, uint64_t error) {
    struct mcct *tree = cursor->tree;
    packed_end(tree);
    if (cursor->missing != 0 || cursor->node == MCCT_ROOT || count == 0 || error > count ||
        tree_is_monitored(tree, cursor->node))
        return false;
    return tree_adopt(tree, cursor->node, count, error);
}

void mcct_restore_residual(struct mcct_cursor *cursor, uint32_t frame, uint64_t weight) {
    packed_end(cursor->tree);
    residual_add(&cursor->tree->residuals, cursor->node, frame, weight);
}

void mcct_restored(struct mcct *tree, const struct mcct_stats *stats) {
    packed_end(tree);
    uint64_t unseen = tree->kind->unseen(tree->summary);
    /* what was left out weighs at most stats->unseen, what had to go since then at most ours */
    tree->kind->raise(tree->summary, unseen > stats->unseen ? unseen : stats->unseen);
    tree->total = add_saturating(tree->total, stats->total);
    tree->updates += stats->updates;
    tree->capped = add_saturating(tree->capped, stats->capped);
    tree->kind->trim(tree->summary);
}
