/*
 * packed.c - from nodes to words, and back.
 */
#include "daemon/tree/packed.h"

#include <stdlib.h>

#include "daemon/tree/tree.h"

#define BUDGET_MIN   (16u << 20) /* with less to spend, nodes are cut to size more finely */
#define SPARE_BYTES  (2u << 20)  /* of the budget, for nodes of cursors */
#define LOG_MIN      (1u << 16)  /* words that are gathered at least */
#define LOG_QUARTERS 3u          /* and so many quarters of the contexts that are stored, or */
#define LOG_TIMES    2u          /* so many times those, where the store is large */
#define STORE_LARGE  (1u << 20)  /* contexts: more than a processor keeps at hand */
#define COUNT_MAX    (STORE_COUNT_MAX - RUN_TOTAL_MAX) /* before a log is added */
#define GIVE_PART    4u    /* of what is monitored goes when memory is short */
#define GIVE_MIN     1024u /* as long as so many are */

void packed_free(struct packed *packed) {
    if (packed == NULL)
        return;
    run_log_free(&packed->log);
    store_free(&packed->store);
    store_free(&packed->view);
    free(packed);
}

static struct packed *new_packed(struct mcct *tree) {
    struct packed *packed = calloc(1, sizeof *packed);
    if (packed == NULL)
        return NULL;
    run_log_init(&packed->log, &tree->budget);
    store_init(&packed->store, &tree->budget);
    store_init(&packed->view, &tree->budget);
    packed->unseen = tree->kind->unseen(tree->summary);
    return packed;
}

/* ---- from nodes ---- */

struct packing {
    struct store_item *item;
    uint32_t *node; /* of each item */
    size_t n;
    uint32_t *path; /* nodes from the root to the one before */
    uint32_t depth;
    bool failed;
};

static bool pack(void *arg, uint32_t node, const struct mcct_view *view) {
    struct packing *packing = arg;
    if (node == MCCT_ROOT) {
        packing->failed = view->monitored; /* it has no word */
        packing->path[0] = node;
        return !packing->failed;
    }
    while (packing->path[packing->depth] != view->parent)
        packing->depth--;
    packing->failed = packing->depth == RUN_DEPTH_MAX || view->count > COUNT_MAX;
    if (packing->failed)
        return false;
    packing->path[++packing->depth] = node;
    packing->node[packing->n] = view->monitored ? node : 0;
    packing->item[packing->n++] =
        store_item_of(packing->depth, view->frame, view->count, view->error);
    return true;
}

/* Nodes that no cursor stands on go. */
static void forget(struct mcct *tree, const struct packing *packing, void *summary) {
    residual_gather(tree);
    for (size_t i = packing->n; i-- > 0;)
        if (packing->node[i] != 0)
            tree_release(tree, packing->node[i]);
    tree->kind->destroy(tree->summary);
    tree->summary = summary;
}

static bool take_nodes(struct mcct *tree, struct packed *packed) {
    struct packing packing = {.node = calloc(tree->nodes, sizeof *packing.node),
                              .path = calloc(RUN_DEPTH_MAX + 1, sizeof *packing.path)};
    void *summary = NULL;
    if (packing.node != NULL && packing.path != NULL &&
        store_reserve(&packed->store, tree->nodes, SPARE_BYTES)) {
        packing.item = store_front(&packed->store);
        if (mcct_walk(tree, pack, &packing) && !packing.failed)
            summary = tree->kind->create(tree, NULL);
    }
    if (summary != NULL) {
        store_fill(&packed->store, packing.n);
        store_raise(&packed->store, packed->unseen);
        forget(tree, &packing, summary);
    }
    free(packing.node);
    free(packing.path);
    return summary != NULL;
}

