/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * truth_test.c - nothing that is shown of a tree is untrue: with every summary, on trees whose
 * contexts are mostly cold, the true weights lie in the intervals that are reported, of each
 * context, function and module; also of windows, sums, differences, of what came through a
 * checkpoint or a file, and of what is cut for display.
 *
 * The oracle is an array: a context is a number, its weight an element.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/assemble/assemble.h"
#include "common/code/frame.h"
#include "common/code/module.h"
#include "common/tree/batch.h"
#include "common/tree/subwindows.h"
#include "common/tree/summary.h"
#include "common/tree/tree_delta.h"
#include "daemon/ingest/registry.h"
#include "daemon/state/checkpoint_load.h"
#include "daemon/state/checkpoint_save.h"
#include "tests/check.h"
#include "tests/daemon/shown.h"
#include "tests/tree/world.h"

#define CONTEXTS    5000u
#define CHAIN_SHIFT 19u /* of 32 bits */
#define SITES       200u
#define KINDS       6u   /* of summaries */
#define ROUTINES    100u /* of the programs below */

/* ---- contexts ---- */

struct context {
    uint32_t parent, routine, site, frame, depth;
    uint32_t next; /* of the same chain */
};

static struct {
    struct context *context; /* [0] is the root */
    uint32_t n;
    uint32_t chain[1u << (32 - CHAIN_SHIFT)];
    uint32_t modules[3];
} contexts;

/* Weights of all contexts. */
struct account {
    uint64_t weight[CONTEXTS], total;
};

static uint32_t frame_of(uint32_t caller, uint32_t routine, uint32_t site) {
    struct frame_key key = {.routine_module = contexts.modules[routine % 3],
                            .routine = 0x1000 * (uint64_t)routine};
    if (caller != 0) {
        key.site_module = contexts.modules[caller % 3];
        key.site = 0x1000 * (uint64_t)caller + 8 + site;
    }
    return frame_intern(&key);
}

/* What `routine` is as it was called by `parent` from there. */
static uint32_t below(uint32_t parent, uint32_t routine, uint32_t site) {
    uint32_t *chain =
        &contexts
             .chain[((parent * ROUTINES + routine) * SITES + site) * 2654435761u >> CHAIN_SHIFT];
    uint32_t i = *chain;
    struct context new = {.parent = parent, .routine = routine, .site = site, .next = *chain};
    for (; i != 0; i = contexts.context[i].next) {
        const struct context *c = &contexts.context[i];
        if (c->parent == parent && c->routine == routine && c->site == site)
            return i;
    }
    if (contexts.n == CONTEXTS)
        return parent;
    new.frame = frame_of(contexts.context[parent].routine, routine, site);
    new.depth = contexts.context[parent].depth + 1;
    *chain = contexts.n++;
    contexts.context[*chain] = new;
    return *chain;
}

static void forget_contexts(void) {
    memset(contexts.chain, 0, sizeof contexts.chain);
    contexts.n = 1;
}

/* ---- programs: which context is next ---- */

typedef uint32_t program(struct rng *rng);

/* A hot path, and thousands of cold leaves below it. */
static uint32_t fan(struct rng *rng) {
    uint32_t c = 0;
    for (uint32_t d = 1; d <= 6; d++)
        c = below(c, d, d);
    if (rng_below(rng, 4) == 0)
        return c;
    c = below(c, 10 + (uint32_t)rng_below(rng, 40), (uint32_t)rng_below(rng, SITES));
    if (rng_below(rng, 2) == 0)
        return c;
    return below(c, 60 + (uint32_t)rng_below(rng, 3), (uint32_t)rng_below(rng, 2));
}

