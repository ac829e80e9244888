/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * page_order.c - children by parent, then one level after the other.
 */
#include "common/render/page_order.h"

#include <stdlib.h>

#include "common/base/memory.h"

uint64_t *page_weights(const struct profile *profile) {
    uint64_t *weight = memory_new(profile->n_nodes, sizeof *weight, "contexts");
    for (uint32_t i = profile->n_nodes; i-- > 1;) {
        weight[i] += profile->nodes[i].count;
        weight[profile->nodes[i].parent] += weight[i];
    }
    return weight;
}

struct child {
    uint64_t weight;
    uint32_t node;
};

static int compare(const void *a, const void *b) {
    const struct child *x = a, *y = b;
    if (x->weight != y->weight)
        return x->weight > y->weight ? -1 : 1;
    return x->node < y->node ? -1 : x->node > y->node;
}

/* Children of node i: child[first[i] .. first[i + 1]), in the order in which they are drawn. */
static struct child *find_children(const struct profile *profile, const uint64_t *weight,
                                   uint32_t *first) {
    uint32_t n = profile->n_nodes;
    struct child *child = memory_new(n, sizeof *child, "contexts");
    for (uint32_t i = 1; i < n; i++)
        first[profile->nodes[i].parent + 1]++;
    for (uint32_t i = 0; i < n; i++)
        first[i + 1] += first[i];
    for (uint32_t i = n; i-- > 1;)
        child[--first[profile->nodes[i].parent + 1]] = (struct child){weight[i], i};
    for (uint32_t i = 0; i < n; i++) /* first[i + 1] is where those of i begin */
        first[i] = first[i + 1];
    first[n] = n - 1;
    for (uint32_t i = 0; i < n; i++)
        if (first[i + 1] > first[i] + 1)
            qsort(child + first[i], first[i + 1] - first[i], sizeof *child, compare);
    return child;
}

void page_order_make(struct page_order *order, const struct profile *profile,
                     const uint64_t *weight) {
    uint32_t n = profile->n_nodes, known = 1;
    uint32_t *first = memory_new((size_t)n + 1, sizeof *first, "contexts");
    struct child *child = find_children(profile, weight, first);
    *order = (struct page_order){.n = n,
                                 .node = memory_new(n, sizeof *order->node, "contexts"),
                                 .children = memory_new(n, sizeof *order->children, "contexts")};
    for (uint32_t at = 0; at < known; at++) {
        uint32_t node = order->node[at];
        order->children[at] = first[node + 1] - first[node];
        for (uint32_t i = first[node]; i < first[node + 1]; i++)
            order->node[known++] = child[i].node;
    }
    free(child);
    free(first);
}

void page_order_free(struct page_order *order) {
    free(order->node);
    free(order->children);
}
