/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * mcct_test.c - the tree itself: cursors, credit, pruning, wide nodes, the memory cap, the walk.
 */
#include "tests/check.h"

#include "common/tree/mcct.h"
#include "common/tree/residual.h"
#include "common/tree/summary.h"
#include "tests/tree/nodes.h"
#include "tests/tree/world.h"

static struct mcct *make(const struct summary_kind *kind, double epsilon, size_t max_bytes) {
    struct mcct *tree = mcct_new(
        &(struct mcct_params){.summary = kind, .epsilon = epsilon, .max_bytes = max_bytes});
    if (tree == NULL)
        abort();
    return tree;
}

static struct mcct_stats stats_of(const struct mcct *tree) {
    struct mcct_stats stats;
    mcct_stats(tree, &stats);
    return stats;
}

static struct mcct_view view_of(const struct mcct *tree, uint32_t node) {
    struct mcct_view view;
    node_view(tree, node, &view);
    return view;
}

static void push_all(struct mcct_cursor *cursor, const char *frames) {
    for (; *frames != '\0'; frames++)
        mcct_push(cursor, (uint32_t)*frames);
}

static uint32_t find(const struct mcct *tree, const char *frames) {
    uint32_t node = MCCT_ROOT;
    for (; node != 0 && *frames != '\0'; frames++)
        node = node_child(tree, node, (uint32_t)*frames);
    return node;
}

/* ---- the kinds ---- */

static void test_kinds(void) {
    CHECK(summary_kinds[0] == &summary_filtered_space_saving);
    CHECK(summary_find("filtered-space-saving") == &summary_filtered_space_saving);
    CHECK(summary_find("space-saving") == &summary_space_saving);
    CHECK(summary_find("exact") == &summary_exact);
    CHECK(summary_find("space-saving-list") == &summary_space_saving_list);
    CHECK(summary_find("lossy-counting") == &summary_lossy_counting);
    CHECK(summary_find("sticky-sampling") == &summary_sticky_sampling);
    CHECK(summary_find("") == NULL && summary_find("nonsense") == NULL);
    for (size_t i = 0; summary_kinds[i]->name != NULL; i++)
        CHECK(summary_kinds[i]->help != NULL);
}

/* ---- cursors and counts ---- */

static void test_push_pop_credit(void) {
    struct mcct *tree = make(&summary_exact, 0.1, 0);
    struct mcct_cursor cursor;
    mcct_cursor_open(tree, &cursor);
    CHECK_UINT(mcct_depth(&cursor), 0);
    push_all(&cursor, "abc");
    mcct_credit(&cursor, 5);
    CHECK_UINT(mcct_depth(&cursor), 3);
    CHECK_UINT(mcct_pop(&cursor, 2), 2);
    push_all(&cursor, "bc");
    mcct_credit(&cursor, 7);
    CHECK_UINT(cursor.node, find(tree, "abc"));
    CHECK_UINT(view_of(tree, cursor.node).count, 12);
    CHECK_UINT(view_of(tree, cursor.node).error, 0);
    CHECK_UINT(view_of(tree, cursor.node).frame, 'c');
    CHECK_UINT(view_of(tree, cursor.node).parent, find(tree, "ab"));
    CHECK(!view_of(tree, find(tree, "ab")).monitored);
    CHECK_UINT(mcct_pop(&cursor, UINT64_MAX), 3);
    CHECK_UINT(cursor.node, MCCT_ROOT);
    CHECK_UINT(mcct_pop(&cursor, 1), 0);
    mcct_credit(&cursor, 1); /* the root counts as any context */
    CHECK_UINT(view_of(tree, MCCT_ROOT).count, 1);
    CHECK_UINT(stats_of(tree).total, 13);
    CHECK_UINT(stats_of(tree).updates, 3);
    CHECK_UINT(stats_of(tree).nodes, 4);
    CHECK_UINT(stats_of(tree).monitored, 2);
    CHECK_UINT(stats_of(tree).capacity, 0);
    mcct_cursor_close(&cursor);
    mcct_free(tree);
    mcct_free(NULL);
}

