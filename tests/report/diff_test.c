/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * diff_test.c - bounds against known trees, intervals against simulated sampling, names of frames.
 */
#include "tests/check.h"

#include <math.h>

#include "common/profile/diff.h"
#include "common/profile/tree_view.h"
#include "tests/report/forest.h"

static const struct forest_view whole = {.collector = "calls", .exe = "/opt/a/app"};

static bool make(struct diff *diff, struct profile *before, struct profile *after,
                 enum diff_mode mode) {
    const struct diff_options options = {.by = PROFILE_BY_FUNCTION, .mode = mode};
    char error[512] = "";
    bool made = diff_make(diff, before, after, &options, error, sizeof error);

    profile_free(before);
    profile_free(after);
    if (!made)
        fprintf(stderr, "%s\n", error);
    CHECK(made);
    return made;
}

/* ---- certain bounds ---- */

static bool holds(uint64_t truth, uint64_t count, uint64_t error, uint64_t more) {
    return count - error <= truth && truth <= count + more;
}

static void check_bounds(const struct diff *diff, const struct forest *before,
                         const struct forest *after) {
    uint64_t wrong = 0;
    for (uint32_t i = 1; i < diff->profile->n_nodes; i++) {
        uint32_t context = forest_context(diff->profile, i);
        const struct diff_weight *self = &diff->self[i], *all = &diff->inclusive[i];
        if (context == 0)
            continue;
        wrong +=
            !holds(before->weight[context], self->before, self->before_error, self->before_more);
        wrong += !holds(after->weight[context], self->after, self->after_error, self->after_more);
        wrong += !holds(forest_inclusive(before, context), all->before, all->before_error,
                        all->before_more);
        wrong +=
            !holds(forest_inclusive(after, context), all->after, all->after_error, all->after_more);
    }
    CHECK_UINT(wrong, 0);
}

static uint64_t count_inclusive_beyond(const struct diff *diff) {
    uint64_t beyond = 0;
    for (uint32_t i = 1; i < diff->profile->n_nodes; i++)
        beyond += diff->inclusive[i].beyond;
    return beyond;
}

/* Two views of one truth: whatever they forget, no context may be said to have changed. */
static void test_equal_truth(uint64_t *seed, unsigned pruned, unsigned missing) {
    const struct forest_view viewed = {
        .collector = "calls", .exe = "/opt/a/app", .pruned = pruned, .missing = missing};
    struct forest forest;
    struct diff diff;
    forest_grow(&forest, seed, 1000);
    if (!make(&diff, forest_profile(&forest, &viewed, seed), forest_profile(&forest, &viewed, seed),
              DIFF_AUTO))
        return;
    CHECK(diff.sampling == DIFF_EXACT && diff.mode == DIFF_ABSOLUTE);
    CHECK_UINT(diff.beyond, 0);
    CHECK_UINT(count_inclusive_beyond(&diff), 0);
    check_bounds(&diff, &forest, &forest);
    diff_free(&diff);
}

static void test_other_truth(uint64_t *seed, unsigned pruned, unsigned missing) {
    const struct forest_view viewed = {
        .collector = "calls", .exe = "/opt/a/app", .pruned = pruned, .missing = missing};
    struct forest before, after;
    struct diff diff;
    forest_grow(&before, seed, 1000);
    after = before;
    for (uint32_t i = 1; i < FOREST_CONTEXTS; i++)
        after.weight[i] =
            forest_random(seed, 4) == 0 ? forest_random(seed, 2000) : before.weight[i];
    if (!make(&diff, forest_profile(&before, &viewed, seed), forest_profile(&after, &viewed, seed),
              DIFF_ABSOLUTE))
        return;
    check_bounds(&diff, &before, &after);
    for (uint32_t i = 1; i < diff.profile->n_nodes; i++) {
        uint32_t context = forest_context(diff.profile, i);
        CHECK(!diff.self[i].beyond || before.weight[context] != after.weight[context]);
    }
    diff_free(&diff);
}

