/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * tree_delta.c - nodes are matched by their paths: a child by its parent's match and its frame.
 * Residuals are matched by the frame of the contexts that had the weight (tree_delta.h).
 */
#include "common/tree/tree_delta.h"

#include <stdint.h>
#include <stdlib.h>

#include "common/base/intern.h"

#define NO_MATCH UINT32_MAX

/* ---- children of the start's nodes, by parent and frame ---- */

static bool is_child(const void *nodes, uint32_t i, const void *key) {
    const struct copied_node *node = (const struct copied_node *)nodes + i, *wanted = key;
    return node->parent == wanted->parent && node->frame == wanted->frame;
}

static uint64_t hash(const struct copied_node *child) {
    return seeded_hash(0, (uint64_t)child->parent << 32 | child->frame);
}

static bool index_children(struct intern *children, const struct tree_copy *copy) {
    for (size_t i = 1; i < copy->n; i++) {
        const struct copied_node *child = &copy->node[i];
        if (child->residual)
            continue;
        uint32_t *number = intern_try(children, hash(child), is_child, copy->node, child);
        if (number == NULL)
            return false;
        *number = (uint32_t)i;
    }
    return true;
}

/* For each node of `end` its match in the start, or NO_MATCH. NULL: no memory. */
static uint32_t *match(const struct tree_copy *end, const struct tree_copy *start) {
    struct intern children = {0};
    uint32_t *of = malloc((end->n + 1) * sizeof *of);
    if (of == NULL || !index_children(&children, start)) {
        intern_free(&children);
        free(of);
        return NULL;
    }
    of[0] = start->n > 0 ? 0 : NO_MATCH;
    for (size_t i = 1; i < end->n; i++) {
        struct copied_node child = end->node[i];
        uint32_t found = 0;
        child.parent = of[child.parent];
        if (child.parent != NO_MATCH && !child.residual)
            found = intern_get(&children, hash(&child), is_child, start->node, &child);
        of[i] = found != 0 ? found : NO_MATCH;
    }
    intern_free(&children);
    return of;
}

/* ---- bounds of counters ---- */

struct bounds {
    uint64_t low, high;
};

static uint64_t minus(uint64_t a, uint64_t b) {
    return a > b ? a - b : 0;
}

/* What a counter is certain of; of a residual its weight. */
static uint64_t certain(const struct copied_node *node) {
    return minus(node->count, node->error);
}

/* Whether a context was monitored all the time; `start` NULL: it was not in the tree. One that came
 * back has an error of at least what its count was. */
static bool has_stayed(const struct copied_node *end, const struct copied_node *start) {
    return start != NULL && start->count > 0 && end->count > 0 && end->error < start->count;
}

static struct bounds gained(const struct copied_node *end, const struct copied_node *start,
                            bool steady) {
    uint64_t before = start != NULL ? certain(start) : 0;
    struct bounds b = {minus(certain(end), before), minus(end->count, before)};
    if (steady && has_stayed(end, start))
        b.low = b.high = minus(end->count, start->count);
    else if (steady)
        b.low = certain(end);
    return b;
}

static void write_back(struct tree_copy *end, struct copied_node *node, struct bounds b) {
    uint64_t high = b.high < end->stats.total ? b.high : end->stats.total;
    bool known = b.low > 0 && high > 0;
    if (!known && high > end->stats.unseen)
        end->stats.unseen = high;
    node->count = known ? high : 0;
    node->error = known ? minus(high, b.low) : 0;
    end->stats.monitored += known;
}

/* ---- residuals ---- */

/* Weight of contexts with that frame: of the start, then at or above the end's node `at`; or of a
 * residual of the end, whose node is `at`. */
struct entry {
    uint32_t frame, at;
    uint32_t item; /* the residual, 0: of the start */
    uint64_t weight;
};

struct entries {
    struct entry *entry;
    size_t n;
};

static void add(struct entries *entries, const struct copied_node *node, uint32_t at, uint32_t item,
                uint64_t weight) {
    if (weight > 0)
        entries->entry[entries->n++] =
            (struct entry){.frame = node->frame, .at = at, .item = item, .weight = weight};
}

/* By frame, then from the last node to the first; what is of the start goes before residuals. */
static int order(const void *a, const void *b) {
    const struct entry *x = a, *y = b;
    if (x->frame != y->frame)
        return x->frame < y->frame ? -1 : 1;
    if (x->at != y->at)
        return x->at > y->at ? -1 : 1;
    return (x->item > y->item) - (x->item < y->item);
}

