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

/* ---- what `from` does not know of ---- */

/* One tree is walked; the other's node is the same context, as far as it has it. */
struct pair {
    const struct mcct *walked, *other;
    uint32_t node, twin;
    uint64_t missing; /* levels below `twin` that the other lacks */
};

static void down(struct pair *pair, uint32_t child) {
    uint32_t frame = node_at(&pair->walked->pool, child)->frame;
    uint32_t found = pair->missing == 0 ? mcct_child(pair->other, pair->twin, frame) : 0;
    if (found != 0)
        pair->twin = found;
    else
        pair->missing++;
    pair->node = child;
}

static void up(struct pair *pair) {
    pair->node = node_at(&pair->walked->pool, pair->node)->parent;
    if (pair->missing != 0)
        pair->missing--;
    else
        pair->twin = node_at(&pair->other->pool, pair->twin)->parent;
}

/* Moves to the next node in preorder. False: that was the last. */
static bool advance(struct pair *pair) {
    const struct mcct *tree = pair->walked;
    uint32_t next = children_first(tree, node_at(&tree->pool, pair->node));
    while (next == 0) {
        uint32_t child = pair->node;
        if (child == MCCT_ROOT)
            return false;
        up(pair);
        next = children_after(tree, node_at(&tree->pool, pair->node), child);
    }
    down(pair, next);
    return true;
}

static void add(struct mcct_node *n, uint64_t count, uint64_t error) {
    n->count = add_saturating(n->count, count);
    n->error = add_saturating(n->error, error);
}

static bool both_monitor(const struct pair *pair) {
    return pair->missing == 0 && tree_is_monitored(pair->walked, pair->node) &&
           tree_is_monitored(pair->other, pair->twin);
}

/* What only `into` monitors gains `unseen`: all of it has to be visited. */
static void gain_unseen(struct mcct *into, const struct mcct *from, uint64_t unseen) {
    struct pair pair = {.walked = into, .other = from, .node = MCCT_ROOT, .twin = MCCT_ROOT};
    do {
        if (tree_is_monitored(into, pair.node) && !both_monitor(&pair))
            add(node_at(&into->pool, pair.node), unseen, unseen);
    } while (advance(&pair));
}

/* ---- what `from` has ---- */

struct adoption {
    struct mcct *into;
    const struct mcct *from;
    struct mcct_cursor cursor; /* in `into`, on the context of from_node */
    uint32_t from_node;
    uint64_t left_out; /* the largest count for which there was no memory */
};

static void follow(struct adoption *a, uint32_t node, const struct mcct_view *view) {
    if (node == MCCT_ROOT)
        return;
    for (; a->from_node != view->parent; mcct_pop(&a->cursor, 1))
        a->from_node = node_at(&a->from->pool, a->from_node)->parent;
    mcct_push(&a->cursor, view->frame);
    a->from_node = node;
}

/* What is below a node of `from` and not kept there is below the same node of `into`, or the
 * nearest that is there. */
static bool add_residual(void *arg, uint32_t frame, uint64_t weight) {
    struct adoption *a = arg;
    residual_add(a->into, a->cursor.node, frame, weight);
    return true;
}

static void leave_out(struct adoption *a, const struct mcct_view *view) {
    if (view->count > a->left_out)
        a->left_out = view->count;
    if (a->cursor.missing == 0)
        tree_refuse(a->into, a->cursor.node, view->count - view->error);
    else
        residual_add(a->into, a->cursor.node, view->frame, view->count - view->error);
}

static bool adopt(void *arg, uint32_t node, const struct mcct_view *view) {
    struct adoption *a = arg;
    follow(a, node, view);
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
    struct adoption a = {.into = into, .from = from, .from_node = MCCT_ROOT};
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
    tree_unpack(into);
    tree_unpack(from);
    uint64_t unseen = from->kind->unseen(from->summary);
    if (unseen != 0)
        gain_unseen(into, from, unseen);
    uint64_t left_out = adopt_all(into, from);
    uint64_t more = left_out > unseen ? left_out : unseen;
    kind->raise(into->summary, add_saturating(kind->unseen(into->summary), more));
    into->total = add_saturating(into->total, from->total);
    into->updates += from->updates;
    into->capped = add_saturating(into->capped, from->capped);
    kind->trim(into->summary);
    return left_out == 0;
}