/* What is not kept has its function in a "[~]": no function is said to have changed. */
static void test_functions(uint64_t *seed) {
    const struct forest_view viewed = {.collector = "calls", .exe = "/opt/a/app", .missing = 60};
    struct forest forest;
    struct diff diff;
    uint32_t n;
    forest_grow(&forest, seed, 1000);
    if (!make(&diff, forest_profile(&forest, &whole, seed), forest_profile(&forest, &viewed, seed),
              DIFF_AUTO))
        return;
    struct diff_function *functions = diff_functions(&diff, &n);
    for (uint32_t i = 0; i < n; i++) {
        CHECK(holds(functions[i].self.before, functions[i].self.after, 0,
                    functions[i].self.after_more));
        CHECK(!functions[i].self.beyond && !functions[i].inclusive.beyond);
    }
    free(functions);
    diff_free(&diff);
}

/* Where all is known, one call more is a change. */
static void test_every_change(uint64_t *seed) {
    struct forest before, after;
    struct diff diff;
    uint64_t changed = 0;
    forest_grow(&before, seed, 1000);
    after = before;
    for (uint32_t i = 1; i < FOREST_CONTEXTS; i++)
        if (forest_random(seed, 4) == 0) {
            after.weight[i]++;
            changed++;
        }
    if (!make(&diff, forest_profile(&before, &whole, seed), forest_profile(&after, &whole, seed),
              DIFF_AUTO))
        return;
    CHECK_UINT(diff.beyond, changed);
    CHECK_UINT(diff.after_total - diff.before_total, changed);
    diff_free(&diff);
}

/* Three times the work has the same shares, up to rounding. */
static void test_shares(uint64_t *seed) {
    struct forest before, after;
    struct diff diff;
    forest_grow(&before, seed, 1000);
    after = before;
    for (uint32_t i = 1; i < FOREST_CONTEXTS; i++)
        before.weight[i] *= 3;
    if (!make(&diff, forest_profile(&before, &whole, seed), forest_profile(&after, &whole, seed),
              DIFF_SHARES))
        return;
    CHECK_UINT(diff.beyond, 0);
    CHECK(fabs(diff.scale - 1.0 / 3) < 1e-12);
    CHECK_UINT(diff.total.before, 3 * diff.total.after);
    diff_free(&diff);
}

/* ---- sampling ---- */

#define SAMPLES 4000
#define WEIGHT  1000000 /* ns of a walk */

struct sampled {
    unsigned samples, clump; /* walks, and how many in a row see the same context */
    bool tell_bursts;
    unsigned heavier; /* of context 1, in per cent */
    bool even;        /* all contexts weigh the same */
};

static uint32_t draw(const struct forest *forest, uint64_t total, uint64_t *seed) {
    uint64_t at = forest_random(seed, total);
    uint32_t context = 1;
    while (at >= forest->weight[context])
        at -= forest->weight[context++];
    return context;
}

/* What a profiler with walks sees of the forest. */
static struct profile *sample(const struct forest *truth, const struct sampled *how,
                              uint64_t *seed) {
    struct forest shares = *truth, seen = *truth;
    struct profile *profile;
    shares.weight[1] += shares.weight[1] * how->heavier / 100;
    memset(seen.weight, 0, sizeof seen.weight);
    for (unsigned i = 0; i < how->samples; i += how->clump)
        seen.weight[draw(&shares, forest_total(&shares), seed)] += (uint64_t)how->clump * WEIGHT;
    profile =
        forest_profile(&seen, &(struct forest_view){.collector = "walks", .exe = "/opt/app"}, seed);
    profile->type = profile_string(profile, "cpu");
    profile->unit = profile_string(profile, "nanoseconds");
    profile->processes[1].walks = how->samples;
    if (!how->tell_bursts) { /* of equal weights, whose sum is right but for one of them */
        profile->processes[1].drawn = profile->processes[1].drawn_squares = how->samples;
        profile->processes[1].varied_total = 1;
    }
    if (how->tell_bursts) {
        profile->processes[1].burst_period_ns = 1;
        profile->processes[1].bursts = how->samples / how->clump;
    } else { /* steps between samples cover the time: the total is right but for the last one */
        profile->processes[1].drawn = how->samples;
        profile->processes[1].varied_total = 1;
    }
    return profile;
}

