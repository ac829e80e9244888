/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * subwindows_test.c - windows over random streams whose hot contexts change, against the exact
 * weights of just that time: threads that come and go, idle hours, short memory, windows that are
 * held while time goes on, and sub-windows of several processes added.
 */
#include "common/tree/subwindows.h"

#include "common/tree/summary.h"
#include "tests/check.h"
#include "tests/tree/world.h"

#define SECOND  1000000000ull
#define THREADS 5

/* ---- the oracle: all that ever happened ---- */

struct event {
    uint64_t time, weight;
    uint32_t context;
};

struct history {
    struct event *event;
    size_t n, room;
};

static void remember(struct history *history, struct event event) {
    if (history->n == history->room) {
        history->room = 2 * history->room + 1024;
        history->event = realloc(history->event, history->room * sizeof *history->event);
        if (history->event == NULL)
            abort();
    }
    history->event[history->n++] = event;
}

/* The world's weights become those of [begin, end]. Returns how many events that were. */
static size_t weigh(struct world *world, const struct history *history, uint64_t begin,
                    uint64_t end) {
    size_t n = 0;
    world_forget(world);
    for (size_t i = 0; i < history->n; i++) {
        const struct event *e = &history->event[i];
        if (e->time < begin || e->time > end)
            continue;
        world->weight[e->context] += e->weight;
        world->total += e->weight;
        n++;
    }
    return n;
}

/* ---- a process: sub-windows, and threads that have a cursor in a tree and one in the current
 * sub-window ----
 */

struct thread {
    struct walker whole, subwindow;
};

struct process {
    const struct world *world;
    struct mcct *tree;
    struct subwindows *subwindows;
    struct thread thread[THREADS];
    uint64_t since, now;
};

static void begin(struct process *p, const struct world *world, const struct mcct_params *params,
                  uint64_t now) {
    const struct subwindows_params subwindows = {.tree = *params, .n_counts = 1};
    *p = (struct process){.world = world, .since = now, .now = now};
    p->tree = mcct_new(params);
    p->subwindows = subwindows_new(&subwindows, now);
    if (p->tree == NULL || p->subwindows == NULL)
        abort();
    for (int i = 0; i < THREADS; i++)
        walker_open(&p->thread[i].whole, p->tree);
}

static void end(struct process *p) {
    mcct_free(p->tree);
    subwindows_free(p->subwindows);
}

static void turn(struct process *p, uint64_t now) {
    p->now = now;
    subwindows_advance(p->subwindows, now);
}

static void credit(struct process *p, struct thread *thread, uint32_t context, uint64_t weight,
                   struct history *history) {
    struct mcct *subwindow = subwindows_tree(p->subwindows);
    if (subwindow != NULL && thread->subwindow.cursor.tree == NULL) {
        mcct_cursor_open_at(subwindow, &thread->subwindow.cursor, &thread->whole.cursor);
        thread->subwindow.at = thread->whole.at;
        CHECK_UINT(mcct_depth(&thread->subwindow.cursor), mcct_depth(&thread->whole.cursor));
    }
    walker_go(p->world, &thread->whole, context);
    mcct_credit(&thread->whole.cursor, weight);
    if (subwindow != NULL) {
        walker_go(p->world, &thread->subwindow, context);
        mcct_credit(&thread->subwindow.cursor, weight);
    } else {
        subwindows_miss(p->subwindows);
    }
    CHECK(subwindows_count(p->subwindows, &(const uint64_t){1}));
    remember(history, (struct event){p->now, weight, context});
}

/* What is hot moves on every seven seconds. */
static void work(struct process *p, unsigned events, struct history *history, struct rng *rng) {
    for (unsigned i = 0; i < events; i++) {
        uint64_t top = UINT64_C(1) << rng_below(rng, 12), phase = p->now / (7 * SECOND);
        uint32_t context = (uint32_t)((top + rng_below(rng, top) + 977 * phase) * 40503u);
        credit(p, &p->thread[rng_below(rng, THREADS)], context % p->world->n,
               1 + rng_below(rng, 1u << 22), history);
    }
}

