/*
 * filtered_space_saving.c - lazy Space Saving with a filter before it.
 *
 * Homem, Carvalho: Finding top-k elements in data streams (Information Sciences 180, 2010). Where
 * contexts are many, most that Space Saving admits come once or twice, and each costs an eviction.
 * Here a context that is not monitored is known by a cell that it shares with others, found by the
 * hash of its path; a cell is a bound on the weight of each of its contexts. What such a context
 * gains is added to its cell as long as the cell stays at or below the least count; then the
 * context takes the place of the least: the cell is its error. A context that is evicted leaves its
 * count in its cell, if that is larger. The tree need not have a node for a context in a cell
 * (refuse), which is most of what is saved.
 *
 * With N all weight so far, k the capacity, and no memory cap met:
 *   - count - error <= true weight <= count for each monitored context;
 *   - the counts add up to N at most (one that takes the place of another exceeds it by no more
 *     than the new weight), so the least is at most N/k, and so is each error: errors are smaller
 *     than without the filter, as only what shares a cell adds to them;
 *   - a context that is not monitored weighs at most its cell, at most `unseen`, at most the least.
 *
 * The filter begins when M is full for the first time: most trees never have one. After a merge all
 * cells are `unseen`. Where there is no memory for it, and when cells of 32 bits are full
 * (nanoseconds of some 60 hours at epsilon 2e-5), this is space_saving.c, whose departures hold
 * here too.
 */
#include "daemon/tree/summary.h"

#include <stdlib.h>

#include "daemon/tree/counters.h"
#include "daemon/tree/lazy_queue.h"
#include "daemon/tree/path_hash.h"

#define CELLS_PER_COUNTER 4u         /* at least, and less than twice as many */
#define CELL_FULL         UINT32_MAX /* the bound is `unseen` */

struct filtered {
    struct counters counters;
    struct lazy_queue queue;
    uint32_t *cell; /* NULL: there is no filter */
    uint32_t shift; /* of a hash, to its cell */
    bool tried;     /* to begin the filter */
};

/* ---- the filter ---- */

static uint32_t cells(const struct filtered *f) {
    return 1u << (32 - f->shift);
}

static void set_cell(struct filtered *f, uint32_t *cell, uint64_t bound) {
    *cell = bound < CELL_FULL ? (uint32_t)bound : CELL_FULL;
    counters_raise(f, bound);
}

static void fill(struct filtered *f) {
    for (uint32_t i = 0; i < cells(f); i++)
        set_cell(f, &f->cell[i], f->counters.unseen);
}

static uint32_t *cell_of(const struct filtered *f, uint32_t hash) {
    return &f->cell[hash >> f->shift];
}

static uint64_t bound_of(const struct filtered *f, const uint32_t *cell) {
    return *cell != CELL_FULL ? *cell : f->counters.unseen;
}

/* Half of what is left of the tree's memory is for more nodes. */
static uint32_t *new_cells(struct mcct *tree, uint32_t n) {
    struct budget *budget = &tree->budget;
    size_t bytes = n * sizeof(uint32_t);
    if (budget->max != 0 && bytes > (budget->max - budget->used) / 2)
        return NULL;
    uint32_t *cell = malloc(bytes);
    if (cell != NULL && !budget_take(budget, bytes)) {
        free(cell);
        cell = NULL;
    }
    return cell;
}

static void begin_filter(struct filtered *f) {
    struct mcct *tree = f->counters.tree;
    f->tried = true;
    for (f->shift = 31; f->shift > 1 && cells(f) / CELLS_PER_COUNTER < tree->capacity;)
        f->shift--;
    uint32_t *cell = new_cells(tree, cells(f));
    if (cell != NULL && !path_hash_begin(tree)) {
        budget_give(&tree->budget, cells(f) * sizeof *cell);
        free(cell);
        cell = NULL;
    }
    f->cell = cell;
    if (cell != NULL)
        fill(f);
}

/* The context of the cell gains weight. True: it may stay in it. */
static bool stays(struct filtered *f, uint32_t *cell, uint64_t weight) {
    uint64_t bound = add_saturating(bound_of(f, cell), weight);
    if (bound > f->queue.last) { /* which the least was, when it was last asked for */
        uint64_t least = lazy_queue_least(&f->queue);
        counters_raise(f, least);
        if (bound > least)
            return false;
    }
    set_cell(f, cell, bound);
    return true;
}