/* Context 1 has about half, the others ever less. */
static void grow_shares(struct forest *forest, uint64_t *seed) {
    forest_grow(forest, seed, 100);
    for (uint32_t i = 1; i < FOREST_CONTEXTS; i++)
        forest->weight[i] = 1000000 / i;
    forest->weight[1] = 5000000;
}

static bool off(const struct diff_weight *w) {
    return fabs(diff_change(w)) > diff_allowed(w);
}

/* What is said of 50 pairs of the same truth. */
struct wolves {
    double off;      /* contexts that changed by more than their 95 % interval, in per cent */
    unsigned marked; /* pairs in which any was said to be beyond its error */
    unsigned total;  /* ... in which the total was */
};

static struct wolves wolves(const struct sampled *how, uint64_t seed) {
    struct wolves wolves = {.marked = 0};
    uint64_t compared = 0, beyond = 0;
    for (int pair = 0; pair < 50; pair++) {
        struct forest forest;
        struct diff diff;
        grow_shares(&forest, &seed);
        for (uint32_t i = 1; how->even && i < FOREST_CONTEXTS; i++)
            forest.weight[i] = 1;
        if (!make(&diff, sample(&forest, how, &seed), sample(&forest, how, &seed), DIFF_AUTO))
            return wolves;
        CHECK(diff.sampling == DIFF_SAMPLED);
        CHECK(how->tell_bursts ||
              diff.total.interval * how->samples < 4 * (double)diff.before_total);
        compared += diff.compared;
        for (uint32_t i = 1; i < diff.profile->n_nodes; i++)
            beyond += off(&diff.self[i]);
        wolves.marked += diff.beyond > 0;
        wolves.total += diff.total.beyond;
        diff_free(&diff);
    }
    wolves.off = 100.0 * (double)beyond / (double)compared;
    printf("%u samples: %.2f %% of %u, marks in %u pairs\n", how->samples, wolves.off,
           (unsigned)compared, wolves.marked);
    return wolves;
}

static void test_sampling(void) {
    const struct sampled walks = {.samples = SAMPLES, .clump = 1},
                         few = {.samples = 300, .clump = 1};
    const struct sampled bursts = {.samples = SAMPLES, .clump = 10, .tell_bursts = true};
    const struct sampled even = {.samples = 800, .clump = 1, .even = true};
    const struct sampled untold = {.samples = SAMPLES, .clump = 10};
    const struct sampled *const sent[] = {&walks, &few, &even, &bursts};

    for (uint64_t i = 0; i < 4; i++) {
        struct wolves seen = wolves(sent[i], i + 1);
        CHECK(seen.off <= 5);
        CHECK(seen.marked <= 8); /* one in 20 of 50, and luck */
    }
    CHECK(wolves(&walks, 1).off >= 1); /* intervals are not just wide */
    CHECK(wolves(&untold, 3).off > 5); /* so it matters that a burst is one sample */
}

/* Half of the program a tenth slower, seen well enough: the first of all contexts, nearly always.
 */
static void test_slower(void) {
    const struct sampled before = {.samples = 16000, .clump = 1};
    const struct sampled after = {.samples = 16800, .clump = 1, .heavier = 10};
    uint64_t seed = 5, first = 0, alone = 0, same = 0;
    for (int pair = 0; pair < 20; pair++) {
        struct forest forest;
        struct diff diff;
        uint32_t n, *contexts;
        grow_shares(&forest, &seed);
        if (!make(&diff, sample(&forest, &before, &seed), sample(&forest, &after, &seed),
                  DIFF_AUTO))
            return;
        CHECK(diff.mode == DIFF_ABSOLUTE);
        same += diff.why == DIFF_SAME_WORK; /* or samples are too few */
        contexts = diff_contexts(&diff, &n);
        alone += diff.beyond == 1;
        first += n > 0 && forest_context(diff.profile, contexts[0]) == 1 &&
                 diff.self[contexts[0]].beyond &&
                 diff.self[contexts[0]].after > diff.self[contexts[0]].before;
        free(contexts);
        diff_free(&diff);
    }
    CHECK(first >= 19);
    CHECK(same >= 18);
    CHECK(alone >= 18); /* the others did not become faster */
}

