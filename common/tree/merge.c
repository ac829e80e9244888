/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * merge.c - one tree added to another.
 *
 * Agarwal, Cormode, Huang, Phillips, Wei, Yi: Mergeable summaries (PODS 2012). A context that only
 * one side monitors weighs at most the other's `unseen` there, so that much is added to its count
 * and to its error; then the least counts go until the capacity is met.
 *
 * Afterwards, with N = N1 + N2, u1 and u2 what the two said of unseen contexts:
 *   - count - error <= true weight <= count for each monitored context, true <= unseen for all
 *     others, unseen >= u1 + u2; so each context of weight above `unseen` is monitored;
 *   - stats.total is N;
 *   - if both had the same capacity k, and no memory cap was met, the counts add up to at most N,
 *     so that each error, and unseen, is at most N/k, as if one summary had seen all. Why: of the k
 *     counts that stay, let j come from contexts that the first monitors. The k - j others gained
 *     u1 each, but the first has at least k - j contexts of counts >= u1 that did not stay (or is
 *     not full, and u1 = 0): the first's share of all that stays is at most N1. The same for N2.
 *   - the counts need not add up to N: the weight of evicted contexts is in no count, but in
 *     residuals (residual.h), which are added node by node.
 *
 * The order of work depends on nothing but the contexts, so that a merge can be repeated. It takes
 * time in proportion to the size of `from`, where `from` has evicted nothing.
 */
#include "common/tree/mcct.h"

#include "common/tree/children.h"
#include "common/tree/packed.h"

/* ---- what `from` does not know of ---- */

static void add(struct mcct_node *n, uint64_t count, uint64_t error) {
    n->count = add_saturating(n->count, count);
    n->error = add_saturating(n->error, error);
}

/* All that `into` monitors gains `unseen`. */
static void gain(struct mcct *into, uint64_t unseen) {
    for (uint32_t node = MCCT_ROOT; node != 0; node = children_next_node(into, node))
        if (tree_is_monitored(into, node))
            add(node_at(&into->pool, node), unseen, unseen);
}

/* But not this one. A count that is as large as can be stays so. */
static void take_back(struct mcct_node *n, uint64_t unseen) {
    if (n->count == UINT64_MAX)
        return;
    n->count -= unseen;
    n->error -= unseen;
}

/* ---- what `from` has ---- */

struct adoption {
    struct mcct *into;
    const struct mcct *from;
    uint64_t unseen;           /* of `from`: all that was in `into` has gained it */
    struct mcct_cursor cursor; /* in `into`, where the walk is in `from` */
    uint64_t left_out;         /* the largest count for which there was no memory */
};

static void follow(struct mcct_cursor *cursor, const struct mcct_view *view) {
    if (view->depth == 0)
        return;
    mcct_pop(cursor, mcct_depth(cursor) - (view->depth - 1));
    mcct_push(cursor, view->frame);
}

/* What is below a node of `from` and not kept there is below the same node of `into`, or the
 * nearest that is there. */
static bool add_residual(void *arg, uint32_t frame, uint64_t weight) {
    struct adoption *a = arg;
    residual_add(&a->into->residuals, a->cursor.node, frame, weight);
    return true;
}

static void leave_out(struct adoption *a, const struct mcct_view *view) {
    if (view->count > a->left_out)
        a->left_out = view->count;
    if (a->cursor.missing == 0)
        tree_refuse(a->into, a->cursor.node, view->count - view->error);
    else
        residual_add(&a->into->residuals, a->cursor.node, view->frame, view->count - view->error);
}

static bool adopt(void *arg, uint32_t node, const struct mcct_view *view) {
    struct adoption *a = arg;
    follow(&a->cursor, view);
    (void)mcct_residuals(a->from, node, add_residual, a);
    if (!view->monitored)
        return true;
    if (a->cursor.missing == 0 && tree_is_monitored(a->into, a->cursor.node)) {
        take_back(a->cursor.here, a->unseen);
        add(a->cursor.here, view->count, view->error);
    } else if (a->cursor.missing != 0 ||
               !tree_adopt(a->into, a->cursor.node, view->count, view->error)) {
        leave_out(a, view);
    }
    return true;
}

/* Gives the largest count of a context that had to be left out. */
static uint64_t adopt_all(struct mcct *into, const struct mcct *from, uint64_t unseen) {
    struct adoption a = {.into = into, .from = from, .unseen = unseen};
    mcct_cursor_open(into, &a.cursor);
    if (!mcct_walk(from, adopt, &a)) /* what it did not come to keeps what it gained */
        a.left_out = from->total;    /* no count is known to be the largest */
    mcct_cursor_close(&a.cursor);
    return a.left_out;
}

bool mcct_merge(struct mcct *into, const struct mcct *from) {
    const struct summary_kind *kind = into->kind;
    if (from->kind != kind)
        return false;
    struct mcct_stats stats;
    mcct_stats(from, &stats);
    tree_end_waiting(into);
    packed_end(into);
    if (stats.unseen != 0)
        gain(into, stats.unseen);
    uint64_t left_out = adopt_all(into, from, stats.unseen);
    uint64_t more = left_out > stats.unseen ? left_out : stats.unseen;
    kind->raise(into->summary, add_saturating(kind->unseen(into->summary), more));
    into->total = add_saturating(into->total, from->total);
    into->updates += from->updates;
    into->capped = add_saturating(into->capped, from->capped);
    kind->trim(into->summary);
    return left_out == 0;
}