static bool is_full(const struct filtered *f) {
    return f->counters.monitored >= f->counters.tree->capacity;
}

static bool refuse(void *summary, uint32_t hash, uint64_t weight) {
    struct filtered *f = summary;
    return f->cell != NULL && is_full(f) && stays(f, cell_of(f, hash), weight);
}

static void expect(const void *summary, uint32_t hash) {
    const struct filtered *f = summary;
    if (f->cell != NULL)
        __builtin_prefetch(cell_of(f, hash), 1);
}

/* ---- monitored contexts ---- */

static void destroy(void *summary) {
    struct filtered *f = summary;
    lazy_queue_free(&f->queue);
    free(f->cell);
    free(f);
}

static void *create(struct mcct *tree, const struct mcct_params *params) {
    (void)params;
    struct filtered *f = counters_new(tree, sizeof *f);
    if (f == NULL)
        return NULL;
    lazy_queue_init(&f->queue, tree);
    if (!lazy_queue_reserve(&f->queue, 1)) {
        destroy(f);
        return NULL;
    }
    return f;
}

static void evict(struct filtered *f) {
    uint32_t node = lazy_queue_take_least(&f->queue);
    uint64_t count = tree_count(f->counters.tree, node);
    uint32_t *cell = f->cell != NULL ? cell_of(f, *path_hash_at(f->counters.tree, node)) : NULL;
    if (cell != NULL && count > bound_of(f, cell))
        set_cell(f, cell, count);
    counters_evict(&f->counters, node);
}

static bool reserve(struct filtered *f) {
    return lazy_queue_reserve(&f->queue, f->counters.monitored + 1);
}

static void monitor(struct filtered *f, uint32_t node, uint64_t count, uint64_t error,
                    uint64_t bound) {
    counters_monitor_from(&f->counters, node, count, error, bound);
    lazy_queue_insert(&f->queue, node);
}

/* M is full. */
static void replace(struct filtered *f, uint32_t node, uint64_t weight) {
    if (!f->tried)
        begin_filter(f);
    uint32_t *cell = f->cell != NULL ? cell_of(f, *path_hash_at(f->counters.tree, node)) : NULL;
    if (cell != NULL && stays(f, cell, weight))
        return;
    uint64_t bound = cell != NULL ? bound_of(f, cell) : 0;
    evict(f);
    monitor(f, node, weight, 0, cell != NULL ? bound : f->counters.unseen);
}

static void update(void *summary, uint32_t node, uint64_t weight) {
    struct filtered *f = summary;
    if (is_full(f)) {
        replace(f, node, weight);
        return;
    }
    if (!reserve(f))
        evict(f);
    monitor(f, node, weight, 0, f->counters.unseen);
}

static void evict_until(struct filtered *f, uint32_t keep) {
    while (f->counters.monitored > keep)
        evict(f);
}

static bool shrink(void *summary) {
    struct filtered *f = summary;
    uint32_t before = f->counters.monitored;
    evict_until(f, counters_keep(&f->counters));
    return f->counters.monitored < before;
}

/* ---- merging ---- */

static void raise(void *summary, uint64_t unseen) {
    struct filtered *f = summary;
    counters_raise(f, unseen);
    if (f->cell != NULL)
        fill(f);
}

static bool adopt(void *summary, uint32_t node, uint64_t count, uint64_t error) {
    struct filtered *f = summary;
    if (!reserve(f))
        return false;
    monitor(f, node, count, error, f->counters.unseen);
    return true;
}

static void trim(void *summary) {
    struct filtered *f = summary;
    evict_until(f, f->counters.tree->capacity);
}

const struct summary_kind summary_filtered_space_saving = {
    .name = "filtered-space-saving",
    .help = "as space-saving, but what comes once evicts nothing: faster, and errors are smaller",
    .bounded = true,
    .certain = true,
    .side_bytes = PATH_HASH_BYTES,
    .side_later = true,
    .create = create,
    .destroy = destroy,
    .update = update,
    .refuse = refuse,
    .expect = expect,
    .unseen = counters_unseen,
    .monitored = counters_monitored,
    .shrink = shrink,
    .raise = raise,
    .adopt = adopt,
    .trim = trim,
};
