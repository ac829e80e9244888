/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * packed.c - runs into the store, and from words back to nodes.
 */
#include "common/tree/packed.h"

#include <stdlib.h>

#include "common/tree/tree.h"

#define LOG_MIN      (1u << 16) /* words that are gathered at least */
#define LOG_QUARTERS 3u         /* and so many quarters of the contexts that are stored, or */
#define LOG_TIMES    2u         /* so many times those, where the store is large */
#define STORE_LARGE  (1u << 20) /* contexts: more than a processor keeps at hand */
#define GIVE_PART    4u         /* of what is monitored goes when memory is short */
#define GIVE_MIN     1024u      /* as long as so many are */

void packed_free(struct packed *packed) {
    if (packed == NULL)
        return;
    run_log_free(&packed->log);
    store_free(&packed->store);
    store_free(&packed->view);
    packed_sums_free(&packed->sums);
    packed_rest_free(&packed->rest);
    free(packed);
}

/* ---- runs ---- */

static uint32_t capacity(const struct mcct *tree) {
    return tree->kind->bounded ? tree->capacity : UINT32_MAX;
}

static void raise(struct packed *packed, uint64_t unseen) {
    if (unseen > packed->unseen)
        packed->unseen = unseen;
}

/* What is not monitored yet is left out. */
static void add_known(struct packed *packed, const uint64_t *run) {
    raise(packed, add_saturating(packed->unseen, store_add_known(&packed->store, run)));
    store_raise(&packed->store, packed->unseen);
}

/* Room for a run of n words in the store. What has the least counts is given for it. */
static bool make_room(const struct mcct *tree, size_t n) {
    struct store *store = &tree->packed->store;
    while (!store_reserve(store, n, PACKED_SPARE)) {
        if (!tree->kind->bounded || store->monitored < GIVE_MIN)
            return false;
        raise(tree->packed, store_trim(store, store->monitored - store->monitored / GIVE_PART));
    }
    return true;
}

static void forget_view(struct packed *packed) {
    store_free(&packed->view);
    packed_rest_free(&packed->rest);
    packed->has_rest = false;
}

/* Whether contexts may have to go when the log is added. */
static bool may_drop(const struct mcct *tree) {
    struct packed *packed = tree->packed;
    return packed->store.monitored + packed->log.n > capacity(tree) ||
           !store_reserve(&packed->store, packed->log.n, PACKED_SPARE);
}

/* All runs are in the store. */
static void store_log(const struct mcct *tree) {
    struct packed *packed = tree->packed;
    if (packed->log.runs == 0)
        return;
    const uint64_t *run = run_log_all(&packed->log);
    if (may_drop(tree) && !packed->sums.on)
        packed_sums_begin(&packed->sums, &packed->store, packed->unseen);
    if (packed->sums.on)
        packed_sums_add(&packed->sums, &packed->log);
    if (make_room(tree, packed->log.n))
        raise(packed, store_add(&packed->store, run, packed->unseen, capacity(tree)));
    else
        add_known(packed, run);
    run_log_clear(&packed->log);
}

void packed_flush(struct mcct *tree) {
    forget_view(tree->packed);
    store_log(tree);
}

/* Whether the store might not find room for a log that went on growing. */
static bool is_short(const struct mcct *tree) {
    const struct budget *budget = &tree->budget;
    size_t need = 2 * tree->packed->log.n * sizeof(struct store_item) + PACKED_SPARE;
    return budget->max != 0 && budget->max - budget->used < need;
}

/* To add to a large store is to read and write much memory for few words; the log, whose words
 * come again and again, takes less. */
static bool is_due(const struct mcct *tree) {
    const struct packed *packed = tree->packed;
    size_t added = packed->log.added, stored = packed->store.n;
    if (added < LOG_MIN || added < stored / 4 * LOG_QUARTERS)
        return false;
    return stored < STORE_LARGE || added >= stored * LOG_TIMES || is_short(tree);
}