/* So much of what a counter was certain of at the start is in it still, and not gained since. */
static uint64_t still_there(const struct copied_node *end, const struct copied_node *start,
                            bool steady) {
    uint64_t before = certain(start), now = end != NULL ? certain(end) : 0;
    uint64_t gain = end != NULL ? gained(end, start, steady).low : 0;
    return minus(now, gain) < before ? minus(now, gain) : before;
}

/* What was certain at the start and is no more, and all residuals of both. `to`: by node of the
 * start its match in the end, or that of its nearest caller that has one. */
static void gather(struct entries *entries, const struct tree_copy *end,
                   const struct tree_copy *start, const uint32_t *of, const uint32_t *to,
                   bool steady) {
    for (size_t i = 0; i < start->n; i++) {
        const struct copied_node *node = &start->node[i], *now = &end->node[to[i]];
        bool there = !node->residual && of[to[i]] == i;
        uint64_t still = there ? still_there(now, node, steady) : 0;
        add(entries, node, to[node->parent], 0, certain(node) - still);
    }
    for (size_t i = 1; i < end->n; i++)
        if (end->node[i].residual)
            add(entries, &end->node[i], end->node[i].parent, (uint32_t)i, end->node[i].count);
    if (entries->n > 1)
        qsort(entries->entry, entries->n, sizeof *entries->entry, order);
}

/* By node of `end` the last one below it, or itself: it is in preorder. */
static void find_last(const struct tree_copy *end, uint32_t *last) {
    for (size_t i = 0; i < end->n; i++)
        last[i] = (uint32_t)i;
    for (size_t i = end->n; i-- > 1;)
        if (last[end->node[i].parent] < last[i])
            last[end->node[i].parent] = last[i];
}

/* Each residual of the end loses what the start had at or below its node, as far as no residual
 * further down has lost that. Those that wait stand in the front of the entries, a stack. */
static void take_away(struct tree_copy *end, struct entries *entries, const uint32_t *last) {
    struct entry *waiting = entries->entry;
    size_t n = 0;
    for (size_t i = 0; i < entries->n; i++) {
        const struct entry now = entries->entry[i];
        uint64_t *left = now.item != 0 ? &end->node[now.item].count : NULL;
        if (n > 0 && waiting[n - 1].frame != now.frame)
            n = 0;
        if (left == NULL)
            waiting[n++] = now;
        while (left != NULL && n > 0 && *left > 0 && waiting[n - 1].at <= last[now.at]) {
            struct entry *top = &waiting[n - 1];
            uint64_t taken = top->weight < *left ? top->weight : *left;
            *left -= taken;
            top->weight -= taken;
            n -= top->weight == 0;
        }
    }
}

/* ---- both ---- */

static void match_back(const struct tree_copy *end, const struct tree_copy *start,
                       const uint32_t *of, uint32_t *to) {
    for (size_t i = 0; i < start->n; i++)
        to[i] = NO_MATCH;
    for (size_t i = 0; i < end->n; i++)
        if (of[i] != NO_MATCH)
            to[of[i]] = (uint32_t)i;
    for (size_t i = 1; i < start->n; i++) /* callers come first, and the root is in both */
        if (to[i] == NO_MATCH)
            to[i] = to[start->node[i].parent];
}

static void subtract_stats(struct mcct_stats *end, const struct mcct_stats *start) {
    end->total = minus(end->total, start->total);
    end->updates = minus(end->updates, start->updates);
    end->capped = minus(end->capped, start->capped);
    end->monitored = 0;
    if (end->unseen > end->total)
        end->unseen = end->total;
}

bool tree_delta(struct tree_copy *end, const struct tree_copy *start, bool steady) {
    uint32_t *of = match(end, start);
    uint32_t *to = malloc((start->n + 1) * sizeof *to), *last = malloc((end->n + 1) * sizeof *last);
    struct entries entries = {.entry = malloc((start->n + end->n + 1) * sizeof *entries.entry)};
    bool whole = of != NULL && to != NULL && last != NULL && entries.entry != NULL;
    if (whole && end->n > 0 && start->n > 0) {
        match_back(end, start, of, to);
        gather(&entries, end, start, of, to, steady);
        find_last(end, last);
        take_away(end, &entries, last);
    }
    if (whole)
        subtract_stats(&end->stats, &start->stats);
    for (size_t i = 0; whole && i < end->n; i++) {
        struct copied_node *node = &end->node[i];
        const struct copied_node *before = of[i] != NO_MATCH ? &start->node[of[i]] : NULL;
        if (!node->residual && node->count > 0)
            write_back(end, node, gained(node, before, steady));
    }
    free(of);
    free(to);
    free(last);
    free(entries.entry);
    return whole;
}