/* A node that was only passed through goes; one with weight, or below one, stays. */
static void test_passing_through(void) {
    struct mcct *tree = make(&summary_space_saving, 0.1, 0);
    struct mcct_cursor cursor;
    mcct_cursor_open(tree, &cursor);
    push_all(&cursor, "abcdef");
    CHECK_UINT(stats_of(tree).nodes, 7);
    mcct_pop(&cursor, 3);
    CHECK_UINT(stats_of(tree).nodes, 4);
    mcct_credit(&cursor, 1);
    mcct_pop(&cursor, 3);
    CHECK_UINT(stats_of(tree).nodes, 4);
    push_all(&cursor, "xyz");
    mcct_cursor_close(&cursor);
    CHECK_UINT(stats_of(tree).nodes, 4);
    CHECK(find(tree, "abc") != 0 && find(tree, "abcd") == 0 && find(tree, "x") == 0);
    mcct_free(tree);
}

/* Algorithm 1: the victim goes with the ancestors that only led to it. */
static void test_eviction_prunes(void) {
    struct mcct *tree = make(&summary_space_saving, 0.5, 0); /* two contexts */
    struct mcct_cursor cursor;
    mcct_cursor_open(tree, &cursor);
    push_all(&cursor, "abcd");
    mcct_credit(&cursor, 1);
    mcct_pop(&cursor, 3);
    push_all(&cursor, "x");
    mcct_credit(&cursor, 10);
    mcct_pop(&cursor, 1);
    push_all(&cursor, "y");
    mcct_credit(&cursor, 2); /* evicts abcd */
    CHECK_UINT(find(tree, "ab"), 0);
    CHECK(find(tree, "ax") != 0 && find(tree, "ay") != 0);
    CHECK_UINT(stats_of(tree).nodes, 4);
    CHECK_UINT(view_of(tree, find(tree, "ay")).count, 3);
    CHECK_UINT(view_of(tree, find(tree, "ay")).error, 1);
    CHECK_UINT(stats_of(tree).unseen, 1);
    mcct_cursor_close(&cursor);
    mcct_free(tree);
}

