/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * batch_test.c - calls that go into a tree by batches, against the same calls one by one: the exact
 * trees are equal, and every summary's bounds hold; whoever looks at a tree sees what waits in a
 * batch.
 */
#include "tests/check.h"

#include "common/tree/batch.h"
#include "common/tree/summary.h"
#include "common/tree/tree.h"
#include "tests/tree/nodes.h"
#include "tests/tree/world.h"

/* ---- two trees, one moved by batches ---- */

struct twins {
    struct mcct *plain, *batched;
    struct mcct_cursor one, other; /* `other` goes by batches */
    struct mcct_batch *batch;      /* NULL: none is open */
    struct mcct_batch_level *level;
    uint64_t batches;
};

static struct mcct *make(const struct summary_kind *kind, double epsilon, size_t max_bytes) {
    struct mcct *tree = mcct_new(&(struct mcct_params){
        .summary = kind, .epsilon = epsilon, .max_bytes = max_bytes, .seed = 7});
    if (tree == NULL)
        abort();
    return tree;
}

static void twins_open(struct twins *t, const struct summary_kind *kind, double epsilon,
                       size_t max_bytes) {
    *t = (struct twins){.plain = make(&summary_exact, 0.5, 0),
                        .batched = make(kind, epsilon, max_bytes)};
    mcct_cursor_open(t->plain, &t->one);
    mcct_cursor_open(t->batched, &t->other);
}

static void begin(struct twins *t) {
    if (t->batch == NULL)
        t->batch = mcct_batch_go_on(&t->other, &t->level);
    if (t->batch == NULL) {
        t->batch = mcct_batch_begin(&t->other, &t->level);
        t->batches += t->batch != NULL;
    }
}

static void end(struct twins *t) {
    mcct_batch_end(t->batch, t->level);
    t->batch = NULL;
    CHECK_UINT(mcct_depth(&t->other), mcct_depth(&t->one));
}

static void wait(struct twins *t) {
    mcct_batch_wait(t->batch, t->level);
    t->batch = NULL;
}

static void twins_close(struct twins *t) {
    end(t);
    mcct_cursor_close(&t->one);
    mcct_cursor_close(&t->other);
    mcct_free(t->plain);
    mcct_free(t->batched);
}

static void call(struct twins *t, uint32_t frame) {
    mcct_call(&t->one, frame);
    begin(t);
    if (t->batch != NULL)
        t->level = mcct_batch_call(t->batch, t->level, frame);
    else
        mcct_call(&t->other, frame);
}

static void push_and_credit(struct twins *t, uint32_t frame) {
    mcct_push(&t->one, frame);
    mcct_credit(&t->one, 1);
    begin(t);
    if (t->batch != NULL) {
        t->level = mcct_batch_push(t->batch, t->level, frame);
        t->level = mcct_batch_credit(t->batch, t->level);
    } else {
        mcct_call(&t->other, frame);
    }
}

static void pop(struct twins *t, uint64_t n) {
    uint64_t left, expected = mcct_pop(&t->one, n);
    begin(t);
    if (t->batch != NULL)
        t->level = mcct_batch_pop(t->batch, t->level, n, &left);
    else
        left = mcct_pop(&t->other, n);
    CHECK_UINT(left, expected);
}

/* Calls that come together, of up to STEPS, and pushes. */
#define STEPS 300

