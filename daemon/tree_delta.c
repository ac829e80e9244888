/*
 * tree_delta.c - nodes are matched by their paths: a child by its parent's match and its frame.
 */
#include "daemon/tree_delta.h"

#include <stdint.h>
#include <stdlib.h>

#define NO_MATCH UINT32_MAX

/* ---- children of the start's nodes: (parent, frame) to index, open addressing ---- */

struct paths {
    const struct tree_copy *copy;
    uint32_t *slot; /* index in the copy, 0: free; the root is nobody's child */
    size_t mask;
};

static size_t hash(const struct paths *paths, uint32_t parent, uint32_t frame) {
    uint64_t h = ((uint64_t)parent << 32 | frame) * 0x9e3779b97f4a7c15ull;
    return (size_t)(h ^ h >> 29) & paths->mask;
}

static uint32_t *find(const struct paths *paths, uint32_t parent, uint32_t frame) {
    size_t i = hash(paths, parent, frame);
    for (;; i = (i + 1) & paths->mask) {
        const struct copied_node *node = &paths->copy->node[paths->slot[i]];
        if (paths->slot[i] == 0 || (node->parent == parent && node->frame == frame))
            return &paths->slot[i];
    }
}

static bool index_paths(struct paths *paths, const struct tree_copy *copy) {
    size_t room = 16;
    while (room < 2 * copy->n)
        room *= 2;
    *paths = (struct paths){copy, calloc(room, sizeof *paths->slot), room - 1};
    if (paths->slot == NULL)
        return false;
    for (size_t i = 1; i < copy->n; i++)
        if (!copy->node[i].residual)
            *find(paths, copy->node[i].parent, copy->node[i].frame) = (uint32_t)i;
    return true;
}

/* For each node of `end` its match in the start, or NO_MATCH. NULL: no memory. */
static uint32_t *match(const struct tree_copy *end, const struct tree_copy *start) {
    struct paths paths;
    uint32_t *of = malloc((end->n + 1) * sizeof *of);
    if (of == NULL || !index_paths(&paths, start)) {
        free(of);
        return NULL;
    }
    of[0] = start->n > 0 ? 0 : NO_MATCH;
    for (size_t i = 1; i < end->n; i++) {
        uint32_t parent = of[end->node[i].parent], found = 0;
        if (parent != NO_MATCH)
            found = *find(&paths, parent, end->node[i].frame);
        of[i] = found != 0 ? found : NO_MATCH;
    }
    free(paths.slot);
    return of;
}

/* ---- bounds ---- */

struct bounds {
    uint64_t low, high;
};

static uint64_t minus(uint64_t a, uint64_t b) {
    return a > b ? a - b : 0;
}

static struct bounds gained(const struct copied_node *end, const struct copied_node *start,
                            uint64_t unseen, bool steady) {
    uint64_t least = minus(end->count, end->error); /* of the end */
    bool was = start != NULL && start->count > 0;
    uint64_t before_high = was ? start->count : unseen;
    uint64_t before_low = was ? minus(start->count, start->error) : 0;
    struct bounds b = {minus(least, before_high), minus(end->count, before_low)};
    if (steady && was && end->error == start->error)
        b.low = b.high = minus(end->count, start->count);
    else if (steady)
        b.low = least;
    return b;
}

static void settle(struct tree_copy *end, struct copied_node *node, struct bounds b) {
    uint64_t high = b.high < end->stats.total ? b.high : end->stats.total;
    bool known = b.low > 0 && high > 0;
    if (!known && high > end->stats.unseen)
        end->stats.unseen = high;
    node->count = known ? high : 0;
    node->error = known ? minus(high, b.low) : 0;
    end->stats.monitored += known;
}

bool tree_delta(struct tree_copy *end, const struct tree_copy *start, bool steady) {
    uint32_t *of = match(end, start);
    if (of == NULL)
        return false;
    end->stats.total = minus(end->stats.total, start->stats.total);
    end->stats.updates = minus(end->stats.updates, start->stats.updates);
    end->stats.capped = minus(end->stats.capped, start->stats.capped);
    end->stats.monitored = 0;
    if (end->stats.unseen > end->stats.total)
        end->stats.unseen = end->stats.total;
    for (size_t i = 0; i < end->n; i++) {
        struct copied_node *node = &end->node[i];
        if (node->residual) /* it may have been elsewhere at the start */
            node->count = 0;
        if (node->count == 0)
            continue;
        const struct copied_node *before = of[i] != NO_MATCH ? &start->node[of[i]] : NULL;
        settle(end, node, gained(node, before, start->stats.unseen, steady));
    }
    free(of);
    return true;
}