/* Several cursors on one node: it stays until the last has left, in whichever order. */
static void test_cursors_keep_nodes(void) {
    for (int order = 0; order < 6; order++) {
        struct mcct *tree = make(&summary_space_saving, 0.9, 0);
        struct mcct_cursor c[3], other;
        mcct_cursor_open(tree, &other);
        for (int i = 0; i < 3; i++) {
            mcct_cursor_open(tree, &c[i]);
            push_all(&c[i], "abc");
        }
        static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                         {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
        mcct_credit(&c[1], 1);
        for (uint32_t i = 0; i < 4; i++) { /* evicts abc, where the cursors are */
            mcct_push(&other, 1000 + i);
            mcct_credit(&other, 1);
            mcct_pop(&other, 1);
        }
        CHECK(!view_of(tree, c[0].node).monitored);
        for (int i = 0; i < 3; i++) {
            struct mcct_cursor *cursor = &c[orders[order][i]];
            CHECK_UINT(find(tree, "abc"), cursor->node);
            if (i == 1)
                mcct_cursor_close(cursor);
            else
                CHECK_UINT(mcct_pop(cursor, 3), 3);
        }
        CHECK_UINT(find(tree, "a"), 0);
        CHECK_UINT(stats_of(tree).nodes, 1 + stats_of(tree).monitored);
        mcct_free(tree); /* with open cursors */
    }
}

/* The least of all trees: whatever happens, it stays within nodes for its stacks. */
static void test_many_cursors(struct rng *rng) {
    enum { CURSORS = 40, DEPTH = 30 };
    struct mcct *tree = make(&summary_space_saving, 0.25, 0);
    struct mcct_cursor c[CURSORS];
    for (int i = 0; i < CURSORS; i++)
        mcct_cursor_open(tree, &c[i]);
    for (int step = 0; step < 200000; step++) {
        struct mcct_cursor *cursor = &c[rng_below(rng, CURSORS)];
        uint64_t depth = mcct_depth(cursor), act = rng_below(rng, 5);
        if (act < 2 && depth < DEPTH)
            mcct_push(cursor, 1 + (uint32_t)rng_below(rng, 3));
        else if (act < 4)
            CHECK_UINT(mcct_pop(cursor, 1 + rng_below(rng, 2)) <= depth, 1);
        else
            mcct_credit(cursor, 1 + rng_below(rng, 9));
        if (step % 1000 == 0)
            CHECK(stats_of(tree).nodes <= 1 + (CURSORS + 4) * DEPTH);
    }
    for (int i = 0; i < CURSORS; i++)
        mcct_cursor_close(&c[i]);
    CHECK(stats_of(tree).nodes <= 1 + 4 * DEPTH);
    mcct_free(tree);
}

/* ---- deep and wide ---- */

static void test_deep(void) {
    enum { DEPTH = 1000000 };
    struct mcct *tree = make(&summary_space_saving, 0.01, 0);
    struct mcct_cursor cursor;
    mcct_cursor_open(tree, &cursor);
    for (int i = 0; i < DEPTH; i++)
        mcct_push(&cursor, 1);
    CHECK_UINT(mcct_depth(&cursor), DEPTH);
    CHECK_UINT(stats_of(tree).nodes, DEPTH + 1);
    CHECK_UINT(mcct_pop(&cursor, DEPTH - 5), DEPTH - 5);
    CHECK_UINT(stats_of(tree).nodes, 6);
    size_t bytes = stats_of(tree).bytes;
    for (int i = 0; i < DEPTH / 2; i++)
        mcct_push(&cursor, 2);
    CHECK_UINT(stats_of(tree).bytes, bytes); /* freed nodes are used again */
    mcct_cursor_close(&cursor);
    CHECK_UINT(stats_of(tree).nodes, 1);
    mcct_free(tree);
}

struct order {
    uint64_t n, sum;
    uint32_t last;
    bool rising;
};

static bool note_order(void *arg, uint32_t node, const struct mcct_view *view) {
    struct order *order = arg;
    if (node != MCCT_ROOT && view->parent == MCCT_ROOT) {
        order->rising &= order->n == 0 || view->frame > order->last;
        order->last = view->frame;
        order->n++;
        order->sum += view->count;
    }
    return true;
}

/* As many children as a hostile stream may give a node, added and removed in any order. */
/* n repetitions are n pushes of the same frame, made or not. */
static void test_repeat(void) {
    struct mcct *tree = make(&summary_space_saving, 1e-3, 0), *capped = make(NULL, 1e-3, 16 << 10);
    struct mcct_cursor a, b;
    mcct_cursor_open(tree, &a);
    mcct_cursor_open(tree, &b);
    CHECK(!mcct_repeat(&a, 1));
    mcct_push(&a, 5);
    mcct_push(&b, 5);
    CHECK(mcct_repeat(&a, 0));
    CHECK_UINT(mcct_depth(&a), 1);
    CHECK(mcct_repeat(&a, 300));
    for (int i = 0; i < 300; i++)
        mcct_push(&b, 5);
    CHECK_UINT(mcct_depth(&a), 301);
    CHECK_UINT(a.node, b.node);
    CHECK_UINT(mcct_pop(&a, 301), 301);
    CHECK(!mcct_repeat(&a, 1));
    mcct_cursor_close(&a);
    mcct_cursor_close(&b);
    mcct_free(tree);
    mcct_cursor_open(capped, &a);
    mcct_push(&a, 5);
    CHECK(mcct_repeat(&a, 100000)); /* more than there is memory for */
    CHECK(a.missing > 0);
    CHECK_UINT(mcct_depth(&a), 100001);
    CHECK(mcct_repeat(&a, 10));
    CHECK_UINT(mcct_pop(&a, 200000), 100011);
    mcct_cursor_close(&a);
    mcct_free(capped);
}

static void test_wide(struct rng *rng) {
    enum { FAN = 200000 };
    struct mcct *tree = make(&summary_exact, 0.1, 0);
    struct mcct_cursor cursor;
    mcct_cursor_open(tree, &cursor);
    uint64_t start = rng_next(rng), sum = 0;
    for (uint64_t i = 0; i < 2 * FAN; i++) {
        mcct_push(&cursor, (uint32_t)(start + i % FAN * 2654435761u));
        mcct_credit(&cursor, 1 + i % 3);
        sum += 1 + i % 3;
        CHECK_UINT(mcct_pop(&cursor, 1), 1);
    }
    struct order order = {.rising = true};
    CHECK(mcct_walk(tree, note_order, &order));
    CHECK_UINT(order.n, FAN);
    CHECK_UINT(order.sum, sum);
    CHECK(order.rising);
    CHECK(stats_of(tree).bytes < (size_t)FAN * 45);
    mcct_cursor_close(&cursor);
    mcct_free(tree);
}

/* Wide and narrow again: evictions take children from the table until it is a list. */
static void test_widening(struct rng *rng) {
    struct mcct *tree = make(&summary_space_saving, 1.0 / 3000, 0);
    struct mcct_cursor cursor;
    mcct_cursor_open(tree, &cursor);
    for (int round = 0; round < 4; round++) {
        uint32_t base = (uint32_t)rng_next(rng);
        for (uint32_t i = 0; i < 3000; i++) {
            mcct_push(&cursor, base + i);
            mcct_credit(&cursor, 10);
            mcct_pop(&cursor, 1);
        }
        CHECK(node_child(tree, MCCT_ROOT, base + 2999) != 0);
        mcct_push(&cursor, 1); /* all but one node move below this child, which is wide then */
        for (uint32_t i = 0; i < 3000 * 3; i++) {
            mcct_push(&cursor, base + i);
            mcct_credit(&cursor, 30);
            mcct_pop(&cursor, 1);
        }
        mcct_pop(&cursor, 1);
        CHECK_UINT(node_child(tree, MCCT_ROOT, base + 2999), 0);
        CHECK_UINT(stats_of(tree).nodes, 3002);
    }
    CHECK(stats_of(tree).bytes < 400000 + RESIDUALS_MIN * RESIDUALS_BYTES);
    mcct_cursor_close(&cursor);
    mcct_free(tree);
}

/* ---- the walk ---- */

struct letters {
    char text[64];
    size_t n, stop_at;
};

static bool spell(void *arg, uint32_t node, const struct mcct_view *view) {
    struct letters *letters = arg;
    letters->text[letters->n++] = node == MCCT_ROOT ? '/' : (char)view->frame;
    return letters->n != letters->stop_at;
}

static void test_walk(void) {
    static const char *const paths[] = {"cab", "b", "cz", "ca", "a", "bq", "cabx"};
    struct mcct *tree = make(&summary_exact, 0.1, 0);
    struct mcct_cursor cursor;
    mcct_cursor_open(tree, &cursor);
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        push_all(&cursor, paths[i]);
        mcct_credit(&cursor, 1);
        mcct_pop(&cursor, UINT64_MAX);
    }
    struct letters all = {.stop_at = 0}, some = {.stop_at = 4};
    CHECK(mcct_walk(tree, spell, &all));
    CHECK_STR(all.text, "/abqcabxz");
    CHECK(mcct_walk(tree, spell, &some));
    CHECK_STR(some.text, "/abq");
    mcct_cursor_close(&cursor);
    mcct_free(tree);
}