static void call_many(struct twins *t, struct rng *rng, uint32_t frames, uint32_t n) {
    struct mcct_batch_step step[STEPS];
    uint64_t depth = mcct_depth(&t->one), left;
    size_t made = n;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t pops = rng_below(rng, 4) == 0 ? rng_below(rng, 1 + depth) : rng_below(rng, 3);
        pops = pops < depth ? pops : depth;
        pops = pops < UINT16_MAX ? pops : UINT16_MAX;
        step[i] = (struct mcct_batch_step){.pops = (uint16_t)pops,
                                           .times = rng_below(rng, 4) != 0,
                                           .frame = (uint32_t)rng_below(rng, frames)};
        depth += 1 - pops;
        mcct_pop(&t->one, pops);
        mcct_push(&t->one, step[i].frame);
        if (step[i].times > 0)
            mcct_credit(&t->one, 1);
    }
    begin(t);
    if (t->batch != NULL)
        t->level = mcct_batch_steps(t->batch, t->level, step, &made);
    for (uint32_t i = 0; i < n && t->batch == NULL; i++) {
        left = mcct_pop(&t->other, step[i].pops);
        CHECK_UINT(left, step[i].pops);
        mcct_push(&t->other, step[i].frame);
        if (step[i].times > 0)
            mcct_credit(&t->other, 1);
    }
    CHECK_UINT(made, n);
}

/* ---- checks ---- */

struct follower {
    const struct mcct *tree; /* whose node on the same context is wanted */
    uint32_t node[1 << 17];  /* by level; 0: it has none */
    uint32_t level_of[1 << 17];
    uint64_t unseen, wrong, differ;
};

/* Nodes come in preorder: the parent's level is known. */
static bool compare(void *arg, uint32_t node, const struct mcct_view *view) {
    struct follower *f = arg;
    uint32_t level = node == MCCT_ROOT ? 0 : f->level_of[view->parent] + 1;
    uint32_t up = level == 0 ? 0 : f->node[level - 1];
    uint32_t twin = level == 0 ? MCCT_ROOT : up != 0 ? node_child(f->tree, up, view->frame) : 0;
    struct mcct_view other = {0};
    f->level_of[node] = level;
    f->node[level] = twin;
    if (twin != 0)
        node_view(f->tree, twin, &other);
    f->differ += twin == 0 || other.count != view->count || other.monitored != view->monitored;
    f->wrong += other.monitored
                    ? view->count > other.count || view->count < other.count - other.error
                    : view->count > f->unseen;
    return true;
}

static struct follower follower;

/* Every context of the exact tree against the other. */
static void check_all(struct twins *t, const struct summary_kind *kind) {
    struct mcct_stats plain, batched;
    end(t);
    mcct_stats(t->plain, &plain);
    mcct_stats(t->batched, &batched);
    if (plain.nodes >= 1 << 17)
        abort();
    follower = (struct follower){.tree = t->batched, .unseen = batched.unseen};
    CHECK(mcct_walk(t->plain, compare, &follower));
    CHECK_UINT(batched.total, plain.total);
    CHECK_UINT(batched.updates, plain.updates);
    if (kind == &summary_exact) {
        CHECK_UINT(follower.differ, 0);
        CHECK_UINT(batched.nodes, plain.nodes);
    }
    if (kind->certain)
        CHECK_UINT(follower.wrong, 0);
    if (kind->bounded)
        CHECK(batched.monitored <= batched.capacity);
    CHECK(batched.capped == 0);
}

/* ---- streams ---- */

struct shape {
    const char *name;
    uint32_t frames, depth; /* to choose from; about which the stack moves */
    uint64_t calls;
    uint32_t end_every; /* calls: then the batch ends; 0: never */
    bool waits;         /* at any time */
};

static const struct shape shapes[] = {
    {"few contexts, called more often than an item can count", 2, 3, 800000, 0, false},
    {"more contexts than a batch holds", 5, 8, 300000, 0, false},
    {"the same, in short batches", 5, 8, 100000, 97, false},
    {"the same, a few calls at a time", 5, 8, 200000, 20011, true},
    {"deeper than is known at first", 1, 3000, 100000, 5000, true},
    {"wide", 3000, 2, 100000, 0, true},
};