/* ---- a window against the truth ---- */

/* The documented border, found anew. */
static uint64_t expected_begin(const struct process *p, uint64_t span) {
    uint64_t width = span <= 60 * SECOND ? 2 * SECOND : 60 * SECOND;
    uint64_t from = p->now > span ? p->now - span : 0;
    from -= from % width;
    return from > p->since ? from : p->since;
}

static unsigned strict, lenient;

/* Where not even a path found memory, its weight is with an ancestor, and only the total is known
 * (mcct_stats.capped). */
static void expect_right(struct world *world, const struct mcct *tree) {
    struct verdict v = world_check(world, tree, NULL, 0);
    CHECK_UINT(v.stats.total, world->total);
    lenient += v.stats.capped > 0;
    strict += v.stats.capped == 0;
    if (v.stats.capped > 0)
        return;
    if (v.wrong != NULL)
        fprintf(stderr, "a window: not so: %s\n", v.wrong);
    CHECK(v.wrong == NULL);
    CHECK_UINT(v.above, 0);
}

static void expect_window(struct world *world, struct process *p, uint64_t span,
                          const struct history *history, bool whole) {
    struct subwindows_span window;
    uint64_t count = 0;
    const struct subwindows_part last = subwindows_last(p->now, span);
    CHECK(subwindows_take(p->subwindows, p->now, &last, &window, &count));
    uint64_t from = p->now - window.span_ns;
    CHECK(whole ? from == expected_begin(p, span) : from >= expected_begin(p, span));
    struct mcct *tree = subwindows_merge(&window);
    CHECK_UINT(count, weigh(world, history, from, p->now));
    expect_right(world, tree);
    mcct_free(tree);
}

/* Whatever sub-windows it is made of, the sum is what was credited between its ends. */
static void expect_range(struct world *world, struct process *p, uint64_t from, uint64_t to,
                         const struct history *history) {
    struct subwindows_span window;
    uint64_t count = 0;
    const struct subwindows_part part = {.from_ns = from, .to_ns = to};
    CHECK(subwindows_take(p->subwindows, p->now, &part, &window, &count));
    CHECK(window.end_ns >= (to < p->now ? to : p->now));
    CHECK(window.end_ns < (to < p->now ? to : p->now) + SUBWINDOWS_COARSE_NS);
    struct mcct *tree = subwindows_merge(&window);
    CHECK_UINT(count, weigh(world, history, window.end_ns - window.span_ns, window.end_ns));
    expect_right(world, tree);
    mcct_free(tree);
}

/* All that is kept but a range: nothing of it twice, and nothing lost but at most a part of the
 * minute in which the sub-windows of two seconds begin. */
static void expect_rest(struct process *p, uint64_t from, uint64_t to, bool whole) {
    struct subwindows_part part = {.from_ns = from, .to_ns = to};
    const struct subwindows_part all = {.from_ns = 0, .to_ns = UINT64_MAX};
    struct subwindows_span window;
    uint64_t of_part = 0, of_rest = 0, of_all = 0;
    CHECK(subwindows_take(p->subwindows, p->now, &all, &window, &of_all));
    uint64_t span = window.span_ns;
    mcct_free(subwindows_merge(&window));
    CHECK(subwindows_take(p->subwindows, p->now, &part, &window, &of_part));
    uint64_t of_spans = window.span_ns;
    mcct_free(subwindows_merge(&window));
    part.rest = true;
    CHECK(subwindows_take(p->subwindows, p->now, &part, &window, &of_rest));
    of_spans += window.span_ns;
    mcct_free(subwindows_merge(&window));
    CHECK(of_part + of_rest <= of_all);
    CHECK(of_spans <= span);
    CHECK(!whole || of_spans + SUBWINDOWS_COARSE_NS > span);
    if (whole && p->now - from > SUBWINDOWS_SPAN_FINE_NS) { /* from a minute border on */
        CHECK_UINT(of_part + of_rest, of_all);
        CHECK_UINT(of_spans, span);
    }
}

