/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * packed_sums.c - a store and runs are read from their beginning to their end, and the zones of the
 * contexts that lead to the one at hand are known by their depth.
 */
#include "common/tree/packed_sums.h"

#include <stdlib.h>

#include "common/base/array_grow.h"
#include "common/wire/compiler.h"

void packed_sums_init(struct packed_sums *sums, struct budget *budget, uint64_t factor,
                      uint32_t capacity) {
    *sums = (struct packed_sums){.capacity = capacity};
    zones_init(&sums->zones, budget, factor);
    zone_sums_init(&sums->by_zone, budget, capacity);
}

void packed_sums_free(struct packed_sums *sums) {
    zones_free(&sums->zones);
    zone_sums_free(&sums->by_zone);
}

/* ---- zones ---- */

/* A run as a sample: contexts that would be dropped if all runs were like this one. Gives how many
 * items there are. */
static uint32_t fill(const struct packed_sums *sums, const struct run_log *log, uint32_t *parent,
                     uint32_t *frame, uint64_t *weight, uint32_t *at_depth) {
    uint64_t least = log->weight / sums->capacity + 1;
    uint32_t n = 1;
    for (const uint64_t *word = log->word; *word != RUN_END; word++) {
        uint32_t depth = run_depth(*word);
        if (run_is_carry(*word))
            continue;
        at_depth[depth] = n;
        parent[n] = at_depth[depth - 1];
        frame[n] = run_frame(*word);
        if (run_weight(*word) <= least && !run_is_carry(word[1]))
            weight[parent[n]] += run_weight(*word);
        n++;
    }
    return n;
}

void packed_sums_choose(struct packed_sums *sums, const struct zone_sample *sample) {
    uint8_t became[ZONES_MAX];
    if (zones_choose(&sums->zones, sample, became))
        zone_sums_join(&sums->by_zone, became);
    sums->chosen = 0;
}

static void choose(struct packed_sums *sums, const struct run_log *log) {
    uint32_t *parent = calloc(log->n, sizeof *parent), *frame = calloc(log->n, sizeof *frame);
    uint64_t *weight = calloc(log->n, sizeof *weight);
    uint32_t *at_depth = calloc(RUN_DEPTH_MAX + 1, sizeof *at_depth);
    if (parent != NULL && frame != NULL && weight != NULL && at_depth != NULL) {
        uint32_t n = fill(sums, log, parent, frame, weight, at_depth);
        packed_sums_choose(sums,
                           &(struct zone_sample){parent, frame, weight, n, (double)sums->chosen});
    }
    free(parent);
    free(frame);
    free(weight);
    free(at_depth);
}

/* ---- sums ---- */

void packed_sums_begin(struct packed_sums *sums, const struct store *store, uint64_t unseen) {
    zone_place *place = calloc(RUN_DEPTH_MAX + 1, sizeof *place);
    sums->on = true;
    if (place == NULL)
        return;
    place[0] = zones_root(&sums->zones);
    for (const struct store_item *item = store_first(store); item->word != RUN_END; item++) {
        uint32_t depth = run_depth(item->word), frame = run_frame(item->word);
        place[depth] = zones_below(&sums->zones, place[depth - 1], frame);
        if (item->count != 0)
            zone_sums_add(&sums->by_zone, &sums->zones, zone_of(place[depth - 1]), frame,
                          item->count - store_error(item, unseen));
    }
    free(place);
}

/* Almost all words lie below the last one that had a node, or beside it: their zone is known. */
static void add_run(struct zone_sums *sums, const struct zones *zones, const uint64_t *run) {
    zone_place place[RUN_DEPTH_MAX + 1];
    place[0] = zones_root(zones);
    /* the contexts of the depths below `nodes` have nodes, and `place` says which */
    uint32_t frame = 0, nodes = place[0] >= ZONES_MAX;
    uint8_t zone = ZONES_ROOT, below = ZONES_ROOT; /* of the word, and of what it calls */
    for (; *run != RUN_END; run++) {
        uint32_t depth = run_depth(*run);
        if (hcct_unlikely(run_is_carry(*run))) {
            zone_sums_add(sums, zones, zone, frame, run_weight(*run) * RUN_CARRY);
            continue;
        }
        frame = run_frame(*run);
        zone = below;
        if (hcct_unlikely(depth <= nodes)) {
            place[depth] = zones_below(zones, place[depth - 1], frame);
            nodes = depth + (place[depth] >= ZONES_MAX);
            zone = zone_of(place[depth - 1]);
            below = zone_of(place[depth]);
        }
        zone_sums_add(sums, zones, zone, frame, run_weight(*run));
    }
}

void packed_sums_add(struct packed_sums *sums, const struct run_log *log) {
    sums->chosen += log->weight;
    if (sums->runs == sums->next) {
        choose(sums, log);
        sums->next += sums->next == 0                 ? 1
                      : sums->next < PACKED_SUMS_RUNS ? sums->next
                                                      : PACKED_SUMS_RUNS;
    }
    sums->runs++;
    add_run(&sums->by_zone, &sums->zones, log->word);
}