static void run(const struct shape *shape, const struct summary_kind *kind, struct rng *rng) {
    struct twins t;
    twins_open(&t, kind, 1e-3, 0);
    for (uint64_t i = 0; i < shape->calls; i++) {
        uint32_t frame = (uint32_t)rng_below(rng, shape->frames);
        if (rng_below(rng, 8) == 0)
            push_and_credit(&t, frame);
        else
            call(&t, frame);
        while (rng_below(rng, 2 * shape->depth) < mcct_depth(&t.one))
            pop(&t, 1 + rng_below(rng, 1 + rng_below(rng, shape->depth)));
        if (rng_below(rng, shape->frames < 100 ? 200 : 1000) == 0)
            call_many(&t, rng, shape->frames, 1 + (uint32_t)rng_below(rng, STEPS));
        if (shape->end_every != 0 && i % shape->end_every == 0)
            end(&t);
        if (shape->waits && rng_below(rng, 100) == 0)
            wait(&t);
    }
    CHECK(t.batches > 0);
    check_all(&t, kind);
    pop(&t, mcct_depth(&t.one) + 5); /* further than the root */
    check_all(&t, kind);
    twins_close(&t);
}

/* What calls count changes from batch to batch: within a word of a run, beyond it, and beyond what
 * a run can have at all. */
static void test_each(const struct summary_kind *kind, struct rng *rng) {
    static const uint64_t each[] = {1, 10, 3, 70000, 400, 1000000};
    struct twins t;
    twins_open(&t, kind, 1e-3, 0);
    for (uint64_t i = 0; i < 200000; i++) {
        if (i % 5000 == 0) {
            if (rng_below(rng, 2) == 0)
                wait(&t);
            else
                end(&t);
            mcct_count_as(&t.one, each[i / 5000 % (sizeof each / sizeof *each)]);
            mcct_count_as(&t.other, each[i / 5000 % (sizeof each / sizeof *each)]);
        }
        if (rng_below(rng, 100) == 0)
            push_and_credit(&t, (uint32_t)rng_below(rng, 9));
        else
            call(&t, (uint32_t)rng_below(rng, 3));
        while (rng_below(rng, 12) < mcct_depth(&t.one))
            pop(&t, 1 + rng_below(rng, 6));
    }
    check_all(&t, kind);
    twins_close(&t);
}

/* A stack deeper than a batch has items, there and back. */
static void test_recursion(const struct summary_kind *kind) {
    struct twins t;
    twins_open(&t, kind, 1e-3, 0);
    for (uint32_t i = 0; i < 50000; i++)
        call(&t, 1 + i % 3);
    check_all(&t, kind);
    for (uint32_t i = 0; i < 45000; i++)
        pop(&t, 1);
    for (uint32_t i = 0; i < 100; i++)
        call(&t, 9);
    check_all(&t, kind);
    twins_close(&t);
}

/* Frames may be any number. */
static void test_frames(void) {
    static const uint32_t frames[] = {0, 1, 0xffff, 0x10000, 0xfffffffe, 0xffffffff};
    struct twins t;
    twins_open(&t, &summary_exact, 0.5, 0);
    for (uint32_t i = 0; i < 6 * 6 * 6; i++) {
        call(&t, frames[i % 6]);
        call(&t, frames[i / 6 % 6]);
        call(&t, frames[i / 36]);
        pop(&t, 1 + i % 3);
    }
    check_all(&t, &summary_exact);
    twins_close(&t);
}

/* Other threads' cursors stay where they are, and their nodes with them. */
static void test_other_cursors(struct rng *rng) {
    struct twins t;
    struct mcct_cursor resting[20];
    twins_open(&t, &summary_space_saving, 1.0 / 50, 0);
    for (uint32_t i = 0; i < 20; i++) {
        mcct_cursor_open(t.batched, &resting[i]);
        for (uint32_t level = 0; level <= i; level++)
            mcct_push(&resting[i], (uint32_t)rng_below(rng, 4));
    }
    for (uint32_t i = 0; i < 50000; i++) {
        call(&t, (uint32_t)rng_below(rng, 4));
        if (rng_below(rng, 30) < mcct_depth(&t.one))
            pop(&t, rng_below(rng, 8));
        if (i % 1000 == 0)
            end(&t);
    }
    check_all(&t, &summary_space_saving);
    for (uint32_t i = 0; i < 20; i++) {
        CHECK_UINT(mcct_depth(&resting[i]), i + 1);
        mcct_credit(&resting[i], 1);
        mcct_cursor_close(&resting[i]);
    }
    twins_close(&t);
}