/* Four times the work, and one function slower: the others are as they were. */
static void test_more_work(void) {
    const struct sampled before = {.samples = 16000, .clump = 1};
    const struct sampled after = {.samples = 4 * 16800, .clump = 1, .heavier = 10};
    uint64_t seed = 6, alone = 0, rose = 0;
    for (int pair = 0; pair < 10; pair++) {
        struct forest forest;
        struct diff_rise rise;
        struct diff diff;
        grow_shares(&forest, &seed);
        if (!make(&diff, sample(&forest, &before, &seed), sample(&forest, &after, &seed),
                  DIFF_AUTO))
            return;
        CHECK(diff.mode == DIFF_SCALED && diff.why == DIFF_OTHER_WORK);
        CHECK(fabs(diff.scale - 4) < 0.25 && diff.total.beyond);
        alone += diff.beyond == 1;
        diff_find_rises(&diff, 0.02, false, &rise);
        CHECK(!rise.total); /* more work is no failure */
        rose += rise.n >= 1 && strcmp(rise.worst, "f1") == 0 && !rise.inclusive;
        diff_find_rises(&diff, 0.2, false, &rise);
        CHECK_UINT(rise.n, 0);
        diff_free(&diff);
    }
    CHECK(alone >= 8);
    CHECK(rose >= 8);
}

/* Few samples, of each of which one function has some dozens: each for itself could be as before,
 * but all of them together can't. In both orders. */
static void test_more_work_seen_badly(void) {
    const struct sampled less = {.samples = 500, .clump = 1},
                         more = {.samples = 900, .clump = 1, .heavier = 200};
    uint64_t seed = 8, right = 0, beyond = 0;
    for (int pair = 0; pair < 40; pair++) {
        const struct sampled *before = pair % 2 == 0 ? &less : &more;
        struct forest forest;
        struct diff diff;
        grow_shares(&forest, &seed);
        for (uint32_t i = 1; i < FOREST_CONTEXTS; i++)
            forest.weight[i] = i <= 10;
        if (!make(&diff, sample(&forest, before, &seed),
                  sample(&forest, before == &less ? &more : &less, &seed), DIFF_AUTO))
            return;
        right += diff.why == DIFF_OTHER_WORK;
        beyond += diff.beyond;
        diff_free(&diff);
    }
    printf("few samples: the same work was not done in %u of 40 pairs, %u changes\n",
           (unsigned)right, (unsigned)beyond);
    CHECK(right >= 39);
    CHECK(beyond <= 44); /* the slower one, in each */
}

/* ---- what was lost ---- */

/* One third of the samples has found no room: with `gone` all of them context 1's, which has half,
 * else of any context. It is counted, or only the process's clock tells. */
static struct profile *sample_with_loss(const struct forest *truth, unsigned samples, bool gone,
                                        bool counted, uint64_t *seed) {
    const struct sampled how = {.samples = samples - samples / 3, .clump = 1};
    struct forest rest = *truth;
    struct profile *profile;
    if (gone)
        rest.weight[1] -= forest_total(&rest) / 3;
    profile = sample(&rest, &how, seed);
    profile->processes[1].lost = counted ? samples / 3 : 0;
    profile->processes[1].lost_ns = counted ? (uint64_t)(samples / 3) * WEIGHT : 0;
    profile->type = profile_string(profile, "cpu");
    profile->processes[1].clock = profile_string(profile, "cpu");
    profile->processes[1].cpu_ns = (uint64_t)samples * WEIGHT;
    return profile;
}

/* The same program twice; before, a third was lost. It did not become 1.5 times as heavy, nor does
 * any function by itself, also where losses came down on one of them. */