/* A third of the time in one context, the rest spread over a random recursion of two functions. */
static uint32_t broad(struct rng *rng) {
    uint32_t c = below(0, 1, 0), depth = (uint32_t)rng_below(rng, 14);
    if (rng_below(rng, 3) == 0)
        return below(c, 2, 1);
    c = below(c, 3, 2);
    for (uint32_t d = 0; d < depth; d++)
        c = below(c, 4 + (uint32_t)rng_below(rng, 2), 0);
    return c;
}

/* A recursion of two functions that is hundreds of levels deep, with side branches. */
static uint32_t deep(struct rng *rng) {
    uint32_t c = below(0, 1, 0), depth = (uint32_t)rng_below(rng, 300);
    for (uint32_t d = 0; d < depth; d++)
        c = below(c, 2 + d % 2, 0);
    if (rng_below(rng, 3) == 0)
        c = below(c, 20 + (uint32_t)rng_below(rng, 30), (uint32_t)rng_below(rng, 3));
    return c;
}

/* A random recursion that ends in one leaf, which has most of the time. */
static uint32_t leaf(struct rng *rng) {
    uint32_t c = below(0, 1, 0);
    for (uint32_t d = 0; d < 12; d++)
        c = below(c, 2 + (uint32_t)rng_below(rng, 3), 0);
    return rng_below(rng, 100) == 0 ? c : below(c, 9, 0);
}

/* A few hot contexts among others of many functions. */
static uint32_t any(struct rng *rng) {
    uint32_t c = 0, depth = 1 + (uint32_t)rng_below(rng, 5);
    for (uint32_t d = 0; d < depth; d++) {
        uint64_t top = UINT64_C(1) << rng_below(rng, 6);
        c = below(c, 1 + (uint32_t)(top + rng_below(rng, top)) % (ROUTINES - 1), 0);
    }
    return c;
}

static program *const programs[] = {fan, broad, deep, leaf, any};
#define PROGRAMS (sizeof programs / sizeof programs[0])

/* ---- a thread: goes to a context and credits it, there and in the account ---- */

struct thread {
    struct mcct_cursor cursor;
    uint32_t at;
    struct mcct_batch *batch; /* its calls go through this, where it is not NULL */
    struct mcct_batch_level *level;
};

static void start(struct thread *thread, struct mcct *tree) {
    *thread = (struct thread){0};
    mcct_cursor_open(tree, &thread->cursor);
}

static void push(struct thread *thread, uint32_t frame) {
    if (thread->batch != NULL)
        thread->level = mcct_batch_push(thread->batch, thread->level, frame);
    else
        mcct_push(&thread->cursor, frame);
}

static void pop(struct thread *thread, uint64_t n) {
    uint64_t left;
    if (n > 0 && thread->batch != NULL)
        thread->level = mcct_batch_pop(thread->batch, thread->level, n, &left);
    else if (n > 0)
        mcct_pop(&thread->cursor, n);
}

static void go(struct thread *thread, uint32_t context) {
    const struct context *all = contexts.context;
    static uint32_t path[1024];
    uint32_t common = thread->at, n = 0;
    for (uint32_t other = context; other != common;) {
        if (all[other].depth > all[common].depth) {
            path[n++] = other;
            other = all[other].parent;
        } else if (all[common].depth > all[other].depth) {
            common = all[common].parent;
        } else {
            path[n++] = other;
            other = all[other].parent;
            common = all[common].parent;
        }
    }
    pop(thread, all[thread->at].depth - all[common].depth);
    while (n > 0)
        push(thread, all[path[--n]].frame);
    thread->at = context;
}

static void credit(struct thread *thread, struct account *account, uint64_t weight) {
    if (thread->batch == NULL)
        mcct_credit(&thread->cursor, weight);
    for (uint64_t i = 0; thread->batch != NULL && i < weight; i++)
        thread->level = mcct_batch_credit(thread->batch, thread->level);
    account->weight[thread->at] += weight;
    account->total += weight;
}

static void feed(struct thread *thread, struct account *account, program *next, unsigned steps,
                 struct rng *rng) {
    for (unsigned i = 0; i < steps; i++) {
        go(thread, next(rng));
        credit(thread, account, 1 + rng_below(rng, 100));
    }
}