/* ---- the memory cap ---- */

static void test_cap_exact(void) {
    enum { CAP = 64 << 10 };
    struct mcct *tree = make(&summary_exact, 0.1, CAP);
    struct mcct_cursor cursor;
    mcct_cursor_open(tree, &cursor);
    for (int i = 0; i < 10000; i++)
        mcct_push(&cursor, 9);
    CHECK(cursor.missing > 0);
    CHECK_UINT(mcct_depth(&cursor), 10000);
    CHECK(stats_of(tree).bytes <= CAP);
    mcct_credit(&cursor, 3);
    CHECK_UINT(stats_of(tree).capped, 3);
    CHECK_UINT(view_of(tree, cursor.node).count, 3);
    CHECK_UINT(mcct_pop(&cursor, 9999), 9999);
    CHECK_UINT(mcct_depth(&cursor), 1);
    CHECK_UINT(cursor.missing, 0);
    CHECK_UINT(mcct_pop(&cursor, 7), 1);
    CHECK_UINT(stats_of(tree).total, 3);
    mcct_cursor_close(&cursor);
    mcct_free(tree);
}

/* Space Saving gives precision away instead: what becomes hot late is still found. */
static void test_cap_space_saving(struct rng *rng) {
    enum { CAP = 256 << 10, STEPS = 300000 };
    struct mcct *tree = make(&summary_space_saving, 1e-6, CAP);
    struct mcct_cursor cursor;
    mcct_cursor_open(tree, &cursor);
    for (uint32_t i = 0; i < STEPS; i++) {
        bool hot = i > STEPS / 2 && i % 4 == 0;
        mcct_push(&cursor, hot ? 1 : 2);
        mcct_push(&cursor, hot ? 1 : (uint32_t)rng_below(rng, 1u << 20));
        mcct_credit(&cursor, 1);
        mcct_pop(&cursor, 2);
        if (i % 1000 == 0)
            CHECK(stats_of(tree).bytes <= CAP);
    }
    struct mcct_stats stats = stats_of(tree);
    CHECK_UINT(stats.capped, 0);
    CHECK(stats.monitored > 3000);
    CHECK(stats.unseen > 0 && stats.unseen <= STEPS * 3 / (2 * stats.monitored));
    uint32_t hot = node_child(tree, node_child(tree, MCCT_ROOT, 1), 1);
    CHECK(hot != 0);
    struct mcct_view view = view_of(tree, hot);
    uint64_t truth = STEPS / 8;
    CHECK(view.count - view.error <= truth && truth <= view.count + 1);
    mcct_cursor_close(&cursor);
    mcct_free(tree);
}