uint64_t *packed_room(struct mcct *tree, size_t words, uint64_t weight) {
    struct packed *packed = tree->packed;
    forget_view(packed);
    if (tree->total > PACKED_COUNT_MAX)
        return NULL;
    if (packed->log.weight + weight >= RUN_TOTAL_MAX)
        packed_flush(tree);
    uint64_t *room = run_log_room(&packed->log, words);
    if (room == NULL) {
        packed_flush(tree);
        room = run_log_room(&packed->log, words);
    }
    return room;
}

void packed_add(struct mcct *tree, size_t words, uint64_t weight) {
    run_log_add(&tree->packed->log, words, weight);
    if (is_due(tree))
        packed_flush(tree);
}

/* ---- what is beside the store ---- */

static const uint64_t no_path[] = {RUN_END};

/* The sums of a tree that has none yet, with whose log contexts go for the first time. */
static bool first_rest(struct packed *packed, uint32_t capacity, uint64_t factor) {
    struct budget aside = {0};
    struct packed_sums first;
    packed_sums_init(&first, &aside, factor, capacity);
    packed_sums_begin(&first, &packed->store, packed->unseen);
    packed_sums_add(&first, &packed->log);
    bool whole = packed_sums_rest(&first, &packed->view, packed->view_unseen, NULL, &packed->rest);
    packed_sums_free(&first);
    return whole;
}

/* Of the store, to which the log was added in the view. False: no memory. */
static bool make_rest(const struct mcct *tree, const struct store *store, uint64_t unseen) {
    struct packed *packed = tree->packed;
    bool viewed = store == &packed->view;
    if (packed->has_rest)
        return true;
    if (packed->sums.on)
        packed->has_rest = packed_sums_rest(&packed->sums, store, unseen,
                                            viewed ? &packed->log : NULL, &packed->rest);
    else if (viewed && store->monitored == capacity(tree))
        packed->has_rest = first_rest(packed, tree->capacity, tree->hash_factor);
    else
        packed->has_rest = true; /* all is in the store */
    return packed->has_rest;
}

static const uint64_t *path_of(const struct packed *packed) {
    return packed->rest.path != NULL ? packed->rest.path : no_path;
}

/* ---- to nodes ---- */

struct unpacking {
    struct mcct_cursor cursor;
    const struct packed_residual *next, *end; /* residuals that are still to come */
    uint64_t left_out;                        /* the largest count for which there was no memory */
};

static void give_count(struct unpacking *u, uint64_t count, uint64_t error, uint32_t frame) {
    if (mcct_restore(&u->cursor, count, error))
        return;
    if (count > u->left_out)
        u->left_out = count;
    residual_add(&u->cursor.tree->residuals, u->cursor.node, frame, count - error);
}

static void give_residuals(struct unpacking *u, uint32_t node) {
    for (; u->next < u->end && u->next->node == node; u->next++)
        mcct_restore_residual(&u->cursor, u->next->frame, u->next->weight);
}

static void give_nodes(struct unpacking *u, const struct packed *packed) {
    uint32_t node = MCCT_ROOT;
    struct packed_item it;
    give_residuals(u, node);
    for (packed_item_first(&it, &packed->store, path_of(packed)); packed_item_is(&it);
         packed_item_next(&it)) {
        mcct_pop(&u->cursor, mcct_depth(&u->cursor) - (run_depth(it.word) - 1));
        mcct_push(&u->cursor, run_frame(it.word));
        if (it.item != NULL && it.item->count != 0)
            give_count(u, it.item->count, store_error(it.item, packed->unseen), run_frame(it.word));
        give_residuals(u, ++node);
    }
}