/* Calls that come in batches: the tree is packed, where its summary allows that. */
static void feed_calls(struct thread *thread, struct account *account, program *next,
                       unsigned steps, struct rng *rng) {
    thread->batch = mcct_batch_begin(&thread->cursor, &thread->level);
    if (thread->batch == NULL)
        abort();
    feed(thread, account, next, steps, rng);
    mcct_batch_end(thread->batch, thread->level);
    thread->batch = NULL;
}

/* ---- profiles ---- */

static struct profile *assemble_copy(struct tree_copy *copy) {
    const struct assemble_params params = {.phi = 0.01, .epsilon = 0.01, .summary = "any"};
    struct assemble_part part = {.copy = *copy,
                                 .process = {.exe = "/bin/x", .command = "x", .runs = 1}};
    uint32_t *module_of;
    struct profile *profile = assemble_trees(&part, 1, &params, &module_of);
    free(module_of);
    shown_name(profile);
    return profile;
}

/* All contexts, with their true weights. */
static struct profile *whole_of(const struct account *account) {
    struct tree_copy copy = {.node = calloc(contexts.n, sizeof *copy.node),
                             .n = contexts.n,
                             .stats = {.total = account->total}};
    if (copy.node == NULL)
        abort();
    for (uint32_t i = 1; i < contexts.n; i++)
        copy.node[i] = (struct copied_node){.parent = contexts.context[i].parent,
                                            .frame = contexts.context[i].frame,
                                            .count = account->weight[i]};
    struct profile *profile = assemble_copy(&copy);
    free(copy.node);
    return profile;
}

static struct profile *part_of(const struct mcct *tree) {
    struct tree_copy copy;
    if (!tree_copy_take(&copy, tree))
        abort();
    struct profile *profile = assemble_copy(&copy);
    tree_copy_free(&copy);
    return profile;
}

static const char *summary, *moment; /* for what is said when something is wrong */

static void expect_profile(const struct profile *part, const struct account *account) {
    struct profile *whole = whole_of(account);
    bool is_true = shown_is_true(part, whole);
    if (!is_true)
        fprintf(stderr, "%s, %s\n", summary, moment);
    CHECK(is_true);
    profile_free(whole);
}

static void expect(const struct mcct *tree, const struct account *account, const char *when) {
    struct profile *part = part_of(tree);
    moment = when;
    expect_profile(part, account);
    profile_free(part);
}

/* Of functions and contexts that have a tenth of all weight or more, the widest interval of an
 * inclusive weight, as a share of all weight. */
static double widest(const struct mcct *tree) {
    struct profile *part = part_of(tree);
    struct shown shown;
    double width = 0, total = (double)profile_total(part);
    shown_make(&shown, profile_group(part, PROFILE_BY_FUNCTION, 0));
    for (uint32_t i = 1; i < shown.profile->n_nodes; i++) {
        double share = (double)shown.inclusive[i] / total;
        double more = (double)(shown.upper[i] - shown.inclusive[i]) / total;
        if (!shown.hidden[i] && share >= 0.1 && more > width)
            width = more;
    }
    shown_free(&shown);
    profile_free(part);
    return width;
}

/* All weight is known by its function. */
static bool is_known(const struct mcct *tree) {
    struct tree_copy copy;
    uint64_t sum = 0;
    if (!tree_copy_take(&copy, tree))
        abort();
    for (size_t i = 0; i < copy.n; i++)
        sum += copy.node[i].count - copy.node[i].error;
    bool known = sum == copy.stats.total;
    tree_copy_free(&copy);
    return known;
}

/* Where weight is dropped at many places below callers that are few: intervals must be narrow. */
static bool is_narrow;

/* True, and of use: self weights of functions are exact, and intervals of what weighs much narrow.
 */