/* A stack that fills the memory does not drive out what was hot. */
static void test_cap_runaway(void) {
    struct mcct *tree = make(&summary_space_saving, 1e-3, 256 << 10);
    struct mcct_cursor cursor;
    mcct_cursor_open(tree, &cursor);
    for (uint32_t i = 0; i < 1000; i++) {
        mcct_push(&cursor, 100 + i);
        mcct_credit(&cursor, i < 20 ? 1000 : 1);
        mcct_pop(&cursor, 1);
    }
    for (int i = 0; i < 100000; i++)
        mcct_push(&cursor, 1);
    CHECK(stats_of(tree).bytes <= 256 << 10);
    CHECK_UINT(mcct_pop(&cursor, 100000), 100000);
    for (uint32_t i = 0; i < 20; i++)
        CHECK(node_child(tree, MCCT_ROOT, 100 + i) != 0);
    CHECK(stats_of(tree).monitored >= 1000 / 16);
    CHECK_UINT(stats_of(tree).unseen, 1);
    mcct_cursor_close(&cursor);
    mcct_free(tree);
}

static void test_small(void) {
    CHECK(mcct_new(&(struct mcct_params){.epsilon = 0.1, .max_bytes = 1000}) == NULL);
    CHECK(mcct_new(&(struct mcct_params){.epsilon = 0.1, .max_bytes = 5000}) == NULL);
    struct mcct *tree = make(&summary_space_saving, 1e-6, 0);
    struct mcct_cursor cursor;
    mcct_cursor_open(tree, &cursor);
    for (uint32_t i = 0; i < 20; i++) {
        mcct_push(&cursor, i);
        mcct_credit(&cursor, 1000000 + i * 777);
    }
    CHECK(stats_of(tree).bytes < 10000);
    mcct_cursor_close(&cursor);
    mcct_free(tree);
}

int main(void) {
    struct rng rng = {test_seed()};
    test_kinds();
    test_push_pop_credit();
    test_passing_through();
    test_eviction_prunes();
    test_cursors_keep_nodes();
    test_many_cursors(&rng);
    test_deep();
    test_repeat();
    test_wide(&rng);
    test_widening(&rng);
    test_walk();
    test_cap_exact();
    test_cap_space_saving(&rng);
    test_cap_runaway();
    test_small();
    return check_report();
}
