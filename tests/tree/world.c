/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * world.c - contexts with known weights.
 */
#include "tests/tree/world.h"

#include <stdio.h>
#include <stdlib.h>

#define FRAME_BASE 7u /* frame of a first child */

/* splitmix64 */
uint64_t rng_next(struct rng *rng) {
    uint64_t z = rng->state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

uint64_t rng_below(struct rng *rng, uint64_t n) {
    return (uint64_t)(((unsigned __int128)rng_next(rng) * n) >> 64);
}

uint64_t test_number(const char *name, uint64_t otherwise) {
    const char *text = getenv(name);
    return text != NULL && *text != '\0' ? strtoull(text, NULL, 0) : otherwise;
}

uint64_t test_seed(void) {
    uint64_t seed = test_number("HCCT_TEST_SEED", 20150401);
    printf("HCCT_TEST_SEED=%llu\n", (unsigned long long)seed);
    return seed;
}

/* ---- contexts ---- */

static void *array(uint32_t n, size_t size) {
    void *memory = calloc(n, size);
    if (memory == NULL)
        abort();
    return memory;
}

static uint32_t children_for(enum world_shape shape, uint32_t n, struct rng *rng) {
    switch (shape) {
    case WORLD_FLAT:
        return n;
    case WORLD_DEEP:
        return rng_below(rng, 50) == 0 ? 3 : 1;
    default:
        return rng_below(rng, 400) == 0 ? 1000 + (uint32_t)rng_below(rng, 3000)
                                        : 1 + (uint32_t)rng_below(rng, 20);
    }
}

void world_make(struct world *world, enum world_shape shape, uint32_t n, struct rng *rng) {
    *world = (struct world){.n = n,
                            .parent = array(n, sizeof *world->parent),
                            .first = array(n, sizeof *world->first),
                            .children = array(n, sizeof *world->children),
                            .depth = array(n, sizeof *world->depth),
                            .weight = array(n, sizeof *world->weight)};
    uint32_t made = 1;
    for (uint32_t i = 0; made < n; i++) {
        uint32_t k = children_for(shape, n, rng);
        world->first[i] = made;
        world->children[i] = k < n - made ? k : n - made;
        for (uint32_t c = 0; c < world->children[i]; c++, made++) {
            world->parent[made] = i;
            world->depth[made] = world->depth[i] + 1;
        }
    }
}

void world_free(struct world *world) {
    free(world->parent);
    free(world->first);
    free(world->children);
    free(world->depth);
    free(world->weight);
}

void world_forget(struct world *world) {
    for (uint32_t i = 0; i < world->n; i++)
        world->weight[i] = 0;
    world->total = 0;
}

uint32_t world_frame(const struct world *world, uint32_t context) {
    return FRAME_BASE + context - world->first[world->parent[context]];
}

/* Its n when there is none. */
static uint32_t world_child(const struct world *world, uint32_t context, uint32_t frame) {
    uint32_t ordinal = frame - FRAME_BASE;
    return ordinal < world->children[context] ? world->first[context] + ordinal : world->n;
}

/* ---- moving and crediting ---- */

void walker_open(struct walker *walker, struct mcct *tree) {
    walker->at = 0;
    mcct_cursor_open(tree, &walker->cursor);
}

static void push_down(const struct world *world, struct walker *walker, uint32_t top,
                      uint32_t context) {
    uint32_t n = world->depth[context] - world->depth[top];
    uint32_t *path = array(n + 1, sizeof *path);
    for (uint32_t i = n, c = context; i-- > 0; c = world->parent[c])
        path[i] = c;
    for (uint32_t i = 0; i < n; i++)
        mcct_push(&walker->cursor, world_frame(world, path[i]));
    free(path);
}

void walker_go(const struct world *world, struct walker *walker, uint32_t context) {
    uint32_t a = walker->at, b = context;
    while (a != b) {
        if (world->depth[a] >= world->depth[b])
            a = world->parent[a];
        else
            b = world->parent[b];
    }
    mcct_pop(&walker->cursor, world->depth[walker->at] - world->depth[a]);
    push_down(world, walker, a, context);
    walker->at = context;
}

void walker_credit(struct world *world, struct walker *walker, uint64_t weight) {
    mcct_credit(&walker->cursor, weight);
    world->weight[walker->at] += weight;
    world->total += weight;
}

/* ---- checks ---- */

struct seen {
    uint32_t node, context, parent; /* parent: index in the array */
    bool kept;
    uint64_t certain;  /* of its subtree, residuals included */
    uint64_t residual; /* its own, and then with those of its ancestors */
};

/* Self weight of a frame: the true one, and what is placed. */
struct of_frame {
    uint32_t frame;
    uint64_t exact, placed;
};

struct check {
    const struct world *world;
    const struct walker *walkers;
    unsigned n_walkers;
    struct seen *seen;
    uint32_t n, room;
    bool *monitored; /* by context */
    uint32_t at;     /* in `seen`, the node visited last */
    const struct mcct *tree;
    struct of_frame *self;
    size_t n_self, self_room;
    struct verdict verdict;
};

static void hold(struct check *check, bool condition, const char *otherwise) {
    if (!condition && check->verdict.wrong == NULL)
        check->verdict.wrong = otherwise;
}

static void add_self(struct check *check, uint32_t frame, uint64_t exact, uint64_t placed) {
    if (check->n_self == check->self_room) {
        check->self_room = 2 * check->self_room + 1024;
        check->self = realloc(check->self, check->self_room * sizeof *check->self);
        if (check->self == NULL)
            abort();
    }
    check->self[check->n_self++] = (struct of_frame){frame, exact, placed};
    check->verdict.placed += placed;
}

static bool see_residual(void *arg, uint32_t frame, uint64_t weight) {
    struct check *check = arg;
    struct seen *of = &check->seen[check->n - 1];
    of->residual += weight;
    of->certain += weight;
    of->kept = true;
    add_self(check, frame, 0, weight);
    return true;
}

static void check_counts(struct check *check, uint32_t context, const struct mcct_view *view) {
    uint64_t weight = check->world->weight[context];
    hold(check, view->error <= view->count, "error <= count");
    hold(check, view->count - view->error <= weight, "count - error <= true");
    check->verdict.above += weight > view->count;
    check->monitored[context] = true;
    check->verdict.sum += view->count;
    if (view->count < check->verdict.least)
        check->verdict.least = view->count;
    if (view->error > check->verdict.error)
        check->verdict.error = view->error;
}

static bool has_walker(const struct check *check, uint32_t node) {
    for (unsigned i = 0; i < check->n_walkers; i++)
        if (check->walkers[i].cursor.node == node)
            return true;
    return false;
}

/* The place of the parent among the nodes seen: the node seen last, or an ancestor of it. */
static uint32_t find_parent(const struct check *check, uint32_t node) {
    uint32_t at = check->n - 1;
    while (at != 0 && check->seen[at].node != node)
        at = check->seen[at].parent;
    return at;
}

static bool check_node(void *arg, uint32_t node, const struct mcct_view *view) {
    struct check *check = arg;
    if (check->n == check->room) {
        hold(check, false, "the walk visits the nodes that there are");
        return false;
    }
    struct seen now = {.node = node, .kept = view->monitored || has_walker(check, node)};
    if (check->n > 0) {
        now.parent = find_parent(check, view->parent);
        const struct seen *parent = &check->seen[now.parent], *last = &check->seen[check->n - 1];
        hold(check, parent->node == view->parent, "children come after their parent");
        now.context = world_child(check->world, parent->context, view->frame);
        if (now.context == check->world->n) {
            hold(check, false, "each node is a context of the stream");
            return false;
        }
        for (uint32_t at = check->n - 1; at != now.parent; at = last->parent) {
            last = &check->seen[at];
            hold(check, last->parent != now.parent || last->context < now.context,
                 "children come in the order of their frames");
        }
    } else {
        hold(check, node == MCCT_ROOT && view->parent == 0, "the root comes first");
    }
    if (view->monitored)
        check_counts(check, now.context, view);
    else
        hold(check, view->count == 0 && view->error == 0, "no counts where not monitored");
    now.certain = view->count - view->error;
    add_self(check, view->frame, 0, now.certain);
    check->seen[check->n++] = now;
    hold(check, mcct_residuals(check->tree, node, see_residual, check),
         "there is memory for residuals");
    return true;
}

static int by_frame(const void *a, const void *b) {
    uint32_t i = ((const struct of_frame *)a)->frame, k = ((const struct of_frame *)b)->frame;
    return (i > k) - (i < k);
}

/* What is placed has the right frames, and all of a frame's is, where all is placed. */
static void check_self(struct check *check) {
    bool whole = check->verdict.placed == check->world->total;
    for (uint32_t c = 0; c < check->world->n; c++)
        add_self(check, c != 0 ? world_frame(check->world, c) : 0, check->world->weight[c], 0);
    qsort(check->self, check->n_self, sizeof *check->self, by_frame);
    for (size_t i = 0; i < check->n_self;) {
        uint32_t frame = check->self[i].frame;
        uint64_t exact = 0, placed = 0;
        for (; i < check->n_self && check->self[i].frame == frame; i++) {
            exact += check->self[i].exact;
            placed += check->self[i].placed;
        }
        hold(check, placed <= exact, "a frame's self weight is at least what is placed");
        hold(check, !whole || placed == exact, "a frame's self weight is what is placed");
    }
}

/* The true inclusive weight of each node, in what is certain below it and what may be. */
static void check_inclusive(struct check *check) {
    const struct world *world = check->world;
    uint64_t *inclusive = array(world->n, sizeof *inclusive);
    uint64_t unplaced = world->total - check->verdict.placed;
    for (uint32_t c = world->n; c-- > 0;) { /* callees have higher numbers */
        inclusive[c] += world->weight[c];
        if (c != 0)
            inclusive[world->parent[c]] += inclusive[c];
    }
    for (uint32_t i = check->n; i-- > 1;)
        check->seen[check->seen[i].parent].certain += check->seen[i].certain;
    for (uint32_t i = 0; i < check->n; i++) {
        struct seen *at = &check->seen[i];
        uint64_t above = i != 0 ? check->seen[at->parent].residual : 0;
        at->residual += above;
        hold(check, at->certain <= inclusive[at->context], "what is certain below a node is there");
        hold(check, inclusive[at->context] <= at->certain + above + unplaced,
             "an inclusive weight is at most what may be there");
    }
    free(inclusive);
}

static void check_shape(struct check *check) {
    for (uint32_t i = check->n; i-- > 1;) {
        hold(check, check->seen[i].kept, "each node has a reason to be there");
        check->seen[check->seen[i].parent].kept |= check->seen[i].kept;
    }
}

static void check_rest(struct check *check) {
    uint64_t monitored = 0;
    const struct mcct_stats *stats = &check->verdict.stats;
    for (uint32_t i = 0; i < check->world->n; i++) {
        monitored += check->monitored[i];
        if (check->monitored[i])
            continue;
        check->verdict.above += check->world->weight[i] > stats->unseen;
        if (check->world->weight[i] > check->verdict.missing)
            check->verdict.missing = check->world->weight[i];
    }
    hold(check, monitored == stats->monitored, "stats.monitored");
    hold(check, check->n == stats->nodes, "stats.nodes");
    hold(check, check->world->total == stats->total, "stats.total");
    hold(check, stats->capacity == 0 || monitored <= stats->capacity, "|M| <= capacity");
}

struct verdict world_check(const struct world *world, const struct mcct *tree,
                           const struct walker *walkers, unsigned n_walkers) {
    struct check check = {.world = world,
                          .walkers = walkers,
                          .n_walkers = n_walkers,
                          .tree = tree,
                          .monitored = array(world->n, sizeof(bool)),
                          .verdict = {.least = UINT64_MAX}};
    mcct_stats(tree, &check.verdict.stats);
    check.room = (uint32_t)check.verdict.stats.nodes;
    check.seen = array(check.room, sizeof *check.seen);
    hold(&check, mcct_walk(tree, check_node, &check), "there is memory for the walk");
    check_shape(&check);
    check_rest(&check);
    hold(&check, check.verdict.placed <= world->total, "no more is placed than there is");
    if (check.verdict.stats.capped == 0 && check.verdict.wrong == NULL) {
        check_self(&check);
        check_inclusive(&check);
    }
    free(check.seen);
    free(check.self);
    free(check.monitored);
    return check.verdict;
}