static void expect_useful(const struct mcct *tree, const struct account *account,
                          const char *when) {
    expect(tree, account, when);
    CHECK(is_known(tree));
    double width = is_narrow ? widest(tree) : 0;
    if (width > 0.2)
        fprintf(stderr, "%s, %s: an interval of %.3f of all\n", summary, when, width);
    CHECK(width <= 0.2);
}

/* ---- what a tree goes through ---- */

static struct account one, two, three;

static void add(struct account *into, const struct account *from) {
    for (uint32_t i = 0; i < contexts.n; i++)
        into->weight[i] += from->weight[i];
    into->total += from->total;
}

static void take_away(struct account *from, const struct account *what) {
    for (uint32_t i = 0; i < contexts.n; i++)
        from->weight[i] -= what->weight[i];
    from->total -= what->total;
}

static void clear(struct account *account) {
    memset(account, 0, sizeof *account);
}

static struct mcct *make(const struct summary_kind *kind, double epsilon) {
    struct mcct *tree =
        mcct_new(&(struct mcct_params){.summary = kind, .epsilon = epsilon, .seed = 7});
    if (tree == NULL)
        abort();
    return tree;
}

/* Sums of trees, of different sizes. */
static void test_merge(const struct summary_kind *kind, program *next, struct rng *rng) {
    static const double epsilon[] = {0.01, 0.02, 0.005};
    struct account *const accounts[] = {&one, &two, &three};
    struct mcct *trees[3];
    struct profile *parts[3], *sum;
    for (int i = 0; i < 3; i++) {
        struct thread thread;
        clear(accounts[i]);
        trees[i] = make(kind, epsilon[i]);
        start(&thread, trees[i]);
        feed(&thread, accounts[i], next, 1500, rng);
        if (i == 1)
            feed_calls(&thread, accounts[i], next, 3000, rng);
        mcct_cursor_close(&thread.cursor);
        expect(trees[i], accounts[i], "a tree");
        sum = part_of(trees[i]);
        parts[i] = shown_through_file(sum);
        profile_free(sum);
    }
    CHECK(mcct_merge(trees[0], trees[1]));
    add(&one, &two);
    expect(trees[0], &one, "the sum of two trees");
    sum = shown_merged((const struct profile *const *)parts, 2);
    moment = "the sum of two files";
    expect_profile(sum, &one);
    profile_free(sum);
    CHECK(mcct_merge(trees[0], trees[2]));
    add(&one, &three);
    expect(trees[0], &one, "the sum of three trees");
    sum = shown_merged((const struct profile *const *)parts, 3);
    moment = "the sum of three files";
    expect_profile(sum, &one);
    profile_free(sum);
    for (int i = 0; i < 3; i++) {
        mcct_free(trees[i]);
        profile_free(parts[i]);
    }
}

/* Calls of trees that are added, and that come afterwards. */
static void test_merged_calls(const struct summary_kind *kind, program *next, struct rng *rng) {
    struct mcct *trees[3];
    struct thread threads[3];
    struct account *const accounts[] = {&one, &two, &three};
    for (int i = 0; i < 3; i++) {
        clear(accounts[i]);
        trees[i] = make(kind, 0.01);
        start(&threads[i], trees[i]);
        feed_calls(&threads[i], accounts[i], next, 5000, rng);
        mcct_cursor_close(&threads[i].cursor);
    }
    CHECK(mcct_merge(trees[0], trees[1]));
    add(&one, &two);
    expect_useful(trees[0], &one, "the sum of calls");
    start(&threads[0], trees[0]);
    feed_calls(&threads[0], &one, next, 5000, rng);
    expect_useful(trees[0], &one, "calls after a sum");
    mcct_cursor_close(&threads[0].cursor);
    CHECK(mcct_merge(trees[0], trees[2]));
    add(&one, &three);
    expect_useful(trees[0], &one, "the sum of sums of calls");
    for (int i = 0; i < 3; i++)
        mcct_free(trees[i]);
}