static void test_lost(bool counted) {
    uint64_t seed = 11;
    for (int pair = 0; pair < 20; pair++) {
        const struct sampled whole_run = {.samples = 16000, .clump = 1};
        bool gone = pair % 2 != 0, swapped = pair % 4 >= 2;
        struct forest forest;
        struct diff_rise rise;
        struct diff diff;
        grow_shares(&forest, &seed);
        struct profile *lossy = sample_with_loss(&forest, whole_run.samples, gone, counted, &seed);
        struct profile *kept = sample(&forest, &whole_run, &seed);
        kept->type = profile_string(kept, "cpu");
        if (!make(&diff, swapped ? kept : lossy, swapped ? lossy : kept, DIFF_AUTO))
            return;
        const struct diff_side *side = &diff.side[swapped ? DIFF_AFTER : DIFF_BEFORE];
        CHECK(fabs((double)side->lost / WEIGHT - 16000 / 3) <= 1);
        CHECK(diff.why == DIFF_LOST);
        CHECK(gone || diff.mode == DIFF_ABSOLUTE);
        if (diff.mode == DIFF_ABSOLUTE)
            CHECK(fabs(diff.scale - (swapped ? 1 / 1.5 : 1.5)) < 0.01);
        CHECK(!diff.total.beyond);
        CHECK_UINT(diff.beyond, 0);
        diff_find_rises(&diff, 0, false, &rise);
        CHECK(rise.n == 0 && !rise.total);
        diff_free(&diff);
    }
}

/* Twice the total, and hardly anything lost: what is sure is still said. */
static void test_little_lost(void) {
    const struct sampled before = {.samples = 16000, .clump = 1};
    const struct sampled after = {.samples = 24000, .clump = 1, .heavier = 100};
    uint64_t seed = 12;
    struct forest forest;
    struct diff_rise rise;
    struct diff diff;
    grow_shares(&forest, &seed);
    struct profile *lossy = sample(&forest, &before, &seed);
    lossy->processes[1].lost = 160;
    lossy->processes[1].lost_ns = 160ull * WEIGHT;
    if (!make(&diff, lossy, sample(&forest, &after, &seed), DIFF_AUTO))
        return;
    CHECK(diff.why == DIFF_SAME_WORK && diff.mode == DIFF_ABSOLUTE);
    CHECK(fabs(diff.scale - 1.01) < 0.0001);
    CHECK_UINT(diff.total.before, 16160ull * WEIGHT);
    diff_find_rises(&diff, 0.3, false, &rise);
    CHECK(rise.n >= 1 && strcmp(rise.worst, "f1") == 0 && rise.total);
    /* all that was lost may have been f1's, and nothing of what was lost after */
    for (uint32_t i = 1; i < diff.profile->n_nodes; i++)
        if (forest_context(diff.profile, i) == 2) {
            uint64_t count = diff.self[i].before - diff.self[i].before_error;
            CHECK(diff.self[i].before + diff.self[i].before_more >= count + 160ull * WEIGHT);
        }
    diff_free(&diff);
}

/* ---- the same work? ---- */

/* Each function weighs so many times as much, seen by so many samples each time. */
static enum diff_why why_of_factor(double factor, unsigned samples, struct diff *diff) {
    struct forest before, after;
    uint64_t seed = 13;
    forest_grow(&before, &seed, 100);
    for (uint32_t i = 1; i < FOREST_CONTEXTS; i++)
        before.weight[i] = i <= 20 ? (uint64_t)(samples / 20) * WEIGHT : 0;
    after = before;
    for (uint32_t i = 1; i < FOREST_CONTEXTS; i++)
        after.weight[i] = (uint64_t)(factor * (double)before.weight[i]);
    struct profile *profile[DIFF_SIDES];
    for (int side = 0; side < DIFF_SIDES; side++) {
        profile[side] =
            forest_profile(side == DIFF_BEFORE ? &before : &after,
                           &(struct forest_view){.collector = "walks", .exe = "/opt/app"}, &seed);
        profile[side]->type = profile_string(profile[side], "cpu");
        profile[side]->processes[1].walks = samples;
        profile[side]->processes[1].drawn = samples;
        profile[side]->processes[1].drawn_squares = samples;
        profile[side]->processes[1].varied_total = 1;
    }
    return make(diff, profile[0], profile[1], DIFF_AUTO) ? diff->why : DIFF_ASKED;
}

