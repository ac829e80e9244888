/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * packed_begin.c - from nodes to words.
 */
#include "common/tree/packed.h"

#include <stdlib.h>

#include "common/base/array_grow.h"
#include "common/tree/tree.h"

#define BUDGET_MIN (16u << 20) /* with less to spend, nodes are cut to size more finely */

struct packing {
    const struct mcct *tree;
    uint64_t unseen;
    struct store_item *item;
    uint32_t *node; /* of each item, 0: not monitored */
    size_t n;
    /* node: 0 for the root, else the item's number plus one; also, at the root, what is certain of
     * an item and is not so as a minifloat */
    struct packed_residual *residual;
    uint32_t at; /* where residuals come from */
    size_t residuals, room;
    bool failed;
};

static bool take_residual(void *arg, uint32_t frame, uint64_t weight) {
    struct packing *packing = arg;
    packing->failed = !array_grow(&packing->residual, packing->residuals, &packing->room,
                                  sizeof *packing->residual);
    if (packing->failed)
        return false;
    packing->residual[packing->residuals++] = (struct packed_residual){packing->at, frame, weight};
    return true;
}

static bool take_item(struct packing *packing, uint32_t node, const struct mcct_view *view) {
    if (view->depth > RUN_DEPTH_MAX || view->count > PACKED_COUNT_MAX)
        return false;
    packing->node[packing->n] = view->monitored ? node : 0;
    struct store_item *item = &packing->item[packing->n++];
    *item = store_item_of(view->depth, view->frame, view->count, view->error);
    uint64_t error = store_error(item, packing->unseen);
    packing->at = 0;
    return error <= view->error || take_residual(packing, view->frame, error - view->error);
}

static bool take_node(void *arg, uint32_t node, const struct mcct_view *view) {
    struct packing *packing = arg;
    if (node == MCCT_ROOT)
        packing->failed = view->monitored; /* it has no word */
    else
        packing->failed = !take_item(packing, node, view);
    packing->at = (uint32_t)packing->n;
    if (!packing->failed && !mcct_residuals(packing->tree, node, take_residual, packing))
        packing->failed = true;
    return !packing->failed;
}

/* ---- zones ---- */

/* The items and the root, with the weights of their residuals. False: no memory. */
static bool make_sample(const struct packing *packing, struct zone_sample *sample, uint32_t *parent,
                        uint32_t *frame, uint64_t *weight) {
    uint32_t *at = calloc(RUN_DEPTH_MAX + 1, sizeof *at);
    *sample = (struct zone_sample){parent, frame, weight, (uint32_t)packing->n + 1,
                                   (double)packing->tree->total};
    if (at == NULL || parent == NULL || frame == NULL || weight == NULL) {
        free(at);
        return false;
    }
    for (uint32_t i = 1; i < sample->n; i++) {
        uint64_t word = packing->item[i - 1].word;
        at[run_depth(word)] = i;
        parent[i] = at[run_depth(word) - 1];
        frame[i] = run_frame(word);
    }
    for (size_t i = 0; i < packing->residuals; i++)
        weight[packing->residual[i].node] =
            add_saturating(weight[packing->residual[i].node], packing->residual[i].weight);
    free(at);
    return true;
}

/* To the zones of their nodes. False: no memory. */
static bool sum_up_residuals(const struct packing *packing, struct packed_sums *sums,
                             const struct zone_sample *sample) {
    zone_place *place = calloc(sample->n, sizeof *place);
    if (place == NULL)
        return false;
    place[0] = zones_root(&sums->zones);
    for (uint32_t i = 1; i < sample->n; i++)
        place[i] = zones_below(&sums->zones, place[sample->parent[i]], sample->frame[i]);
    for (size_t i = 0; i < packing->residuals; i++)
        zone_sums_add(&sums->by_zone, &sums->zones, zone_of(place[packing->residual[i].node]),
                      packing->residual[i].frame, packing->residual[i].weight);
    free(place);
    return true;
}

/* What was dropped before stays below the zones of its nodes. False: no memory. */
static bool take_residuals(const struct packing *packing, struct packed *packed) {
    struct zone_sample sample;
    uint32_t *parent = calloc(packing->n + 1, sizeof *parent);
    uint32_t *frame = calloc(packing->n + 1, sizeof *frame);
    uint64_t *weight = calloc(packing->n + 1, sizeof *weight);
    bool taken = make_sample(packing, &sample, parent, frame, weight);
    if (taken) {
        packed_sums_choose(&packed->sums, &sample);
        taken = sum_up_residuals(packing, &packed->sums, &sample);
    }
    free(parent);
    free(frame);
    free(weight);
    return taken;
}

/* ---- all ---- */

static struct packed *new_packed(struct mcct *tree) {
    struct packed *packed = calloc(1, sizeof *packed);
    if (packed == NULL)
        return NULL;
    run_log_init(&packed->log, &tree->budget);
    store_init(&packed->store, &tree->budget);
    store_init(&packed->view, &tree->budget);
    packed_sums_init(&packed->sums, &tree->budget, tree->hash_factor, tree->capacity);
    packed->unseen = tree->kind->unseen(tree->summary);
    return packed;
}

/* Nodes that no cursor stands on go. */
static void forget(struct mcct *tree, const struct packing *packing, void *summary) {
    residual_free(&tree->residuals);
    for (size_t i = packing->n; i-- > 0;)
        if (packing->node[i] != 0)
            tree_release(tree, packing->node[i]);
    tree->kind->destroy(tree->summary);
    tree->summary = summary;
}

static void fill(struct packed *packed, const struct packing *packing) {
    store_fill(&packed->store, packing->n);
    store_raise(&packed->store, packed->unseen);
    if (packing->residuals > 0 || packed->unseen > 0)
        packed_sums_begin(&packed->sums, &packed->store, packed->unseen);
}

static bool take_nodes(struct mcct *tree, struct packed *packed) {
    struct packing packing = {
        .tree = tree, .unseen = packed->unseen, .node = calloc(tree->nodes, sizeof *packing.node)};
    void *summary = NULL;
    if (packing.node != NULL && store_reserve(&packed->store, tree->nodes, PACKED_SPARE)) {
        packing.item = store_front(&packed->store);
        if (mcct_walk(tree, take_node, &packing) && !packing.failed &&
            (packing.residuals == 0 || take_residuals(&packing, packed)))
            summary = tree->kind->create(tree, NULL);
    }
    if (summary != NULL) {
        fill(packed, &packing);
        forget(tree, &packing, summary);
    }
    free(packing.node);
    free(packing.residual);
    return summary != NULL;
}

bool packed_begin(struct mcct *tree) {
    if (!tree->kind->packs || tree->total > PACKED_COUNT_MAX ||
        (tree->budget.max != 0 && tree->budget.max < BUDGET_MIN))
        return false;
    struct packed *packed = new_packed(tree);
    if (packed == NULL || !take_nodes(tree, packed)) {
        packed_free(packed);
        return false;
    }
    tree->packed = packed;
    return true;
}