/* The difference of two moments; and of two trees at the start and their sum at the end. */
static void test_delta(const struct summary_kind *kind, program *next, bool calls,
                       struct rng *rng) {
    struct mcct *tree = make(kind, 0.01), *other = make(kind, 0.01);
    struct thread thread, there;
    struct tree_copy first, second, end;
    void (*const go_on)(struct thread *, struct account *, program *, unsigned, struct rng *) =
        calls ? feed_calls : feed;
    clear(&one);
    clear(&two);
    start(&thread, tree);
    start(&there, other);
    go_on(&thread, &one, next, 4000, rng);
    go_on(&there, &two, next, 1000, rng);
    mcct_flush(tree);
    mcct_flush(other);
    CHECK(tree_copy_take(&first, tree) && tree_copy_take(&second, other));
    add(&two, &one);
    three = one;
    go_on(&thread, &one, next, 4000, rng);
    expect(tree, &one, calls ? "calls" : "a stream");
    take_away(&one, &three);
    CHECK(tree_copy_take(&end, tree));
    CHECK(tree_delta(&end, &first, kind->certain));
    struct profile *profile = assemble_copy(&end);
    moment = calls ? "the difference of two moments of calls" : "the difference of two moments";
    expect_profile(profile, &one);
    profile_free(profile);
    tree_copy_free(&end);
    clear(&three);
    go_on(&there, &three, next, 1000, rng);
    add(&one, &three);
    CHECK(mcct_merge(tree, other));
    CHECK(tree_copy_take(&end, tree));
    CHECK(tree_delta(&end, &first, false) && tree_delta(&end, &second, false));
    profile = assemble_copy(&end);
    moment = "what came to two trees before they were added";
    expect_profile(profile, &one);
    profile_free(profile);
    tree_copy_free(&end);
    tree_copy_free(&first);
    tree_copy_free(&second);
    mcct_cursor_close(&thread.cursor);
    mcct_cursor_close(&there.cursor);
    mcct_free(tree);
    mcct_free(other);
}

/* Calls in batches, then a credit by itself, calls again, and a file. */
static void test_calls(const struct summary_kind *kind, program *next, struct rng *rng) {
    struct mcct *tree = make(kind, 0.005);
    struct thread thread;
    clear(&one);
    start(&thread, tree);
    for (int round = 0; round < 3; round++) {
        feed_calls(&thread, &one, next, 20000, rng);
        if (round != 1)
            expect_useful(tree, &one, "calls");
    }
    mcct_flush(tree);
    expect_useful(tree, &one, "calls that have ended");
    feed(&thread, &one, next, 100, rng);
    expect_useful(tree, &one, "weights that come one by one after calls");
    struct profile *part = part_of(tree), *back = shown_through_file(part);
    moment = "a file";
    expect_profile(back, &one);
    profile_free(part);
    profile_free(back);
    mcct_cursor_close(&thread.cursor);
    mcct_free(tree);
}

static void test_windows(const struct summary_kind *kind, program *next, bool calls,
                         struct rng *rng) {
    const struct subwindows_params params = {.tree = {.summary = kind, .epsilon = 0.01, .seed = 7},
                                             .n_counts = 1};
    struct subwindows *subwindows = subwindows_new(&params, 0);
    uint64_t counts[1] = {0};
    clear(&one);
    for (uint64_t subwindow = 0; subwindows != NULL && subwindow < 12; subwindow++) {
        struct subwindows_span window;
        struct thread thread;
        subwindows_advance(subwindows, subwindow * SUBWINDOWS_FINE_NS + 1);
        start(&thread, subwindows_tree(subwindows));
        clear(&three);
        (calls ? feed_calls : feed)(&thread, &three, next, 400, rng);
        if (subwindow >= 8) /* the last four sub-windows */
            add(&one, &three);
        mcct_cursor_close(&thread.cursor);
        if (subwindow < 11)
            continue;
        uint64_t now = subwindow * SUBWINDOWS_FINE_NS + 2;
        const struct subwindows_part last = subwindows_last(now, UINT64_C(3) * SUBWINDOWS_FINE_NS);
        CHECK(subwindows_take(subwindows, now, &last, &window, counts));
        struct mcct *tree = subwindows_merge(&window);
        expect_useful(tree, &one, calls ? "a window of calls" : "a window");
        mcct_free(tree);
    }
    subwindows_free(subwindows);
}

