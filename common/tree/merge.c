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
 *   - the counts need not reach N: what the contexts that went have weighed is in none of them, but
 *     in residuals (residual.h), which are added node by node.
 *
 * The order of work depends on nothing but the contexts, so that a merge can be repeated. It needs
 * no more than `from`'s size of time where that has seen all of its contexts.
 */
#include "common/tree/mcct.h"

#include "common/tree/children.h"
#include "common/tree/packed.h"

/* ---- what `from` does not know of ---- */

static void add(struct mcct_node *n, uint64_t count, uint64_t error) {
    n->count = add_saturating(n->count, count);
    n->error = add_saturating(n->error, error);
}

/* Where the walk through `from` is in `into`. */
struct twin {
    struct mcct *into;
    uint32_t node, depth;
    uint32_t missing; /* levels below `node` that are not there */
};

static void twin_up(struct twin *twin) {
    if (twin->missing != 0)
        twin->missing--;
    else
        twin->node = node_at(&twin->into->pool, twin->node)->parent;
    twin->depth--;
}

static void twin_down(struct twin *twin, uint32_t frame) {
    struct mcct *into = twin->into;
    uint32_t child = 0;
    if (twin->missing == 0)
        child = children_find(into, node_at(&into->pool, twin->node), frame);
    if (child != 0)
        twin->node = child;
    else
        twin->missing++;
    twin->depth++;
}

/* Nodes of `into` that both monitor are held for a while. */
static bool hold_twin(void *arg, uint32_t node, const struct mcct_view *view) {
    struct twin *twin = arg;
    (void)node;
    while (twin->depth >= view->depth && twin->depth > 0)
        twin_up(twin);
    if (view->depth > 0)
        twin_down(twin, view->frame);
    if (view->monitored && twin->missing == 0 && tree_is_monitored(twin->into, twin->node))
        node_at(&twin->into->pool, twin->node)->links |= NODE_HELD;
    return true;
}

/* What only `into` monitors gains `unseen`. Without memory for the walk so does what both monitor:
 * bounds are true then, and wider. */
static void gain_unseen(struct mcct *into, const struct mcct *from, uint64_t unseen) {
    struct twin twin = {.into = into, .node = MCCT_ROOT};
    (void)mcct_walk(from, hold_twin, &twin);
    for (uint32_t node = MCCT_ROOT; node != 0; node = children_next_node(into, node)) {
        struct mcct_node *n = node_at(&into->pool, node);
        if ((n->links & (NODE_MONITORED | NODE_HELD)) == NODE_MONITORED)
            add(n, unseen, unseen);
        n->links &= ~NODE_HELD;
    }
}

/* ---- what `from` has ---- */

struct adoption {
    struct mcct *into;
    const struct mcct *from;
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
    if (a->cursor.missing == 0 && tree_is_monitored(a->into, a->cursor.node))
        add(node_at(&a->into->pool, a->cursor.node), view->count, view->error);
    else if (a->cursor.missing != 0 ||
             !tree_adopt(a->into, a->cursor.node, view->count, view->error))
        leave_out(a, view);
    return true;
}

/* Gives the largest count of a context that had to be left out. */
static uint64_t adopt_all(struct mcct *into, const struct mcct *from) {
    struct adoption a = {.into = into, .from = from};
    mcct_cursor_open(into, &a.cursor);
    if (!mcct_walk(from, adopt, &a))
        a.left_out = from->total; /* no count is known to be the largest */
    mcct_cursor_close(&a.cursor);
    return a.left_out;
}

bool mcct_merge(struct mcct *into, const struct mcct *from) {
    const struct summary_kind *kind = into->kind;
    if (from->kind != kind)
        return false;
    struct mcct_stats stats;
    mcct_stats(from, &stats);
    packed_end(into);
    if (stats.unseen != 0)
        gain_unseen(into, from, stats.unseen);
    uint64_t left_out = adopt_all(into, from);
    uint64_t more = left_out > stats.unseen ? left_out : stats.unseen;
    kind->raise(into->summary, add_saturating(kind->unseen(into->summary), more));
    into->total = add_saturating(into->total, from->total);
    into->updates += from->updates;
    into->capped = add_saturating(into->capped, from->capped);
    kind->trim(into->summary);
    return left_out == 0;
}