/* ---- what is left ---- */

/* Takes what is certain of each context out of `left`. */
static bool take_certain(const struct zones *zones, const struct store *store, uint64_t unseen,
                         struct zone_sums *left) {
    zone_place *place = calloc(RUN_DEPTH_MAX + 1, sizeof *place);
    if (place == NULL)
        return false;
    place[0] = zones_root(zones);
    for (const struct store_item *item = store_first(store); item->word != RUN_END; item++) {
        uint32_t depth = run_depth(item->word), frame = run_frame(item->word);
        place[depth] = zones_below(zones, place[depth - 1], frame);
        if (item->count != 0)
            zone_sums_take(left, zones, zone_of(place[depth - 1]), frame,
                           item->count - store_error(item, unseen));
    }
    free(place);
    return true;
}

struct listing {
    struct packed_rest *rest;
    size_t room;
    bool failed;
};

static void list_one(void *arg, uint8_t zone, uint32_t frame, uint64_t weight) {
    struct listing *l = arg;
    struct packed_rest *rest = l->rest;
    if (!array_grow(&rest->list, rest->n, &l->room, sizeof *rest->list))
        l->failed = true;
    else
        rest->list[rest->n++] = (struct packed_residual){zone, frame, weight};
}

/* The contexts from the root's callees to the one that names a zone, behind the others. */
static bool add_path(struct packed_rest *rest, const struct zones *zones, uint8_t zone) {
    size_t depth = 0, had = rest->words, at;
    for (uint32_t i = zones->at[zone]; i != ZONES_NODE_ROOT; i = zones->node[i].parent)
        depth++;
    uint64_t *sum = malloc((had + depth + 2) * sizeof *sum);
    uint64_t *path = malloc((depth + 1) * sizeof *path);
    if (sum != NULL && path != NULL) {
        at = depth;
        path[depth] = RUN_END;
        for (uint32_t i = zones->at[zone]; i != ZONES_NODE_ROOT; i = zones->node[i].parent, at--)
            path[at - 1] = run_word((uint32_t)at, zones->node[i].frame, 0);
        rest->words = run_merge(sum, rest->path, path);
        free(rest->path);
        rest->path = sum;
    } else {
        free(sum);
    }
    free(path);
    return sum != NULL && path != NULL;
}

static bool add_paths(struct packed_rest *rest, const struct zones *zones) {
    bool has[ZONES_MAX] = {false}, whole = true;
    rest->path = malloc(sizeof *rest->path);
    if (rest->path == NULL)
        return false;
    rest->path[0] = RUN_END;
    for (size_t i = 0; i < rest->n; i++)
        has[rest->list[i].node] = true;
    for (uint32_t z = 1; z < ZONES_MAX && whole; z++)
        whole = !has[z] || add_path(rest, zones, (uint8_t)z);
    return whole;
}

static int by_node(const void *a, const void *b) {
    const struct packed_residual *x = a, *y = b;
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    return (x->frame > y->frame) - (x->frame < y->frame);
}

/* Residuals of zones become those of nodes. */
static bool number(struct packed_rest *rest, const struct zones *zones, const struct store *store) {
    uint32_t *level = calloc(RUN_DEPTH_MAX + 1, sizeof *level), number = MCCT_ROOT;
    uint32_t node[ZONES_MAX] = {MCCT_ROOT};
    struct packed_item it;
    if (level == NULL)
        return false;
    level[0] = zones->n > 0 ? ZONES_NODE_ROOT : 0;
    for (packed_item_first(&it, store, rest->path); packed_item_is(&it); packed_item_next(&it)) {
        uint32_t depth = run_depth(it.word), above = level[depth - 1];
        number++;
        level[depth] = above != 0 ? zones_node(zones, above, run_frame(it.word)) : 0;
        if (level[depth] != 0 && zones->node[level[depth]].named)
            node[zones->node[level[depth]].zone] = number;
    }
    rest->nodes = number;
    for (size_t i = 0; i < rest->n; i++)
        rest->list[i].node = node[rest->list[i].node];
    if (rest->n > 1)
        qsort(rest->list, rest->n, sizeof *rest->list, by_node);
    free(level);
    return true;
}

bool packed_sums_rest(const struct packed_sums *sums, const struct store *store, uint64_t unseen,
                      const struct run_log *log, struct packed_rest *rest) {
    struct budget aside = {0};
    struct zone_sums left;
    *rest = (struct packed_rest){0};
    if (!zone_sums_copy(&left, &sums->by_zone, &aside))
        return false;
    if (log != NULL)
        add_run(&left, &sums->zones, log->word);
    struct listing l = {.rest = rest};
    l.failed = !take_certain(&sums->zones, store, unseen, &left);
    zone_sums_walk(&left, list_one, &l);
    zone_sums_free(&left);
    if (!l.failed && add_paths(rest, &sums->zones) && number(rest, &sums->zones, store))
        return true;
    packed_rest_free(rest);
    return false;
}

void packed_rest_free(struct packed_rest *rest) {
    free(rest->list);
    free(rest->path);
    *rest = (struct packed_rest){0};
}