static void expect_some_range(struct world *world, struct process *p, const struct history *history,
                              bool whole, struct rng *rng) {
    uint64_t span = rng_below(rng, 2) ? SUBWINDOWS_SPAN_FINE_NS : SUBWINDOWS_SPAN_MAX_NS;
    uint64_t ago = rng_below(rng, span), length = 1 + rng_below(rng, ago + 1);
    if (ago >= p->now)
        return;
    expect_range(world, p, p->now - ago, p->now - ago + length, history);
    expect_rest(p, p->now - ago, p->now - ago + length, whole);
}

static uint64_t some_span(struct rng *rng) {
    static const uint64_t spans[] = {1, 2, 10, 59, 60, 61, 300, 3599, 3600};
    return rng_below(rng, 3) ? spans[rng_below(rng, 9)] * SECOND
                             : 1 + rng_below(rng, SUBWINDOWS_SPAN_MAX_NS);
}

/* Mostly some hundredths of a second, and now and then a pause. */
static uint64_t some_pause(struct rng *rng) {
    switch (rng_below(rng, 60)) {
    case 0:
        return rng_below(rng, 10 * SECOND);
    case 1:
        return rng_below(rng, 200 * SECOND);
    case 2:
        return rng_below(rng, 20) == 0 ? rng_below(rng, 2 * SUBWINDOWS_SPAN_MAX_NS) : 60 * SECOND;
    default:
        return rng_below(rng, SECOND / 2);
    }
}

/* ---- tests ---- */

static void test_stream(struct world *world, const struct mcct_params *params, unsigned steps,
                        struct rng *rng) {
    struct history history = {0};
    struct process p;
    begin(&p, world, params, rng_below(rng, 1000 * SECOND));
    for (unsigned i = check_rounds(steps); i > 0; i--) {
        turn(&p, p.now + some_pause(rng));
        if (rng_below(rng, 4) != 0)
            work(&p, (unsigned)rng_below(rng, 40), &history, rng);
        if (rng_below(rng, 30) == 0)
            expect_window(world, &p, some_span(rng), &history, true);
        if (rng_below(rng, 30) == 0)
            expect_some_range(world, &p, &history, params->max_bytes == 0, rng);
        CHECK(params->max_bytes == 0 || subwindows_bytes(p.subwindows) <= params->max_bytes);
    }
    expect_window(world, &p, SUBWINDOWS_SPAN_MAX_NS, &history, true);
    turn(&p, p.now + 2 * SUBWINDOWS_SPAN_MAX_NS); /* but for threads that stand somewhere */
    CHECK(subwindows_empty(p.subwindows));
    expect_window(world, &p, SUBWINDOWS_SPAN_MAX_NS, &history, true);
    end(&p);
    free(history.event);
}

/* A window is what it was when it was taken, whatever comes until it is summed up. */
static void test_held(struct world *world, const struct mcct_params *params, struct rng *rng) {
    struct history history = {0};
    struct process p;
    begin(&p, world, params, 0);
    for (unsigned i = check_rounds(20); i > 0; i--) {
        struct subwindows_span held[2];
        uint64_t taken_at = p.now, count = 0;
        const struct subwindows_part half = subwindows_last(p.now, 30 * SECOND);
        const struct subwindows_part many = subwindows_last(p.now, 600 * SECOND);
        CHECK(subwindows_take(p.subwindows, p.now, &half, &held[0], &count));
        CHECK(subwindows_take(p.subwindows, p.now, &many, &held[1], &count));
        size_t n = history.n;
        for (unsigned k = 0; k < 100; k++) {
            work(&p, 20, &history, rng); /* in the sub-window of that time, to begin with */
            turn(&p, p.now + rng_below(rng, 3 * SECOND));
        }
        const struct history then = {history.event, n, n};
        for (unsigned w = 0; w < 2; w++) {
            struct mcct *tree = subwindows_merge(&held[w]);
            weigh(world, &then, taken_at - held[w].span_ns, taken_at);
            expect_right(world, tree);
            mcct_free(tree);
        }
    }
    end(&p);
    free(history.event);
}