static void test_common_factor(void) {
    static const struct {
        double factor;
        unsigned samples;
        enum diff_why why;
    } cases[] = {
        {1, 1000, DIFF_SAME_WORK},          {1.02, 100000, DIFF_SAME_WORK},
        {1.075, 2000, DIFF_MAYBE_SAME},     {1.075, 100000, DIFF_OTHER_WORK},
        {1 / 1.075, 2000, DIFF_MAYBE_SAME}, {2, 2000, DIFF_OTHER_WORK},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct diff diff;
        enum diff_why why = why_of_factor(cases[i].factor, cases[i].samples, &diff);
        if (why != cases[i].why)
            fprintf(stderr, "factor %g, %u samples: why %d\n", cases[i].factor, cases[i].samples,
                    (int)why);
        CHECK(why == cases[i].why);
        if (why == DIFF_MAYBE_SAME)
            CHECK(fabs(diff.common - cases[i].factor) < 0.02 && diff.mode == DIFF_ABSOLUTE);
        diff_free(&diff);
    }
}

/* One function has nearly all of the weight and is as before, eleven others weigh twice as much:
 * neither the one nor the eleven are "most". */
static void test_one_against_eleven(void) {
    struct forest before, after;
    uint64_t seed = 14;
    struct diff diff;
    forest_grow(&before, &seed, 100);
    for (uint32_t i = 1; i < FOREST_CONTEXTS; i++)
        before.weight[i] = i == 1 ? 950000 : i <= 12 ? 4500 : 0;
    after = before;
    for (uint32_t i = 2; i <= 12; i++)
        after.weight[i] = 2 * before.weight[i];
    struct profile *one = forest_profile(&before, &whole, &seed);
    struct profile *other = forest_profile(&after, &whole, &seed);
    one->type = other->type = "cpu"; /* what counts everything is not asked */
    one->processes[1].collector = other->processes[1].collector = "walks";
    if (!make(&diff, one, other, DIFF_AUTO))
        return;
    CHECK(diff.mode == DIFF_SHARES && diff.why == DIFF_NO_FACTOR);
    diff_free(&diff);
}

/* Nothing in common but the names. */
static void test_no_factor(uint64_t *seed) {
    struct forest before, after;
    struct sampled how = {.samples = 16000, .clump = 1};
    struct diff diff;
    forest_grow(&before, seed, 1000);
    after = before;
    for (uint32_t i = 1; i < FOREST_CONTEXTS; i++)
        after.weight[i] = before.weight[FOREST_CONTEXTS - i];
    if (!make(&diff, sample(&before, &how, seed), sample(&after, &how, seed), DIFF_AUTO))
        return;
    CHECK(diff.mode == DIFF_SHARES && diff.why == DIFF_NO_FACTOR);
    diff_free(&diff);
}

/* ---- names ---- */

struct frame {
    const char *module, *name;
};

static struct profile *stack_profile(const char *exe, const struct frame *frames, uint64_t weight,
                                     const char *collector) {
    struct profile *profile = profile_new();
    uint32_t node;
    profile->type = profile_string(profile, "calls");
    profile->unit = profile_string(profile, "count");
    profile_add_process(profile, &(struct profile_process){.exe = exe,
                                                           .command = profile_basename(exe),
                                                           .collector = collector,
                                                           .total = weight});
    node = profile_root(profile, 1);
    for (; frames->name != NULL; frames++) {
        struct profile_line line = {
            .function = profile_add_function(profile, frames->name, frames->name, "", 0)};
        struct profile_location location = {
            .module = *frames->module != '\0' ? profile_add_module(profile, frames->module, "") : 0,
            .address = (uintptr_t)exe % 4096 + 1, /* of another build each */
            .n_lines = 1,
            .lines = &line};
        node = profile_add_node(profile, node, profile_intern_location(profile, &location), 0, 0);
    }
    profile->nodes[node].count = weight;
    return profile;
}

static void test_builds(void) {
    static const struct frame old[] = {
        {"/old/app-1", "main"}, {"/lib/libz.so.1.2.11", "inflate"}, {NULL, NULL}};
    static const struct frame new[] = {
        {"/new/app-2", "main"}, {"/lib64/libz.so.1.3", "inflate"}, {NULL, NULL}};
    static const struct frame bare[] = {{"", "main"}, {"", "inflate"}, {NULL, NULL}};
    const struct frame *const afters[] = {new, bare};
    for (int i = 0; i < 2; i++) {
        struct diff diff;
        if (!make(&diff, stack_profile("/old/app-1", old, 5, "calls"),
                  stack_profile("/new/app-2", afters[i], 5, "calls"), DIFF_AUTO))
            return;
        CHECK_UINT(diff.compared, 1);
        CHECK_UINT(diff.beyond, 0);
        CHECK_STR(diff.side[DIFF_BEFORE].exe, "app-1");
        CHECK_STR(diff.side[DIFF_AFTER].exe, "app-2");
        diff_free(&diff);
    }
}