/* Where memory is short, no weight is lost, the cap holds, and the calls still lead somewhere. */
static void test_cap(const struct summary_kind *kind, size_t max_bytes, struct rng *rng) {
    struct twins t;
    struct mcct_stats plain, batched;
    twins_open(&t, kind, 1e-5, max_bytes);
    for (uint32_t i = 0; i < 300000; i++) {
        call(&t, (uint32_t)rng_below(rng, 1 + i % 50));
        if (rng_below(rng, 40) < mcct_depth(&t.one))
            pop(&t, rng_below(rng, 30));
        if (i % 30000 == 0)
            end(&t);
    }
    end(&t);
    mcct_stats(t.plain, &plain);
    mcct_stats(t.batched, &batched);
    CHECK_UINT(batched.total, plain.total);
    CHECK_UINT(batched.updates, plain.updates);
    CHECK(batched.bytes <= max_bytes);
    twins_close(&t);
}

/* ---- batches that wait ---- */

static bool add_count(void *arg, uint32_t node, const struct mcct_view *view) {
    (void)node;
    *(uint64_t *)arg += view->count;
    return true;
}

/* What each of these sees of calls that wait in a batch is all. */
static void look(struct twins *t, unsigned how) {
    struct mcct_stats plain, batched;
    uint64_t sum = 0;
    mcct_stats(t->plain, &plain);
    switch (how) {
    case 0:
        mcct_flush(t->batched);
        break;
    case 1:
        CHECK(mcct_walk(t->batched, add_count, &sum));
        CHECK_UINT(sum, plain.total);
        break;
    case 2:
        CHECK_UINT(mcct_depth(&t->other), mcct_depth(&t->one));
        break;
    case 3:
        mcct_pop(&t->other, mcct_pop(&t->one, 1 + how));
        break;
    }
    mcct_stats(t->batched, &batched);
    CHECK_UINT(batched.total, plain.total);
    CHECK_UINT(batched.updates, plain.updates);
    CHECK_UINT(batched.nodes, plain.nodes);
    CHECK_UINT(mcct_depth(&t->other), mcct_depth(&t->one));
}

static void test_looks(struct rng *rng) {
    struct twins t;
    twins_open(&t, &summary_exact, 0.5, 0);
    for (uint32_t i = 0; i < 400; i++) {
        for (uint32_t j = rng_below(rng, 200); j > 0; j--) {
            call(&t, (uint32_t)rng_below(rng, 4));
            if (rng_below(rng, 30) < mcct_depth(&t.one))
                pop(&t, rng_below(rng, 8));
        }
        wait(&t);
        look(&t, i % 5);
    }
    call(&t, 3);
    wait(&t);
    CHECK_UINT(t.batched->waiting != NULL, 1);
    twins_close(&t);
}

/* Another thread's calls and walks of the same tree come between, and the thread ends while its
 * batch waits: nothing is lost, and a merge into another tree has it all. */
