/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * annotate_test.c - what the lines of a function add up to is what a report says of the function.
 */
#include "tests/check.h"

#include <stdlib.h>

#include "common/profile/annotate.h"
#include "common/profile/tree_view.h"
#include "common/render/results.h"
#include "tests/report/sample.h"

/* ---- a program whose sums are known ---- */

static uint32_t add_place(struct profile *p, uint64_t address, bool is_entry, const char *inner,
                          uint32_t inner_line, const char *outer, uint32_t outer_line) {
    struct profile_line lines[2] = {{.line = inner_line}, {.line = outer_line}};
    uint32_t location =
        profile_add_location(p, profile_add_module(p, "/bin/app", ""), address, is_entry);
    lines[0].function = profile_add_function(p, inner, inner, "/src/app.c", 1);
    if (outer != NULL)
        lines[1].function = profile_add_function(p, outer, outer, "/src/app.c", 1);
    profile_set_lines(p, location, lines, outer != NULL ? 2 : 1);
    return location;
}

/* main:5 calls f(int):11; f has g inlined at 12, calls h at 13, and itself at 13. h is a leaf. */
static struct profile *make_profile(void) {
    const struct profile_process process = {.exe = "/bin/app", .command = "app"};
    struct profile *p = profile_new();
    uint32_t root = profile_root(p, profile_add_process(p, &process));
    uint32_t in_main = add_place(p, 1, false, "main", 5, NULL, 0);
    uint32_t in_f = add_place(p, 2, false, "f(int)", 13, NULL, 0);
    uint32_t in_g = add_place(p, 3, false, "g", 21, "f(int)", 12);
    uint32_t in_h = add_place(p, 4, true, "h", 30, NULL, 0);
    uint32_t top = profile_add_node(p, root, in_main, 1, 0);
    uint32_t f = profile_add_node(p, top, in_f, 10, 0);
    uint32_t again = profile_add_node(p, f, in_f, 100, 0);
    profile_add_node(p, top, in_g, 1000, 0);
    profile_add_node(p, f, in_h, 10000, 0);
    profile_add_node(p, again, in_h, 100000, 0);
    return p;
}

static void check_line(const struct annotate_function *function, uint32_t i, uint32_t line,
                       uint64_t self, uint64_t inclusive) {
    CHECK_UINT(function->lines[i].line, line);
    CHECK_UINT(function->lines[i].self, self);
    CHECK_UINT(function->lines[i].inclusive, inclusive);
}

static void test_sums(void) {
    struct profile *p = make_profile();
    struct annotation a;
    annotation_make(&a, p, "f", false); /* without its parameters */
    CHECK_UINT(a.n_functions, 1);
    CHECK_UINT(a.total, 111111);
    CHECK_STR(a.functions[0].name, "f(int)");
    CHECK_STR(a.functions[0].file, "/src/app.c");
    CHECK_UINT(a.functions[0].self, 110);
    CHECK_UINT(a.functions[0].inclusive, 111110);
    CHECK_UINT(a.functions[0].n_lines, 2);
    check_line(&a.functions[0], 0, 12, 0, 1000);
    check_line(&a.functions[0], 1, 13, 110, 110110); /* recursion counts once */
    CHECK_UINT(a.functions[0].lines[0].n_callees, 1);
    CHECK_STR(a.functions[0].lines[0].callees[0].name, "g");
    CHECK_UINT(a.functions[0].lines[0].callees[0].weight, 1000);
    CHECK_UINT(a.functions[0].lines[1].n_callees, 2);
    CHECK_STR(a.functions[0].lines[1].callees[0].name, "f(int)");
    CHECK_UINT(a.functions[0].lines[1].callees[0].weight, 100100);
    CHECK_STR(a.functions[0].lines[1].callees[1].name, "h");
    CHECK_UINT(a.functions[0].lines[1].callees[1].weight, 10000);
    annotation_free(&a);

    annotation_make(&a, p, "^[gh]$", true);
    CHECK_UINT(a.n_functions, 2);
    CHECK_STR(a.functions[0].name, "h"); /* the heavier first */
    check_line(&a.functions[0], 0, 0, 110000, 110000);
    check_line(&a.functions[1], 0, 21, 1000, 1000);
    annotation_free(&a);

    annotation_make(&a, p, "nothing", false);
    CHECK_UINT(a.n_functions, 0);
    annotation_free(&a);
    profile_free(p);
}

/* ---- any program: as the tree by function has it ---- */

static void tree_sums(const struct profile *grouped, const char *name, uint64_t *self,
                      uint64_t *inclusive) {
    uint64_t *below = tree_inclusive(grouped);
    bool *inside = calloc(grouped->n_nodes, sizeof *inside);
    *self = *inclusive = 0;
    for (uint32_t i = 1; i < grouped->n_nodes; i++) {
        const struct profile_node *node = &grouped->nodes[i];
        bool is_it = node->parent != 0 && strcmp(tree_name(grouped, i), name) == 0;
        inside[i] = inside[node->parent] || is_it;
        if (is_it)
            *self += node->count;
        if (is_it && !inside[node->parent])
            *inclusive += below[i];
    }
    free(inside);
    free(below);
}

