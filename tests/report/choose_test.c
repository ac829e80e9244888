/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * choose_test.c - the choice of rows: what must hold of random trees for any number of rows.
 */
#include "tests/check.h"

#include "common/render/text_choose.h"
#include "tests/report/forest.h"

#define SEEDS 60

/* No context without a row weighs more than one with a row, and callers come with their callees. */
static void check_greedy(const struct choice *choice) {
    const struct profile *profile = choice->profile;
    const uint64_t *weight = choice->view->inclusive;
    bool *hidden = profile_find_hidden(profile);
    uint64_t lightest = UINT64_MAX, heaviest = 0;
    uint32_t chosen = 0;
    for (uint32_t i = 1; i < profile->n_nodes; i++) {
        uint32_t parent = profile->nodes[i].parent;
        if (parent == 0 || hidden[i]) {
            CHECK(!choose_has(choice, i));
        } else if (choose_has(choice, i)) {
            chosen++;
            CHECK(profile->nodes[parent].parent == 0 || choose_has(choice, parent));
            lightest = weight[i] < lightest ? weight[i] : lightest;
        } else {
            heaviest = weight[i] > heaviest ? weight[i] : heaviest;
        }
    }
    CHECK_UINT(chosen, choice->chosen);
    CHECK(chosen == 0 || heaviest <= lightest || heaviest < choice->floor);
    CHECK(chosen == 0 || lightest >= choice->least);
    free(hidden);
}

/* The weight of a row is accounted for: what is lost within it is little, and the rows below it,
 * what has no row, and its self weight are that of its last function. */
static void check_rows(const struct choice *choice) {
    const struct profile *profile = choice->profile;
    const struct tree_view *view = choice->view;
    for (uint32_t i = 1; i < profile->n_nodes; i++) {
        uint32_t end = choose_has(choice, i) ? choose_row_end(choice, i) : i;
        struct callees callees = choose_callees(choice, end);
        uint64_t below = callees.hidden, lost = view->inclusive[i] - view->inclusive[end];
        for (uint32_t k = view->first[end]; k < view->first[end + 1]; k++)
            if (choose_has(choice, view->child[k]))
                below += view->inclusive[view->child[k]];
        CHECK_UINT(below + profile->nodes[end].count, view->inclusive[end]);
        CHECK(lost == 0 || (lost < choice->noise && lost * 10 < view->inclusive[i]));
    }
}

static void test_random(uint64_t seed) {
    struct forest forest;
    struct forest_view viewed = {.pruned = (unsigned)seed % 40, .collector = "calls", .exe = "/x"};
    struct profile *profile;
    struct tree_view view;
    struct choice choice;
    uint64_t state = seed + 1;
    uint32_t root;
    forest_grow(&forest, &state, 2 + seed % 50); /* small weights: many equal ones */
    profile = forest_profile(&forest, &viewed, &state);
    tree_view_make(&view, profile);
    root = profile_root(profile, 1);
    choose_make(&choice, profile, &view, &root, 1, seed % 3);
    for (uint32_t n = 0; n <= choice.n; n++) {
        choose_set(&choice, n, forest_total(&forest) / 100);
        check_greedy(&choice);
        check_rows(&choice);
    }
    choose_free(&choice);
    tree_view_free(&view);
    profile_free(profile);
}

int main(void) {
    for (uint64_t seed = 0; seed < SEEDS; seed++)
        test_random(seed);
    return check_report();
}