static void test_waiting_ends(const struct summary_kind *kind, struct rng *rng) {
    struct twins t;
    struct mcct_cursor other;
    struct mcct_stats stats;
    struct mcct *sum = make(kind, 1e-3, 0);
    twins_open(&t, kind, 1e-3, 0);
    mcct_cursor_open(t.batched, &other);
    for (uint32_t i = 0; i < 20000; i++) {
        call(&t, (uint32_t)rng_below(rng, 5));
        if (rng_below(rng, 16) < mcct_depth(&t.one))
            pop(&t, 1 + rng_below(rng, 8));
        if (rng_below(rng, 50) == 0)
            wait(&t);
        if (t.batch != NULL)
            continue;
        mcct_call(&other, 6);
        mcct_credit(&other, 7);
        mcct_pop(&other, 1);
    }
    wait(&t);
    CHECK(mcct_merge(sum, t.batched));
    mcct_stats(t.batched, &stats);
    uint64_t total = stats.total;
    CHECK(total > 20000 + 8);
    mcct_stats(sum, &stats);
    CHECK_UINT(stats.total, total);
    call(&t, 1);
    wait(&t);
    mcct_cursor_close(&t.other);
    mcct_stats(t.batched, &stats);
    CHECK_UINT(stats.total, total + 1);
    mcct_cursor_close(&other);
    mcct_cursor_close(&t.one);
    mcct_free(t.plain);
    mcct_free(t.batched);
    mcct_free(sum);
}

/* Half of all batches may wait: the next one ends instead. A tree that goes gives its own back. */
static void test_waiting_bound(void) {
    struct twins t[BATCHES_WAIT + 1];
    for (unsigned i = 0; i <= BATCHES_WAIT; i++) {
        twins_open(&t[i], &summary_exact, 0.5, 0);
        call(&t[i], 1);
        wait(&t[i]);
        CHECK_UINT(t[i].batched->waiting != NULL, i < BATCHES_WAIT);
        CHECK(mcct_batch_bytes() <= (BATCHES_WAIT + 1) * sizeof(struct mcct_batch));
    }
    mcct_free(t[0].batched);
    t[0].batched = NULL;
    call(&t[BATCHES_WAIT], 1);
    wait(&t[BATCHES_WAIT]);
    CHECK(t[BATCHES_WAIT].batched->waiting != NULL);
    mcct_batch_wait_no_more(&t[BATCHES_WAIT].other);
    CHECK(t[BATCHES_WAIT].batched->waiting == NULL);
    mcct_batch_wait_no_more(&t[BATCHES_WAIT].other);
    mcct_cursor_close(&t[0].one);
    mcct_free(t[0].plain);
    for (unsigned i = 1; i <= BATCHES_WAIT; i++)
        twins_close(&t[i]);
    CHECK_UINT(mcct_batch_bytes(), sizeof(struct mcct_batch));
}

/* There are so many at once, however many threads' calls come; what they take is told. */
static void test_many(void) {
    struct twins t[BATCHES_MAX + 1];
    for (unsigned i = 0; i <= BATCHES_MAX; i++) {
        twins_open(&t[i], &summary_exact, 0.5, 0);
        begin(&t[i]);
        CHECK((t[i].batch != NULL) == (i < BATCHES_MAX));
    }
    CHECK_UINT(mcct_batch_bytes(), BATCHES_MAX * sizeof(struct mcct_batch));
    end(&t[0]); /* makes room */
    begin(&t[BATCHES_MAX]);
    CHECK(t[BATCHES_MAX].batch != NULL);
    for (unsigned i = 0; i <= BATCHES_MAX; i++)
        twins_close(&t[i]);
    CHECK_UINT(mcct_batch_bytes(), sizeof(struct mcct_batch));
}

int main(void) {
    struct rng rng = {test_seed()};
    for (size_t k = 0; summary_kinds[k]->name != NULL; k++) {
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
            run(&shapes[s], summary_kinds[k], &rng);
        test_each(summary_kinds[k], &rng);
        test_recursion(summary_kinds[k]);
        test_waiting_ends(summary_kinds[k], &rng);
        test_cap(summary_kinds[k], 100 << 10, &rng);
        test_cap(summary_kinds[k], 1 << 20, &rng);
        test_cap(summary_kinds[k], 2 << 20, &rng);
    }
    test_frames();
    test_other_cursors(&rng);
    test_looks(&rng);
    test_waiting_bound();
    test_many();
    return check_report();
}