static void check_function(const struct profile *p, const struct profile *grouped,
                           const char *name) {
    struct annotation a;
    uint64_t self, inclusive, lines = 0, of_all = 0;
    tree_sums(grouped, name, &self, &inclusive);
    annotation_make(&a, p, name, false);
    for (uint32_t i = 0; i < a.n_functions; i++) {
        of_all += strcmp(a.functions[i].name, name) == 0 ? a.functions[i].self : 0;
        for (uint32_t k = 0; k < a.functions[i].n_lines; k++)
            if (strcmp(a.functions[i].name, name) == 0)
                lines += a.functions[i].lines[k].self;
        if (a.n_functions == 1)
            CHECK_UINT(a.functions[i].inclusive, inclusive);
    }
    CHECK_UINT(of_all, self);
    CHECK_UINT(lines, self);
    annotation_free(&a);
}

/* What stands below a pruned frame, which only made-up profiles have, goes first. */
static void test_as_reported(struct profile *made_up) {
    struct profile *p = profile_prune(made_up, 0);
    struct profile *grouped = profile_group(p, PROFILE_BY_FUNCTION, 0);
    for (uint32_t i = 1; i < p->n_functions; i++)
        check_function(p, grouped, p->functions[i].name);
    profile_free(grouped);
    profile_free(p);
    profile_free(made_up);
}

/* ---- the writers ---- */

static void test_text(void) {
    struct profile *p = make_profile();
    const struct annotate_sources nowhere = {.around = 1};
    struct annotation a;
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    annotation_make(&a, p, "f", false);
    CHECK(annotation_write_text(out, &a, &nowhere));
    CHECK(annotation_write_json(out, &a));
    fclose(out);
    CHECK(strstr(text, "the source is not under that path here") != NULL);
    CHECK(strstr(text, "   0.10 %   99.10 %     13") != NULL);
    CHECK(strstr(text, "-> h 9.00 %") != NULL);
    CHECK(strstr(text, "\"format\":\"hcct-annotation\"") != NULL);
    free(text);
    annotation_free(&a);
    profile_free(p);
}

/* What f has itself, known by its function, and what it has called in contexts that are not kept: a
 * row for each. */
static void test_no_line(void) {
    const struct profile_process process = {.exe = "/bin/app", .command = "app"};
    const struct annotate_sources nowhere = {.around = 1};
    struct profile *p = profile_new();
    uint32_t root = profile_root(p, profile_add_process(p, &process));
    uint32_t f = profile_add_node(p, root, add_place(p, 2, true, "f(int)", 10, NULL, 0), 300, 0);
    uint32_t gone = profile_add_node(p, f, profile_add_pseudo(p, PROFILE_PRUNED), 0, 0);
    struct annotation a;
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    profile_add_node(p, gone, add_place(p, 4, true, "h", 30, NULL, 0), 700, 0);
    annotation_make(&a, p, "f", false);
    CHECK(annotation_write_text(out, &a, &nowhere));
    fclose(out);
    char *own = strstr(text, "line not recorded"), *called = strstr(text, "line not known");
    CHECK(own != NULL && called != NULL && own < called);
    CHECK(strstr(text, "  30.00 %   30.00 %") != NULL && strstr(text, "70.00 %") != NULL);
    CHECK(strstr(text, "100.00 %") == NULL);
    CHECK(strstr(text, "contexts that are not kept") != NULL);
    free(text);
    annotation_free(&a);
    profile_free(p);
}

/* What contexts that are not kept may have of a line, and of a function. */
static void test_bounds(void) {
    struct profile *p = make_profile();
    uint32_t pruned = profile_add_pseudo(p, PROFILE_PRUNED);
    uint32_t top = 2, f = 3; /* main, and f below it */
    uint32_t in_h = add_place(p, 4, true, "h", 30, NULL, 0);
    struct annotation a;
    char *text;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    CHECK_UINT(p->nodes[f].parent, top);
    profile_add_node(p, profile_add_node(p, top, pruned, 7, 0), in_h, 40, 0);
    profile_add_node(p, profile_add_node(p, f, pruned, 0, 0), in_h, 200, 0);
    annotation_make(&a, p, "f", false);
    CHECK_UINT(a.unknown, 7); /* which may be anybody's own */
    CHECK_UINT(a.functions[0].inclusive, 111310);
    CHECK_UINT(a.functions[0].more, 47); /* below main f may have been */
    CHECK_UINT(a.functions[0].lines[0].more, 247);
    CHECK_UINT(a.functions[0].lines[1].more, 47);
    CHECK(annotation_write_text(out, &a, &(struct annotate_sources){.around = 1}));
    CHECK(annotation_write_json(out, &a));
    fclose(out);
    CHECK(strstr(text, "up to 0.01 points (self) and 0.04 (inclusive") != NULL);
    CHECK(strstr(text, "     self inclusive   more   line\n") != NULL);
    CHECK(strstr(text, " +0.22     12") != NULL);
    CHECK(strstr(text, "\"inclusive\":111310,\"inclusive_upper\":111357") != NULL);
    CHECK(strstr(text, "\"self\":110,\"self_upper\":117") != NULL);
    free(text);
    annotation_free(&a);
    annotation_make(&a, p, "h", false);
    CHECK_UINT(a.functions[0].self, 110240); /* certain, wherever it was called */
    CHECK_UINT(a.functions[0].more, 7);
    annotation_free(&a);
    profile_free(p);
}

int main(void) {
    test_bounds();
    test_sums();
    test_as_reported(sample_shell());
    test_as_reported(sample_build());
    for (uint64_t seed = 1; seed <= 40; seed++)
        test_as_reported(sample_random(seed));
    test_text();
    test_no_line();
    return check_report();
}