void packed_end(struct mcct *tree) {
    struct packed *packed = tree->packed;
    struct unpacking u = {0};
    if (packed == NULL)
        return;
    packed_flush(tree);
    /* without memory for it, what is not in the store may be anywhere */
    (void)make_rest(tree, &packed->store, packed->unseen);
    u.next = packed->rest.list;
    u.end = u.next + packed->rest.n;
    tree->packed = NULL;
    mcct_cursor_open(tree, &u.cursor);
    give_nodes(&u, packed);
    mcct_cursor_close(&u.cursor);
    uint64_t unseen = packed->unseen;
    tree->kind->raise(tree->summary, u.left_out > unseen ? u.left_out : unseen);
    tree->kind->trim(tree->summary);
    packed_free(packed);
}

/* ---- what is in it ---- */

static bool make_view(const struct mcct *tree) {
    struct packed *packed = tree->packed;
    const uint64_t *run = run_log_all(&packed->log);
    if (!store_copy(&packed->view, &packed->store, packed->log.n))
        return false;
    uint64_t gone = store_add(&packed->view, run, packed->unseen, capacity(tree));
    packed->view_unseen = gone > packed->unseen ? gone : packed->unseen;
    return true;
}

/* Where there is no memory for a view, the runs go into the store before they are due. */
static const struct store *items_of(const struct mcct *tree, uint64_t *unseen) {
    struct packed *packed = tree->packed;
    if (packed->log.runs > 0 && packed->view.item == NULL && !make_view(tree))
        store_log(tree);
    bool viewed = packed->view.item != NULL;
    *unseen = viewed ? packed->view_unseen : packed->unseen;
    return viewed ? &packed->view : &packed->store;
}

void packed_stats(const struct mcct *tree, struct mcct_stats *stats) {
    const struct store *store = items_of(tree, &stats->unseen);
    bool rest = make_rest(tree, store, stats->unseen);
    stats->nodes = rest && tree->packed->rest.nodes != 0 ? tree->packed->rest.nodes : 1 + store->n;
    stats->monitored = store->monitored;
    stats->bytes = tree->budget.used - store_bytes(&tree->packed->view);
}

bool packed_walk(const struct mcct *tree, mcct_visit *visit, void *arg) {
    uint64_t unseen;
    const struct store *store = items_of(tree, &unseen);
    const struct mcct_view root = {0};
    uint32_t *path = calloc(RUN_DEPTH_MAX + 1, sizeof *path), node = MCCT_ROOT;
    struct packed_item it;
    if (path == NULL || !make_rest(tree, store, unseen)) {
        free(path);
        return false;
    }
    path[0] = node;
    bool more = visit(arg, node, &root);
    for (packed_item_first(&it, store, path_of(tree->packed)); more && packed_item_is(&it);
         packed_item_next(&it)) {
        uint32_t depth = run_depth(it.word);
        bool monitored = it.item != NULL && it.item->count != 0;
        struct mcct_view view = {.depth = depth,
                                 .parent = path[depth - 1],
                                 .frame = run_frame(it.word),
                                 .count = monitored ? it.item->count : 0,
                                 .error = monitored ? store_error(it.item, unseen) : 0,
                                 .monitored = monitored};
        path[depth] = ++node;
        more = visit(arg, node, &view);
    }
    free(path);
    return true;
}

bool packed_residuals(const struct mcct *tree, uint32_t node, mcct_residual_visit *visit,
                      void *arg) {
    uint64_t unseen;
    const struct store *store = items_of(tree, &unseen);
    if (!make_rest(tree, store, unseen))
        return false;
    const struct packed_rest *rest = &tree->packed->rest;
    size_t first = 0;
    for (size_t n = rest->n; n > 0;) { /* the first one of the node, or of a later one */
        size_t half = n / 2;
        bool before = rest->list[first + half].node < node;
        first += before ? half + 1 : 0;
        n = before ? n - half - 1 : half;
    }
    for (; first < rest->n && rest->list[first].node == node; first++)
        if (!visit(arg, rest->list[first].frame, rest->list[first].weight))
            break;
    return true;
}