/* A function of the same name in another library is another. */
static void test_modules(void) {
    static const struct frame old[] = {{"/app", "main"}, {"/a.so", "init"}, {NULL, NULL}};
    static const struct frame new[] = {{"/app", "main"}, {"/b.so", "init"}, {NULL, NULL}};
    struct diff diff;
    if (!make(&diff, stack_profile("/app", old, 5, "calls"), stack_profile("/app", new, 5, "calls"),
              DIFF_AUTO))
        return;
    CHECK_UINT(diff.compared, 2);
    CHECK_UINT(diff.beyond, 2);
    diff_free(&diff);
}

static void test_recursion(void) {
    static const struct frame deep[] = {
        {"/app", "main"}, {"/app", "f"}, {"/app", "f"}, {"/app", "f"}, {NULL, NULL}};
    struct diff diff;
    uint32_t n;
    if (!make(&diff, stack_profile("/app", deep, 5, "calls"),
              stack_profile("/app", deep, 8, "calls"), DIFF_AUTO))
        return;
    struct diff_function *functions = diff_functions(&diff, &n);
    CHECK_UINT(n, 2);
    CHECK_UINT(functions[0].self.after, 8);
    CHECK_UINT(functions[0].inclusive.before, 5);
    CHECK_UINT(functions[0].inclusive.after, 8);
    CHECK(functions[0].self.beyond && functions[0].inclusive.beyond);
    free(functions);
    diff_free(&diff);
}

/* Other tools' profiles may not say how often they sampled. */
static void test_unknown(void) {
    static const struct frame stack[] = {{"/app", "main"}, {NULL, NULL}};
    struct profile *before = stack_profile("/app", stack, 5, ""),
                   *after = stack_profile("/app", stack, 8, "");
    struct diff diff;
    before->type = after->type = "alloc_space";
    if (!make(&diff, before, after, DIFF_ABSOLUTE))
        return;
    CHECK(diff.sampling == DIFF_UNKNOWN);
    CHECK_UINT(diff.beyond, 1);
    diff_free(&diff);
}

static void test_refused(void) {
    static const struct frame stack[] = {{"/app", "main"}, {NULL, NULL}};
    const struct diff_options options = {.by = PROFILE_BY_FUNCTION};
    struct profile *a = stack_profile("/app", stack, 5, "calls"),
                   *b = stack_profile("/app", stack, 0, "calls");
    struct diff diff;
    char error[512];
    CHECK(!diff_make(&diff, a, b, &options, error, sizeof error));
    CHECK_STR(error, "the profile after is empty: it has no weight");
    b->unit = profile_string(b, "bytes");
    CHECK(!diff_make(&diff, a, b, &options, error, sizeof error));
    CHECK_STR(error, "one profile counts calls in count, the other calls in bytes: these can't be "
                     "compared");
    profile_free(a);
    profile_free(b);
}

int main(void) {
    uint64_t seed = 20;
    for (unsigned i = 0; i < 60; i++) {
        test_equal_truth(&seed, i % 4 * 25, i / 4 % 4 * 20 > 75 - i % 4 * 25 ? 0 : i / 4 % 4 * 20);
        test_other_truth(&seed, i % 3 * 20, i / 3 % 3 * 15);
    }
    test_functions(&seed);
    test_every_change(&seed);
    test_shares(&seed);
    test_sampling();
    test_slower();
    test_more_work();
    test_more_work_seen_badly();
    test_no_factor(&seed);
    test_common_factor();
    test_one_against_eleven();
    test_lost(true);
    test_lost(false);
    test_little_lost();
    test_builds();
    test_modules();
    test_recursion();
    test_unknown();
    test_refused();
    return check_report();
}