/* After it calls go on. */
static void expect_loaded(const char *path, const struct mcct_params *params, program *next,
                          const char *when, struct rng *rng) {
    struct process **list;
    struct thread thread;
    size_t n;
    CHECK(checkpoint_load(path, params, &list, &n) == NULL);
    CHECK_UINT(n, 1);
    if (n == 1) {
        expect_useful(list[0]->tree, &one, when);
        two = one;
        start(&thread, list[0]->tree);
        feed_calls(&thread, &two, next, 4000, rng);
        mcct_cursor_close(&thread.cursor);
        expect_useful(list[0]->tree, &two, when);
    }
    for (size_t i = 0; i < n; i++)
        process_free(list[i]);
    free(list);
}

/* Saved and loaded, by a daemon of the same settings and by one of others. */
static void test_checkpoint(const struct summary_kind *kind, const struct summary_kind *other,
                            program *next, bool calls, struct rng *rng) {
    char path[] = "/tmp/hcct-truth-XXXXXX";
    struct process like = {.pid = 41,
                           .exe = strdup("/bin/x"),
                           .sampling = {.every = 1},
                           .runs = 1,
                           .tree = make(kind, 0.01)};
    struct thread thread;
    int fd = mkstemp(path);
    CHECK(fd >= 0);
    close(fd);
    clear(&one);
    start(&thread, like.tree);
    (calls ? feed_calls : feed)(&thread, &one, next, 4000, rng);
    mcct_cursor_close(&thread.cursor);
    registry_add(process_new_finished(&like));
    CHECK(checkpoint_save(path));
    expect_loaded(path, &(struct mcct_params){.summary = kind, .epsilon = 0.01, .seed = 7}, next,
                  "after a checkpoint", rng);
    is_narrow = false;
    expect_loaded(path, &(struct mcct_params){.summary = other, .epsilon = 0.03, .seed = 7}, next,
                  "after a checkpoint, with another summary", rng);
    registry_clear();
    unlink(path);
}

int main(void) {
    struct rng rng = {test_seed()};
    CHECK(summary_kinds[KINDS]->name == NULL);
    contexts.context = calloc(CONTEXTS, sizeof *contexts.context);
    contexts.modules[0] = module_intern_path("/nowhere/x");
    contexts.modules[1] = module_intern_path("/nowhere/a.so");
    contexts.modules[2] = module_intern_path("/nowhere/b.so");
    for (size_t k = 0; summary_kinds[k]->name != NULL; k++)
        for (size_t i = 0; i < check_rounds(PROGRAMS); i++) {
            const struct summary_kind *kind = summary_kinds[k];
            const struct summary_kind *other = summary_kinds[(k + i + 1) % KINDS];
            program *next = programs[(k + i) % PROGRAMS];
            summary = kind->name;
            forget_contexts();
            is_narrow = kind->packs && next != deep && next != any;
            test_merge(kind, next, &rng);
            test_delta(kind, next, false, &rng);
            test_delta(kind, next, true, &rng);
            test_merged_calls(kind, next, &rng);
            test_windows(kind, next, false, &rng);
            test_windows(kind, next, true, &rng);
            test_calls(kind, next, &rng);
            test_checkpoint(kind, other, next, i % 2 == 0, &rng);
        }
    free(contexts.context);
    return check_report();
}