/* As finished processes are folded. */
static void test_add(struct world *world, const struct mcct_params *params, struct rng *rng) {
    struct history history = {0};
    struct process sum;
    begin(&sum, world, params, 50 * SECOND);
    for (unsigned i = check_rounds(40); i > 0; i--) {
        struct process p;
        begin(&p, world, params, sum.now);
        for (unsigned k = 0; k < 20; k++) {
            turn(&p, p.now + some_pause(rng) / 8);
            work(&p, 30, &history, rng);
        }
        turn(&sum, p.now);
        for (unsigned t = 0; t < THREADS; t++)
            if (p.thread[t].subwindow.cursor.tree != NULL)
                mcct_cursor_close(&p.thread[t].subwindow.cursor);
        subwindows_add(sum.subwindows, p.subwindows);
        end(&p);
        expect_window(world, &sum, some_span(rng), &history, true);
    }
    end(&sum);
    free(history.event);
}

/* More trees than the program may have: windows get shorter, and stay right, also of one that comes
 * when all others have their part. */
static void test_many(struct world *world, struct rng *rng) {
    enum { PROCESSES = 600, LATE_S = 130, SECONDS = 150 };
    const struct mcct_params params = {.epsilon = 0.01, .max_bytes = 8u << 20};
    static struct process p[PROCESSES + 1];
    static struct history history[PROCESSES + 1];
    unsigned n = PROCESSES;
    for (unsigned i = 0; i < n; i++)
        begin(&p[i], world, &params, 0);
    for (uint64_t now = 0; now < SECONDS * SECOND; now += 2 * SECOND) {
        if (now == LATE_S * SECOND)
            begin(&p[n++], world, &params, now);
        for (unsigned i = 0; i < n; i++) {
            turn(&p[i], now);
            work(&p[i], 1, &history[i], rng);
        }
    }
    CHECK_UINT(n, PROCESSES + 1);
    for (unsigned i = 0; i < n; i++) {
        struct subwindows_span window;
        bool late = i == PROCESSES;
        expect_window(world, &p[i], 60 * SECOND, &history[i], late);
        const struct subwindows_part minute = subwindows_last(p[i].now, 60 * SECOND);
        CHECK(subwindows_take(p[i].subwindows, p[i].now, &minute, &window, &(uint64_t){0}));
        CHECK(late || (window.span_ns < 60 * SECOND && window.span_ns >= 40 * SECOND));
        mcct_free(subwindows_merge(&window));
    }
    for (unsigned i = 0; i < n; i++) {
        end(&p[i]);
        free(history[i].event);
    }
}

int main(void) {
    struct rng rng = {test_seed()};
    static const uint32_t capacities[] = {50, 1000};
    for (int shape = 0; shape < WORLD_SHAPES; shape++) {
        struct world world;
        world_make(&world, (enum world_shape)shape, 3000, &rng);
        for (size_t k = 0; summary_kinds[k]->name != NULL; k++) {
            if (!summary_kinds[k]->certain)
                continue;
            for (unsigned c = 0; c < 2; c++) {
                struct mcct_params params = {.summary = summary_kinds[k],
                                             .epsilon = 1.0 / capacities[c]};
                test_stream(&world, &params, 800, &rng);
                test_held(&world, &params, &rng);
                test_add(&world, &params, &rng);
                CHECK_UINT(lenient, 0);
                params.max_bytes = SUBWINDOWS_TREES * (c == 0 ? 20u : 60u) * 1024;
                strict = 0;
                test_stream(&world, &params, 800, &rng);
                printf("%s: short memory: %u windows checked strictly, %u by their total\n",
                       summary_kinds[k]->name, strict, lenient);
                lenient = 0;
            }
        }
        world_free(&world);
    }
    struct world world;
    world_make(&world, WORLD_BUSHY, 500, &rng);
    test_many(&world, &rng);
    world_free(&world);
    return check_report();
}