bool packed_begin(struct mcct *tree) {
    if (!tree->kind->packs || tree->total > COUNT_MAX ||
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
static bool make_room(struct mcct *tree, size_t n) {
    struct store *store = &tree->packed->store;
    while (!store_reserve(store, n, SPARE_BYTES)) {
        if (!tree->kind->bounded || store->monitored < GIVE_MIN)
            return false;
        raise(tree->packed, store_trim(store, store->monitored - store->monitored / GIVE_PART));
    }
    return true;
}

void packed_settle(struct mcct *tree) {
    struct packed *packed = tree->packed;
    store_free(&packed->view);
    if (packed->log.runs == 0)
        return;
    const uint64_t *run = run_log_all(&packed->log);
    if (make_room(tree, packed->log.n))
        raise(packed, store_add(&packed->store, run, packed->unseen, capacity(tree)));
    else
        add_known(packed, run);
    run_log_clear(&packed->log);
}

/* Whether the store might not find room for a log that went on growing. */
static bool is_short(const struct mcct *tree) {
    const struct budget *budget = &tree->budget;
    size_t need = 2 * tree->packed->log.n * sizeof(struct store_item) + SPARE_BYTES;
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
    store_free(&packed->view);
    if (tree->total > COUNT_MAX)
        return NULL;
    if (packed->log.weight + weight >= RUN_TOTAL_MAX)
        packed_settle(tree);
    uint64_t *room = run_log_room(&packed->log, words);
    if (room == NULL) {
        packed_settle(tree);
        room = run_log_room(&packed->log, words);
    }
    return room;
}

void packed_add(struct mcct *tree, size_t words, uint64_t weight) {
    run_log_add(&tree->packed->log, words, weight);
    if (is_due(tree))
        packed_settle(tree);
}

/* ---- to nodes ---- */

/* Gives the largest count for which there was no memory. */
static uint64_t give_nodes(struct mcct *tree, const struct packed *packed) {
    const struct store *store = &packed->store;
    struct mcct_cursor cursor;
    uint64_t left_out = 0;
    mcct_cursor_open(tree, &cursor);
    for (const struct store_item *item = store_first(store); item->word != RUN_END; item++) {
        mcct_pop(&cursor, mcct_depth(&cursor) - (run_depth(item->word) - 1));
        mcct_push(&cursor, run_frame(item->word));
        if (item->count != 0 &&
            !mcct_restore(&cursor, item->count, store_error(item, packed->unseen)) &&
            item->count > left_out)
            left_out = item->count;
    }
    mcct_cursor_close(&cursor);
    return left_out;
}

void packed_end(struct mcct *tree) {
    struct packed *packed = tree->packed;
    packed_settle(tree);
    tree->packed = NULL;
    uint64_t left_out = give_nodes(tree, packed), unseen = packed->unseen;
    tree->kind->raise(tree->summary, left_out > unseen ? left_out : unseen);
    tree->kind->trim(tree->summary);
    packed_free(packed);
}

/* ---- what is in it ---- */

static bool make_view(struct mcct *tree) {
    struct packed *packed = tree->packed;
    const uint64_t *run = run_log_all(&packed->log);
    if (!store_copy(&packed->view, &packed->store, packed->log.n))
        return false;
    uint64_t gone = store_add(&packed->view, run, packed->unseen, capacity(tree));
    packed->view_unseen = gone > packed->unseen ? gone : packed->unseen;
    return true;
}

/* Where there is no memory for a view, the runs go into the store before they are due. */
static const struct store *look(const struct mcct *tree, uint64_t *unseen) {
    struct packed *packed = tree->packed;
    if (packed->log.runs > 0 && packed->view.item == NULL && !make_view((struct mcct *)tree))
        packed_settle((struct mcct *)tree);
    bool viewed = packed->view.item != NULL;
    *unseen = viewed ? packed->view_unseen : packed->unseen;
    return viewed ? &packed->view : &packed->store;
}

void packed_stats(const struct mcct *tree, struct mcct_stats *stats) {
    const struct store *store = look(tree, &stats->unseen);
    stats->nodes = 1 + store->n;
    stats->monitored = store->monitored;
    stats->bytes = tree->budget.used - store_bytes(&tree->packed->view);
}

bool packed_walk(const struct mcct *tree, mcct_visit *visit, void *arg) {
    uint64_t unseen;
    const struct store *store = look(tree, &unseen);
    const struct mcct_view root = {0};
    uint32_t *path = calloc(RUN_DEPTH_MAX + 1, sizeof *path), node = MCCT_ROOT;
    if (path == NULL)
        return false;
    path[0] = node;
    bool more = visit(arg, node, &root);
    for (const struct store_item *item = store_first(store); more && item->word != RUN_END;
         item++) {
        uint32_t depth = run_depth(item->word);
        struct mcct_view view = {.parent = path[depth - 1],
                                 .frame = run_frame(item->word),
                                 .count = item->count,
                                 .error = store_error(item, unseen),
                                 .monitored = item->count != 0};
        path[depth] = ++node;
        more = visit(arg, node, &view);
    }
    free(path);
    return true;
}
