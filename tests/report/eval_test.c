/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * eval_test.c - the measures of accuracy, on profiles small enough to compute them by hand.
 */
#include "tests/check.h"

#include <math.h>

#include "common/profile/eval.h"
#include "tests/report/sample.h"

#define CHECK_REAL(got, want)                                                                      \
    do {                                                                                           \
        double g_ = (got), w_ = (want);                                                            \
        check_done++;                                                                              \
        if (!(fabs(g_ - w_) < 1e-9)) {                                                             \
            check_failed++;                                                                        \
            fprintf(stderr, "%s:%d: %s is %.12g, not %.12g\n", __FILE__, __LINE__, #got, g_, w_);  \
        }                                                                                          \
    } while (0)

/* A stack is functions with '/' between, outermost first; "f:2" is call site 2 of f, and the last
 * one, without a site, the function as a whole. */
struct weight {
    const char *stack;
    uint64_t count, error;
};

struct maker {
    const char *path, *build_id, *exe, *collector;
    const char *type, *unit;
    double phi, epsilon;
    bool named;       /* functions have names; otherwise only addresses */
    bool named_sites; /* call sites say which function they are in */
};

static const struct maker calls = {.path = "/opt/a/app",
                                   .build_id = "c0ffee",
                                   .exe = "/opt/a/app",
                                   .collector = "calls",
                                   .type = "calls",
                                   .unit = "count",
                                   .phi = 0.1,
                                   .epsilon = 0.02,
                                   .named = true};

/* A function's entry: 0x1000 times a number that only depends on its name. */
static uint64_t entry_of(const char *name, size_t length) {
    uint64_t number = 7;
    for (size_t i = 0; i < length; i++)
        number = (number * 31 + (unsigned char)name[i]) % 1000003;
    return number * 0x1000;
}

static uint32_t make_location(struct profile *profile, const struct maker *maker, const char *frame,
                              size_t length) {
    const char *colon = memchr(frame, ':', length);
    size_t name_length = colon != NULL ? (size_t)(colon - frame) : length;
    char name[64];
    struct profile_line line = {0};
    uint32_t location;
    snprintf(name, sizeof name, "%.*s", (int)name_length, frame);
    if (name[0] == '[')
        return profile_add_pseudo(profile, name);
    struct profile_location place = {
        .module = profile_add_module(profile, maker->path, maker->build_id),
        .address = entry_of(name, name_length) + (colon != NULL ? strtoul(colon + 1, NULL, 10) : 0),
        .routine = colon != NULL && maker->named_sites ? entry_of(name, name_length) : 0,
        .is_entry = colon == NULL};
    location = profile_intern_location(profile, &place);
    line.function = profile_add_function(profile, name, name, "", 0);
    if (maker->named)
        profile_set_lines(profile, location, &line, 1);
    return location;
}

static void add_weight(struct profile *profile, const struct maker *maker, uint32_t process,
                       const struct weight *weight) {
    uint32_t node = profile_root(profile, process);
    const char *frame = weight->stack;
    while (*frame != '\0') {
        size_t length = strcspn(frame, "/");
        node = profile_add_node(profile, node, make_location(profile, maker, frame, length), 0, 0);
        frame += length + (frame[length] == '/');
    }
    profile->nodes[node].count += weight->count;
    profile->nodes[node].error += weight->error;
    profile->nodes[node].counter_error += weight->error;
    profile->processes[process].total += weight->count;
}

static uint32_t add_process(struct profile *profile, const struct maker *maker) {
    struct profile_process process = {.exe = maker->exe, .command = "", .runs = 1};
    process.collector = maker->collector;
    return profile_add_process(profile, &process);
}

/* `weights` ends with one without a stack. */
static struct profile *make(const struct maker *maker, const struct weight *weights) {
    struct profile *profile = profile_new();
    uint32_t process = add_process(profile, maker);
    profile->type = profile_string(profile, maker->type);
    profile->unit = profile_string(profile, maker->unit);
    profile->phi = maker->phi;
    profile->epsilon = maker->epsilon;
    for (; weights->stack != NULL; weights++)
        add_weight(profile, maker, process, weights);
    return profile;
}

/* N = 1000 */
static const struct weight exact_weights[] = {
    {"main", 1, 0},           {"main:1/f", 99, 0},  {"main:1/f:1/g", 500, 0},
    {"main:1/f:2/g", 200, 0}, {"main:2/h", 150, 0}, {"main:2/h:1/g", 40, 0},
    {"main:3/k", 10, 0},      {NULL, 0, 0},
};

/* N = 1000. With phi = 0.1, f is hot in here only, h in the exact one only; z is not in that. The
 * exact count of h is outside of its bounds. */
static const struct weight approx_weights[] = {
    {"main:1/f", 90, 20}, {"main:1/f:1/g", 500, 10}, {"main:1/f:2/g", 200, 0},
    {"main:2/h", 90, 0},  {"main:4/z", 0, 50},       {"[~]", 120, 0},
    {NULL, 0, 0},
};

/* Compares and gives both profiles back; false: `error` has 256 bytes with the sentence. */
static bool compare(struct eval *eval, struct profile *exact, struct profile *approx,
                    const struct eval_options *options, char *error) {
    bool ok = eval_compare(eval, exact, approx, options, error, 256);
    if (!ok)
        *eval = (struct eval){0};
    return ok;
}

static void test_measures(void) {
    struct profile *exact = make(&calls, exact_weights), *approx = make(&calls, approx_weights);
    struct eval_options options = {.tau = {0.01, 0.3, 0.4, 1}, .n_taus = 4};
    struct eval eval;
    char error[256], *path;
    exact->processes[1].contexts = 400, exact->processes[1].bytes = 64000;
    approx->processes[1].contexts = 20, approx->processes[1].bytes = 6400;
    approx->processes[1].monitored = 10;
    CHECK(compare(&eval, exact, approx, &options, error));
    CHECK(eval.join.by == PROFILE_BY_SITE);
    CHECK(!eval.scaled);
    CHECK(!eval.exact_is_sample);
    CHECK_REAL(eval.phi, 0.1); /* of the approximate one: hot is 100 and more */

    /* The tree is f, f:1/g, f:2/g, and main above them: 99 + 500 + 200 + 1 of 1000. */
    CHECK_REAL(eval.overlap, 0.8);
    /* f 0.099, g 0.5, g 0.2, h 0.09 */
    CHECK_REAL(eval.overlap_shares, 0.889);
    /* 0.01 * 500 = 5: all but main; h, its g and k are not in the tree */
    CHECK_UINT(eval.coverage[0].hot, 6);
    CHECK_UINT(eval.coverage[0].covered, 3);
    /* 150: h is just hot */
    CHECK_UINT(eval.coverage[1].hot, 3);
    CHECK_UINT(eval.coverage[1].covered, 2);
    CHECK_UINT(eval.coverage[2].hot, 2);
    CHECK_UINT(eval.coverage[2].covered, 2);
    CHECK_UINT(eval.coverage[3].hot, 1);
    CHECK_UINT(eval.n_coverage, 4);
    /* h 150, its g 40, k 10, of 500 */
    CHECK_UINT(eval.uncovered, 3);
    CHECK_REAL(eval.uncovered_max, 0.3);
    CHECK_REAL(eval.uncovered_average, 200.0 / 3 / 500);
    path = eval_path(&eval.join, eval.uncovered_hottest);
    CHECK_STR(path, "main > h");
    free(path);
    /* hot: g, g, h; reported: f, g, g */
    CHECK_UINT(eval.hot, 3);
    CHECK_UINT(eval.reported, 3);
    CHECK_UINT(eval.false_positives, 1);
    CHECK_UINT(eval.false_negatives, 1);
    CHECK_UINT(eval.missed_hottest, eval.uncovered_hottest);
    /* 10 of 500, 0 of 200, 60 of 150 */
    CHECK_UINT(eval.hot_error.contexts, 3);
    CHECK_REAL(eval.hot_error.max, 0.4);
    CHECK_REAL(eval.hot_error.average, 0.42 / 3);
    /* and 11 of 99 */
    CHECK_UINT(eval.error.contexts, 4);
    CHECK_UINT(eval.error.unknown, 1);
    CHECK_REAL(eval.error.max, 0.4);
    CHECK_REAL(eval.error.average, (0.42 + 1.0 / 9) / 4);
    CHECK_UINT(eval.out_of_bounds, 1);
    /* main is cold, f a false positive; the HCCT has h as well, and f for the sake of g */
    CHECK_UINT(eval.tree, 4);
    CHECK_UINT(eval.tree_hot, 2);
    CHECK_UINT(eval.tree_false, 1);
    CHECK_UINT(eval.tree_cold, 1);
    CHECK_UINT(eval.hcct, 5);
    CHECK_UINT(eval.cct, 7);
    CHECK_UINT(eval.join.side[EVAL_APPROX].contexts, 20);
    CHECK_UINT(eval.join.side[EVAL_APPROX].monitored, 10);
    CHECK_UINT(eval.join.side[EVAL_EXACT].bytes, 64000);
    CHECK_UINT(eval.join.side[EVAL_APPROX].pruned, 120);
    eval_free(&eval);
    profile_free(exact);
    profile_free(approx);
}

/* At phi = 0.3 only the hottest context is hot, on both sides. */
static void test_phi(void) {
    struct profile *exact = make(&calls, exact_weights), *approx = make(&calls, approx_weights);
    struct eval_options options = {.phi = 0.3};
    struct eval eval;
    char error[256];
    CHECK(compare(&eval, exact, approx, &options, error));
    CHECK_UINT(eval.hot, 1);
    CHECK_UINT(eval.false_positives + eval.false_negatives, 0);
    CHECK_REAL(eval.overlap, 0.6); /* main 1, f 99, g 500 */
    CHECK_UINT(eval.tree, 3);
    CHECK_UINT(eval.tree_cold, 2);
    CHECK_REAL(eval.hot_error.max, 0.02);
    CHECK_UINT(eval.n_coverage, 7);
    eval_free(&eval);
    profile_free(exact);
    profile_free(approx);
}

/* One call in ten was seen. */
static void test_scale(void) {
    static const struct weight tenth[] = {
        {"main:1/f", 12, 0}, {"main:1/f:1/g", 48, 0}, {"main:1/f:2/g", 22, 0}, {"main:2/h", 18, 0},
        {NULL, 0, 0},
    };
    struct profile *exact = make(&calls, exact_weights), *approx = make(&calls, tenth);
    struct eval_options options = {0};
    struct eval eval;
    char error[256];

    CHECK(compare(&eval, exact, approx, &options, error));
    CHECK(eval.scaled);
    CHECK_REAL(eval.scale, 10);
    CHECK_UINT(eval.reported, 4); /* 10 and more, of 100 */
    CHECK_UINT(eval.false_positives, 1);
    CHECK_UINT(eval.false_negatives, 0);
    /* 480 for 500, 220 for 200, 180 for 150 */
    CHECK_REAL(eval.hot_error.max, 0.2);
    CHECK_REAL(eval.hot_error.average, 0.34 / 3);
    /* 0.099 + 0.48 + 0.2 + 0.15 */
    CHECK_REAL(eval.overlap_shares, 0.929);
    eval_free(&eval);

    options.no_scale = true;
    CHECK(compare(&eval, exact, approx, &options, error));
    CHECK(!eval.scaled);
    CHECK_REAL(eval.hot_error.max, 0.904); /* 48 for 500 */
    CHECK_UINT(eval.out_of_bounds, 4);
    eval_free(&eval);

    /* within epsilon N, totals are as good as equal */
    options.no_scale = false;
    approx->processes[1].total = 981;
    CHECK(compare(&eval, exact, approx, &options, error));
    CHECK(!eval.scaled);
    eval_free(&eval);
    approx->processes[1].total = 979;
    CHECK(compare(&eval, exact, approx, &options, error));
    CHECK(eval.scaled);
    eval_free(&eval);
    profile_free(exact);
    profile_free(approx);
}

/* The same build elsewhere is the same program; another build is it by function only. */
static void test_modules(void) {
    struct maker elsewhere = calls, rebuilt = calls, unnamed = calls;
    struct eval_options options = {0};
    struct profile *exact = make(&calls, exact_weights), *approx;
    struct eval eval;
    char error[256];
    elsewhere.path = elsewhere.exe = "/home/x/app.new";
    approx = make(&elsewhere, exact_weights);
    CHECK(compare(&eval, exact, approx, &options, error));
    CHECK_REAL(eval.overlap_shares, 1);
    eval_free(&eval);
    profile_free(approx);

    rebuilt.build_id = "decaf";
    approx = make(&rebuilt, exact_weights);
    CHECK(!compare(&eval, exact, approx, &options, error));
    CHECK(strstr(error, "no context in common") != NULL);
    CHECK(strstr(error, "--by function") != NULL);
    options.by = EVAL_BY_FUNCTION;
    CHECK(compare(&eval, exact, approx, &options, error));
    CHECK_REAL(eval.overlap_shares, 1);
    CHECK_UINT(eval.cct, 6); /* both call sites of g in f are one */
    eval_free(&eval);
    profile_free(approx);
    profile_free(exact);

    /* without symbols, a call site is in the routine that begins before it */
    unnamed.named = false;
    exact = make(&unnamed, exact_weights), approx = make(&unnamed, approx_weights);
    options.by = EVAL_BY_SITE;
    CHECK(compare(&eval, exact, approx, &options, error));
    CHECK_REAL(eval.overlap, 0.8);
    CHECK_UINT(eval.cct, 7);
    eval_free(&eval);
    profile_free(exact);
    profile_free(approx);
}

/* Functions without names that only call others: a place in them tells which one it is in. */
static void test_call_sites_named(void) {
    static const struct weight weights[] = {
        {"main:1/f:1/g", 500, 0}, {"main:1/k:1/g", 300, 0}, {"main:1/h:1/g", 200, 0}, {NULL, 0, 0}};
    static const struct weight first[] = {{"main:1/f:1/g", 500, 0}, {NULL, 0, 0}};
    struct maker named_sites = calls;
    struct eval_options options = {.by = EVAL_BY_SITE, .no_scale = true};
    struct eval eval;
    char error[256];
    named_sites.named = false, named_sites.named_sites = true;
    struct profile *exact = make(&named_sites, weights), *approx = make(&named_sites, first);
    CHECK(compare(&eval, exact, approx, &options, error));
    CHECK_UINT(eval.cct, 7); /* main, and f, k and h, each with g */
    CHECK_UINT(eval.tree, 3);
    CHECK_UINT(eval.hot, 3);
    CHECK_UINT(eval.false_negatives, 2);
    eval_free(&eval);
    options.by = EVAL_BY_FUNCTION;
    CHECK(compare(&eval, exact, approx, &options, error));
    CHECK_UINT(eval.cct, 7);
    eval_free(&eval);
    profile_free(exact);
    profile_free(approx);
}

/* Calls begin at main, walks outside of it; and these show functions that report nothing. */
static void test_walks_against_calls(void) {
    static const struct weight walked[] = {
        {"_start:1/libc_start:1/main:1/f", 6, 0},
        {"_start:1/libc_start:1/main:1/qsort:1/f", 4, 0}, /* main > f */
        {"_start:1/libc_start:1/main:1/f:3/g", 50, 0},
        {"_start:1/libc_start:1/main:1/f:3/g:1/memcpy", 20, 0}, /* main > f > g */
        {"_start:1/libc_start:1/main:2/h:1/main:1/f", 15, 0},   /* only the outer main begins */
        {"_start:1/dl_start", 5, 0},
        {NULL, 0, 0},
    };
    struct maker walks = calls;
    struct eval_options options = {.phi = 0.1};
    struct profile *exact, *approx;
    struct eval eval;
    char error[256], *path;

    walks.collector = "walks", walks.type = "cpu", walks.unit = "nanoseconds";
    exact = make(&calls, exact_weights), approx = make(&walks, walked);
    CHECK(compare(&eval, exact, approx, &options, error));
    CHECK(eval.join.by == PROFILE_BY_FUNCTION);
    CHECK(eval.join.outer_skipped);
    CHECK_REAL(eval.scale, 10); /* 1000 calls, 100 ns */
    /* main > f and main > f > g are common: 0.099 and 0.7 of both */
    CHECK_REAL(eval.overlap_shares, 0.799);
    CHECK_UINT(eval.false_positives, 2); /* main > f, and main > h > main > f */
    CHECK_UINT(eval.false_negatives, 1); /* h */
    path = eval_path(&eval.join, eval.hot_error.worst);
    CHECK_STR(path, "main > f > g");
    free(path);
    CHECK_UINT(eval.hot_error.contexts, 1);
    eval_free(&eval);

    options.no_scale = true;
    CHECK(!compare(&eval, exact, approx, &options, error));
    CHECK_STR(error, "the exact profile counts calls in count, the approximate one cpu in "
                     "nanoseconds: they can't be compared without scaling");

    /* the same the other way round */
    options.no_scale = false;
    approx->phi = 0.1, exact->epsilon = 0;
    CHECK(compare(&eval, approx, exact, &options, error));
    CHECK(eval.join.outer_skipped);
    CHECK(eval.exact_is_sample);
    CHECK_REAL(eval.overlap_shares, 0.799);
    eval_free(&eval);
    profile_free(exact);
    profile_free(approx);
}

static void test_processes(void) {
    static const struct weight other[] = {{"main:7/q", 30, 0}, {NULL, 0, 0}};
    struct maker shell = calls;
    struct eval_options options = {0};
    struct profile *exact = make(&calls, exact_weights), *approx = make(&calls, exact_weights);
    struct eval eval;
    char error[256];
    shell.exe = "/bin/sh";
    add_weight(exact, &shell, add_process(exact, &shell), other);
    CHECK(compare(&eval, exact, approx, &options, error));
    CHECK_UINT(eval.join.side[EVAL_EXACT].total, 1000); /* without the shell */
    CHECK_STR(eval.join.side[EVAL_EXACT].exe, "app");
    eval_free(&eval);

    /* two runs of one executable are one */
    add_weight(exact, &calls, add_process(exact, &calls), other);
    CHECK(compare(&eval, exact, approx, &options, error));
    CHECK_UINT(eval.join.side[EVAL_EXACT].total, 1030);
    CHECK_UINT(eval.join.side[EVAL_EXACT].n_exes, 1);
    eval_free(&eval);

    add_weight(approx, &shell, add_process(approx, &shell), other);
    CHECK(compare(&eval, exact, approx, &options, error));
    CHECK_UINT(eval.join.side[EVAL_EXACT].n_exes, 2);
    CHECK_STR(eval.join.side[EVAL_EXACT].exe, "app"); /* the heaviest */
    CHECK_UINT(eval.join.side[EVAL_APPROX].total, 1030);
    eval_free(&eval);

    options.exe = "/bin/sh";
    CHECK(compare(&eval, exact, approx, &options, error));
    CHECK_UINT(eval.join.side[EVAL_EXACT].total, 30);
    CHECK_REAL(eval.overlap, 1);
    eval_free(&eval);
    options.exe = "cc1";
    CHECK(!compare(&eval, exact, approx, &options, error));
    CHECK_STR(error, "the exact profile has no executable cc1; it has app, sh");
    profile_free(approx);

    shell.exe = "/usr/bin/perl";
    options.exe = NULL;
    approx = make(&shell, exact_weights);
    CHECK(!compare(&eval, exact, approx, &options, error));
    CHECK_STR(error, "the profiles have no executable in common: the exact one has app, sh, the "
                     "approximate one perl; each must be of one executable, or have one of the "
                     "other's");
    profile_free(exact);
    profile_free(approx);
}

static void test_what_can_not_be(void) {
    static const struct weight nothing[] = {{NULL, 0, 0}};
    struct eval_options options = {0};
    struct profile *exact = make(&calls, exact_weights), *approx = make(&calls, approx_weights);
    struct profile *empty = make(&calls, nothing), *none = profile_new();
    struct eval eval;
    char error[256];
    approx->epsilon = 0.1;
    CHECK(!compare(&eval, exact, approx, &options, error));
    CHECK(strstr(error, "phi = 0.1 must be above the approximate profile's epsilon = 0.1") != NULL);
    approx->summary = "exact"; /* has no error, whatever its epsilon */
    CHECK(compare(&eval, exact, approx, &options, error));
    CHECK_REAL(eval.epsilon, 0);
    eval_free(&eval);
    approx->summary = "";
    approx->epsilon = 0.02;

    options.phi = 0.05; /* the approximate profile was pruned at 0.1 */
    CHECK(!compare(&eval, exact, approx, &options, error));
    CHECK(strstr(error, "the approximate profile leaves out what is below phi = 0.1") != NULL);
    options.phi = 0;

    CHECK(!compare(&eval, empty, approx, &options, error));
    CHECK_STR(error, "the exact profile is empty: it has no weight");
    CHECK(!compare(&eval, exact, none, &options, error));
    CHECK_STR(error, "the approximate profile is empty: it has no weight");
    profile_free(exact);
    profile_free(approx);
    profile_free(empty);
    profile_free(none);
}

/* A profile held against itself is perfect, whatever is in it. */
static void check_itself(struct profile *profile, enum eval_by by) {
    struct eval_options options = {.phi = 1e-12, .by = by};
    struct eval eval;
    char error[256];
    double known;
    profile->phi = profile->epsilon = 0;
    for (uint32_t i = 1; i < profile->n_processes; i++)
        profile->processes[i].total = 0; /* what its nodes weigh */
    for (uint32_t i = 1; i < profile->n_nodes; i++)
        profile->nodes[i].error = profile->nodes[i].counter_error = 0;
    CHECK(compare(&eval, profile, profile, &options, error));
    known = 1 - (double)eval.join.side[EVAL_EXACT].pruned / (double)profile_total(profile);
    CHECK_REAL(eval.overlap, known);
    CHECK_REAL(eval.overlap_shares, known);
    for (unsigned k = 0; k < eval.n_coverage; k++) {
        CHECK(eval.coverage[k].hot > 0);
        CHECK_UINT(eval.coverage[k].covered, eval.coverage[k].hot);
    }
    CHECK_UINT(eval.uncovered, 0);
    CHECK(eval.hot > 0);
    CHECK_UINT(eval.false_positives + eval.false_negatives, 0);
    CHECK_REAL(eval.error.max, 0);
    CHECK_UINT(eval.error.contexts, eval.hot);
    CHECK_UINT(eval.error.unknown + eval.out_of_bounds, 0);
    CHECK_UINT(eval.tree, eval.hcct);
    CHECK_UINT(eval.tree_false, 0);
    CHECK(!eval.scaled);
    eval_free(&eval);
}

/* The n hottest contexts of a profile: nothing false, no error, and what is missing is missing. */
static void check_part(struct profile *profile, uint32_t n) {
    struct eval_options options = {.phi = 1e-12, .by = EVAL_BY_SITE};
    struct profile *part;
    struct eval eval;
    char error[256];
    profile->phi = profile->epsilon = 0;
    part = profile_keep(profile, n);
    CHECK(compare(&eval, profile, part, &options, error));
    CHECK_UINT(eval.false_positives, 0);
    CHECK_UINT(eval.false_negatives + eval.reported, eval.hot);
    CHECK(eval.reported >= 1);
    CHECK_UINT(eval.coverage[eval.n_coverage - 1].covered, eval.coverage[eval.n_coverage - 1].hot);
    CHECK_REAL(eval.error.max, 0);
    CHECK(eval.overlap_shares > 0); /* callers are in the tree, without a counter */
    CHECK(eval.overlap_shares <= eval.overlap + 1e-9);
    eval_free(&eval);
    profile_free(part);
}

static void test_properties(void) {
    struct profile *(*const make_sample[])(void) = {sample_shell, sample_build, sample_names,
                                                    sample_stripped};
    for (size_t i = 0; i < sizeof make_sample / sizeof make_sample[0]; i++) {
        struct profile *profile = make_sample[i]();
        check_itself(profile, EVAL_BY_SITE);
        check_itself(profile, EVAL_BY_FUNCTION);
        for (uint32_t n = 1; n < 30; n += 4)
            check_part(profile, n);
        profile_free(profile);
    }
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct profile *profile = sample_random(seed);
        if (profile_total(profile) > 0) {
            check_itself(profile, EVAL_BY_SITE);
            check_itself(profile, EVAL_BY_FUNCTION);
        }
        profile_free(profile);
    }
}

int main(void) {
    test_measures();
    test_phi();
    test_scale();
    test_modules();
    test_call_sites_named();
    test_walks_against_calls();
    test_processes();
    test_what_can_not_be();
    test_properties();
    return check_report();
}
