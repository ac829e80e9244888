/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * top_test.c - the live screen without a terminal: model, shapes, rows and keys.
 */
#include <stdint.h>

#include "client/top/actions.h"
#include "client/top/cells.h"
#include "client/top/head.h"
#include "client/top/keys.h"
#include "client/top/ui.h"
#include "common/profile/profile.h"
#include "tests/check.h"

/* ---- profiles ---- */

static struct profile *new_profile(uint64_t duration_ns) {
    struct profile *profile = profile_new();
    struct profile_process process = {
        .exe = "/opt/app/server", .command = "server", .pid = 812, .runs = 1, .live = true};
    profile->type = "cpu";
    profile->unit = "nanoseconds";
    profile->summary = "";
    profile->duration_ns = duration_ns;
    profile_add_process(profile, &process);
    return profile;
}

/* A context of the only process: names apart by blanks, outermost first. */
static void add(struct profile *profile, const char *path, uint64_t count, uint64_t error) {
    char names[256], *rest = names;
    uint32_t node = profile_root(profile, 1);
    snprintf(names, sizeof names, "%s", path);
    for (char *name; (name = strsep(&rest, " ")) != NULL;) {
        uint32_t module = profile_add_module(profile, "/opt/app/server", "");
        uint32_t function = profile_add_function(profile, name, name, "app.c", 0);
        struct profile_line line = {function, 0};
        struct profile_location place = {
            .module = module, .is_entry = true, .n_lines = 1, .lines = &line};
        node = profile_add_node(profile, node, profile_intern_location(profile, &place), 0, 0);
    }
    profile->nodes[node].count += count;
    profile->nodes[node].error += error;
}

/* 100 in all; work calls itself. */
static struct profile *sample(void) {
    struct profile *profile = new_profile(10000000000u);
    add(profile, "main work parse", 40, 4);
    add(profile, "main work work parse", 10, 0);
    add(profile, "main work work", 5, 0);
    add(profile, "main send", 30, 0);
    add(profile, "main", 15, 1);
    return profile;
}

static const struct top_steps no_steps;

static struct top_model *model_of(struct profile *total, struct profile *recent) {
    struct top_model *model = top_model_make(total, recent, PROFILE_BY_FUNCTION, &no_steps, 0);
    profile_free(total);
    profile_free(recent);
    return model;
}

/* ---- rows as text ---- */

static char text[4096];

/* "main/work 55;", a row each, with > where it is folded. */
static const char *rows_text(const struct top_tree *tree, const struct top_view *view) {
    struct top_rows rows = {0};
    size_t used = 0;
    text[0] = '\0';
    top_rows_make(&rows, tree, view);
    for (uint32_t i = 0; i < rows.n; i++) {
        const struct top_row *row = &rows.row[i];
        const struct top_node *node = &tree->node[row->node];
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%u.%s %llu%s",
                                 i > 0 ? ", " : "", row->level, tree->frame[node->frame].name,
                                 (unsigned long long)node->weight[TOP_TOTAL].inclusive,
                                 !row->open && !row->leaf ? ">" : "");
    }
    top_rows_free(&rows);
    return text;
}

static void test_order_and_folds(void) {
    struct top_model *model = model_of(sample(), NULL);
    struct top_view view = {.open = TOP_OPEN_ALL};
    const struct top_tree *tree = &model->tree;
    CHECK_UINT(top_model_weight(model, TOP_TOTAL), 100);
    CHECK_STR(rows_text(tree, &view),
              "0.server (pid 812) 100, 0.main 100, 1.work 55, 2.parse 40, 2.work 15, 2.parse 10, "
              "1.send 30");
    view.sort = TOP_BY_NAME;
    CHECK_STR(rows_text(tree, &view),
              "0.server (pid 812) 100, 0.main 100, 1.send 30, 1.work 55, 2.parse 40, 2.work 15, "
              "2.parse 10");
    view.sort = TOP_BY_SELF; /* send 30 has more of its own than work, 0 */
    CHECK_STR(rows_text(tree, &view),
              "0.server (pid 812) 100, 0.main 100, 1.send 30, 1.work 55, 2.parse 40, 2.work 15, "
              "2.parse 10");
    view.sort = TOP_BY_TOTAL;
    uint32_t work = top_view_search(&view, tree, 0, 1);
    CHECK_UINT(work, 0); /* nothing is searched for */
    strcpy(view.search, "WORK");
    CHECK_UINT(top_view_search(&view, tree, 0, 1), 0); /* capitals must match */
    strcpy(view.search, "work");
    work = top_view_search(&view, tree, 0, 1);
    CHECK_STR(tree->frame[tree->node[work].frame].name, "work");
    top_view_fold(&view, &tree->node[work], TOP_FOLDED);
    CHECK_STR(rows_text(tree, &view), "0.server (pid 812) 100, 0.main 100, 1.work 55>, 1.send 30");
    uint32_t inner = top_view_search(&view, tree, tree->node[work].id, 1);
    CHECK(inner != work && inner != 0);
    CHECK_UINT(top_view_search(&view, tree, tree->node[inner].id, 1), work); /* round the end */
    CHECK_UINT(top_view_search(&view, tree, tree->node[work].id, -1), inner);
    top_view_reveal(&view, tree, inner);
    CHECK_STR(rows_text(tree, &view),
              "0.server (pid 812) 100, 0.main 100, 1.work 55, 2.parse 40, 2.work 15, 2.parse 10, "
              "1.send 30");
    top_view_fold_all(&view, TOP_OPEN_NONE);
    CHECK_STR(rows_text(tree, &view), "0.server (pid 812) 100>");
    top_ids_clear(&view.folds);
    top_model_free(model);
}

static void test_only_matches(void) {
    struct top_model *model = model_of(sample(), NULL);
    struct top_view view = {.open = TOP_OPEN_NONE, .only = true, .search = "send"};
    CHECK_STR(rows_text(&model->tree, &view), "0.server (pid 812) 100, 0.main 100, 0.send 30");
    strcpy(view.search, "nobody");
    CHECK_STR(rows_text(&model->tree, &view), "");
    view.search[0] = '\0';
    CHECK_STR(rows_text(&model->tree, &view), "0.server (pid 812) 100>");
    top_model_free(model);
}

static void test_small_ones_are_left_out(void) {
    struct top_model *model = model_of(sample(), NULL);
    struct top_view view = {.open = TOP_OPEN_ALL, .least = 0.3};
    CHECK_STR(rows_text(&model->tree, &view),
              "0.server (pid 812) 100, 0.main 100, 1.work 55, 1.parse 40, 1.send 30");
    top_model_free(model);
}

/* Callers below callees: what is above adds up to N, and recursion is counted once. */
static void test_inverted(void) {
    struct top_model *model = model_of(sample(), NULL);
    struct top_view view = {.open = TOP_OPEN_ALL};
    struct top_tree tree;
    uint64_t roots = 0;
    top_shape_make(&tree, TOP_INVERTED, &model->tree);
    for (uint32_t i = tree.node[0].first; i != 0; i = tree.node[i].next)
        roots += tree.node[i].weight[TOP_TOTAL].inclusive;
    CHECK_UINT(roots, 100);
    CHECK_UINT(tree.node[0].weight[TOP_TOTAL].inclusive, 100);
    for (uint32_t i = 1; i < tree.n;
         i++) { /* callers share what they are called for, and no more */
        uint64_t callers = 0;
        for (uint32_t c = tree.node[i].first; c != 0; c = tree.node[c].next)
            callers += tree.node[c].weight[TOP_TOTAL].inclusive;
        CHECK(callers <= tree.node[i].weight[TOP_TOTAL].inclusive);
    }
    CHECK_STR(rows_text(&tree, &view),
              "0.parse 50, 0.work 50, 1.main 40, 1.server (pid 812) 40, 1.work 10, 1.main 10, "
              "1.server (pid 812) 10, 0.send 30, 0.main 30, 0.server (pid 812) 30, 0.main 15, "
              "0.server (pid 812) 15, 0.work 5, 0.work 5, 0.main 5, 0.server (pid 812) 5");
    top_tree_free(&tree);
    top_model_free(model);
}

static void test_functions(void) {
    struct top_model *model = model_of(sample(), NULL);
    struct top_view view = {0};
    struct top_tree tree;
    uint64_t self = 0;
    top_shape_make(&tree, TOP_FUNCTIONS, &model->tree);
    CHECK_STR(rows_text(&tree, &view), "0.main 100, 0.server (pid 812) 100, 0.work 55, "
                                       "0.parse 50, 0.send 30");
    for (uint32_t i = 1; i < tree.n; i++) {
        self += tree.node[i].weight[TOP_TOTAL].self;
        CHECK(tree.node[i].weight[TOP_TOTAL].inclusive <= 100);
    }
    CHECK_UINT(self, 100);
    top_tree_free(&tree);
    top_model_free(model);
}

/* Deep recursion: nothing calls itself here, and nothing is counted twice. */
static void test_deep(void) {
    struct profile *profile = new_profile(1);
    uint32_t node = profile_root(profile, 1);
    struct profile_line line = {profile_add_function(profile, "deep", "deep", "", 0), 0};
    struct profile_location place = {.is_entry = true, .n_lines = 1, .lines = &line};
    uint32_t location = profile_intern_location(profile, &place);
    for (int i = 0; i < 20000; i++)
        node = profile_add_node(profile, node, location, 1, 0);
    struct top_model *model = model_of(profile, NULL);
    struct top_view view = {.open = TOP_OPEN_ALL};
    struct top_rows rows = {0};
    struct top_tree tree;
    top_rows_make(&rows, &model->tree, &view);
    CHECK_UINT(rows.n, 20001);
    CHECK_UINT(rows.row[20000].level, 0);
    top_rows_free(&rows);
    top_shape_make(&tree, TOP_FUNCTIONS, &model->tree);
    CHECK_STR(rows_text(&tree, &view), "0.deep 20000, 0.server (pid 812) 20000");
    top_tree_free(&tree);
    top_shape_make(&tree, TOP_INVERTED, &model->tree);
    CHECK_UINT(tree.node[tree.node[0].first].weight[TOP_TOTAL].inclusive, 20000);
    CHECK(tree.n < 1000000);
    top_tree_free(&tree);
    top_model_free(model);
}

/* ---- recent weights ---- */

static const char *recent_text(const struct top_model *model) {
    static struct top_line line;
    top_line_begin(&line, 0);
    top_head_recent(&line, model, "the last 10s");
    return line.text;
}

static void test_window_beside_total(void) {
    struct profile *recent = new_profile(10000000000u);
    recent->window_ns = 60;
    add(recent, "main send", 6, 2);
    add(recent, "main new", 2, 0);
    struct top_model *model = model_of(sample(), recent);
    struct top_view view = {.open = TOP_OPEN_ALL, .sort = TOP_BY_RECENT};
    CHECK(top_model_has_recent(model));
    CHECK_UINT(model->span_ns, 60);
    CHECK_UINT(top_model_weight(model, TOP_RECENT), 8);
    CHECK_UINT(top_model_weight(model, TOP_TOTAL), 100);
    CHECK_STR(rows_text(&model->tree, &view),
              "0.server (pid 812) 100, 0.main 100, 1.send 30, 1.new 0, 1.work 55, 2.parse 40, "
              "2.work 15, 2.parse 10");
    strcpy(view.search, "send");
    uint32_t send = top_view_search(&view, &model->tree, 0, 1);
    CHECK_UINT(model->tree.node[send].weight[TOP_RECENT].self, 6);
    CHECK_UINT(model->tree.node[send].weight[TOP_RECENT].error, 0); /* nothing is in "[~]" */
    CHECK_STR(recent_text(model), "the last 10s: 8 ns of CPU time, over 60 ns");
    top_model_free(model);
}

/* A profile that is younger than the window is all in it, and the head says so. */
static void test_young_profile_in_window(void) {
    struct profile *recent = sample();
    recent->window_ns = 4000000000u;
    struct top_model *model = model_of(sample(), recent);
    CHECK_STR(recent_text(model), "the last 10s: 100 ns of CPU time, over 4.00 s: all so far");
    top_model_free(model);
}

static void test_change_since_mark(void) {
    struct top_model *mark = model_of(sample(), NULL);
    struct profile *later = sample();
    later->duration_ns += 2000000000u;
    add(later, "main work parse", 20, 3);
    add(later, "main new", 5, 0);
    struct top_model *model = model_of(later, NULL);
    struct top_view view = {.search = "parse"};
    CHECK(top_model_set_change(model, mark));
    CHECK_UINT(model->span_ns, 2000000000u);
    CHECK_UINT(top_model_weight(model, TOP_RECENT), 25);
    const struct top_node *parse = &model->tree.node[top_view_search(&view, &model->tree, 0, 1)];
    CHECK_UINT(parse->weight[TOP_RECENT].self, 20);
    CHECK_UINT(parse->weight[TOP_RECENT].error, 0); /* nothing is in "[~]" */
    CHECK(!top_model_set_change(mark, model));      /* time does not run backwards */
    top_model_free(model);
    top_model_free(mark);
}

/* ---- the ui, with answers that come late or not at all ---- */

static struct top_response response_of(const struct top_ui *ui, struct top_model *model) {
    return (struct top_response){.request = ui->request, .model = model};
}

static void test_place_is_kept(void) {
    struct top_request request = {.by = PROFILE_BY_FUNCTION};
    struct top_ui ui;
    top_ui_begin(&ui, &request);
    top_do_down(&ui); /* keys before the first answer */
    top_do_enter(&ui);
    top_do_next(&ui);
    top_do_change(&ui);
    top_do_invert(&ui);
    top_do_invert(&ui);
    struct top_response response = response_of(&ui, model_of(sample(), NULL));
    top_ui_take(&ui, &response);
    strcpy(ui.view.search, "send");
    top_do_next(&ui);
    uint64_t chosen = ui.chosen;
    CHECK_STR(ui.model->tree.frame[ui.model->tree.node[ui.rows.row[ui.scroll.at].node].frame].name,
              "send");
    struct profile *later = sample();
    add(later, "main send", 100, 0); /* now before its brother */
    uint32_t before = ui.scroll.at;
    response = response_of(&ui, model_of(later, NULL));
    top_ui_take(&ui, &response);
    CHECK(ui.chosen == chosen && ui.scroll.at < before);
    struct top_model *old = ui.model;
    response = response_of(&ui, model_of(sample(), NULL)); /* an answer to an older question */
    response.request.number--;
    top_ui_take(&ui, &response);
    CHECK(ui.model == old);
    response = response_of(&ui, NULL); /* the daemon is gone: what is known stays */
    response.outcome = TOP_NO_DAEMON;
    strcpy(response.sentence, "no hcctd listens");
    top_ui_take(&ui, &response);
    CHECK(ui.model == old);
    CHECK_STR(ui.trouble, "no hcctd listens");
    top_ui_end(&ui);
}

static void test_refused_window(void) {
    struct top_request request = {.by = PROFILE_BY_FUNCTION};
    struct top_ui ui;
    top_ui_begin(&ui, &request);
    top_do_window_longer(&ui);
    CHECK_STR(ui.request.window, "10s");
    struct top_response response = response_of(&ui, model_of(sample(), NULL));
    response.window_refused = true;
    strcpy(response.sentence, "there is no parameter window");
    top_ui_take(&ui, &response);
    CHECK(ui.request.window == NULL);
    CHECK_STR(ui.message, "no window: there is no parameter window");
    top_do_window_longer(&ui); /* not the refused one again */
    CHECK_STR(ui.request.window, "60s");
    top_do_window_shorter(&ui);
    CHECK(ui.request.window == NULL);
    top_do_processes(&ui); /* others may have windows */
    top_do_enter(&ui);
    CHECK_STR(ui.request.window, "10s");
    top_ui_end(&ui);
}

static void test_mark_of_a_daemon_that_is_gone(void) {
    struct top_request request = {.by = PROFILE_BY_FUNCTION};
    struct top_ui ui;
    top_ui_begin(&ui, &request);
    struct top_response response = response_of(&ui, model_of(sample(), NULL));
    top_ui_take(&ui, &response);
    top_do_mark(&ui);
    top_do_change(&ui);
    CHECK_STR(top_ui_recent(&ui), "mark");
    response = response_of(&ui, model_of(new_profile(1), NULL));
    top_ui_take(&ui, &response);
    CHECK(top_ui_recent(&ui) == NULL && ui.mark == NULL && !ui.change);
    top_do_mark(&ui);
    top_ui_end(&ui);
}

/* ---- contexts rewritten ---- */

/* As the client's thread does it: the answer to what the ui asks for now. */
static void answer(struct top_ui *ui) {
    struct profile *profile = sample();
    struct top_model *model =
        top_model_make(profile, NULL, ui->request.by, &ui->request.steps, ui->request.n);
    struct top_response response = response_of(ui, model);
    profile_free(profile);
    top_ui_take(ui, &response);
}

static void choose(struct top_ui *ui, const char *name) {
    snprintf(ui->view.search, sizeof ui->view.search, "%s", name);
    ui->chosen = 0;
    top_do_next(ui);
    ui->view.search[0] = '\0';
}

static const char *steps_text(const struct top_ui *ui) {
    static struct top_line line;
    top_line_begin(&line, 80);
    top_head_steps(&line, &ui->request.steps);
    return line.text;
}

static void test_steps(void) {
    static const struct {
        top_action *action;
        const char *at, *said, *rows;
    } steps[] = {
        {top_do_recursion, "main", "(u undoes) recursion collapsed",
         "0.server (pid 812) 100, 0.main 100, 1.work 55, 1.parse 50, 1.send 30"},
        {top_do_merge, "work", "(u undoes) merged work",
         "0.server (pid 812) 100, 0.main 100, 1.parse 50, 1.send 30"},
        {top_do_drop, "parse", "(u undoes) dropped parse",
         "0.server (pid 812) 100, 1.[ignored] 50, 1.main 50, 2.send 30, 2.work 5, 2.work 5"},
        {top_do_root, "send", "(u undoes) begin at send",
         "0.server (pid 812) 100, 1.[not in focus] 70, 1.send 30"},
        {top_do_collapse, "parse", "(u undoes) collapsed server",
         "0.server (pid 812) 100, 0.server 100"},
    };
    struct top_request request = {.by = PROFILE_BY_FUNCTION};
    struct top_view all = {.open = TOP_OPEN_ALL};
    struct top_ui ui;
    top_ui_begin(&ui, &request);
    answer(&ui);
    for (size_t i = 0; i < HCCT_ARRAY_LEN(steps); i++) {
        choose(&ui, steps[i].at);
        steps[i].action(&ui);
        CHECK_STR(steps_text(&ui), steps[i].said);
        answer(&ui);
        CHECK_STR(rows_text(&ui.model->tree, &all), steps[i].rows);
        top_do_undo(&ui);
        answer(&ui);
        CHECK_STR(rows_text(&ui.model->tree, &all),
                  "0.server (pid 812) 100, 0.main 100, 1.work 55, 2.parse 40, 2.work 15, "
                  "2.parse 10, 1.send 30");
    }
    top_do_undo(&ui);
    CHECK_STR(ui.message, "nothing is rewritten");
    top_do_home(&ui); /* a process is no function */
    top_do_merge(&ui);
    CHECK_STR(ui.message, "choose a function's row first");
    CHECK_UINT(ui.request.steps.n, 0);
    top_ui_end(&ui);
}

/* One after the other, up to so many; and a mark is of contexts that were rewritten alike. */
static void test_steps_in_a_row(void) {
    struct top_request request = {.by = PROFILE_BY_FUNCTION};
    struct top_view all = {.open = TOP_OPEN_ALL};
    struct top_ui ui;
    top_ui_begin(&ui, &request);
    answer(&ui);
    top_do_mark(&ui);
    choose(&ui, "work");
    top_do_merge(&ui);
    answer(&ui);
    top_do_change(&ui);
    CHECK_STR(ui.message, "the mark is of another profile: m sets a new one");
    choose(&ui, "parse");
    top_do_root(&ui);
    CHECK_STR(steps_text(&ui), "(u undoes) merged work, begin at parse");
    answer(&ui);
    CHECK_STR(rows_text(&ui.model->tree, &all),
              "0.server (pid 812) 100, 1.[not in focus] 50, 1.parse 50");
    while (ui.request.steps.n < TOP_STEPS_MAX)
        top_do_recursion(&ui);
    top_do_recursion(&ui);
    CHECK_STR(ui.message, "contexts are rewritten in 8 steps at most: u takes the last one back");
    top_ui_end(&ui);
}

/* ---- metrics ---- */

static const char *total_text(const struct top_ui *ui) {
    static struct top_line line;
    top_line_begin(&line, 80);
    top_head_total(&line, ui->model, -1, &ui->kinds, ui->request.kind);
    return line.text;
}

/* Listed in any order; what hcctd does not know is nobody's. */
static void test_kinds(void) {
    struct listed_process process[] = {{.kind = "heap"}, {.kind = "walks"}, {.kind = "heap"}};
    const struct process_list list = {process, HCCT_ARRAY_LEN(process)}, none = {NULL, 0};
    struct top_kinds kinds;
    top_kinds_of(&kinds, &list);
    CHECK_UINT(kinds.n, 2);
    CHECK_STR(kinds.name[0], "walks");
    CHECK_STR(kinds.name[1], "heap");
    CHECK_UINT(top_kinds_find(&kinds, "heap"), 1);
    CHECK_UINT(top_kinds_find(&kinds, "wall"), 2);
    top_kinds_of(&kinds, &none);
    CHECK_UINT(kinds.n, 0);
}

static void test_next_metric(void) {
    struct top_request request = {.by = PROFILE_BY_FUNCTION, .choose = true};
    struct top_ui ui;
    top_ui_begin(&ui, &request);
    top_do_metric(&ui);
    CHECK_STR(ui.message, "all processes that are shown count the same: there is no other metric");
    struct top_response response = response_of(&ui, model_of(sample(), NULL));
    response.kinds = (struct top_kinds){.name = {"walks", "heap"}, .n = 2};
    strcpy(response.request.kind, "walks"); /* the client has taken the first one */
    top_ui_take(&ui, &response);
    CHECK(strstr(total_text(&ui), " of CPU time (metric 1 of 2: M) in ") != NULL ||
          strstr(total_text(&ui), " of CPU time (metric 1 of 2: M), ") != NULL);
    ui.refused = 1; /* windows: the other one may have them */
    top_do_mark(&ui);
    unsigned before = ui.request.number;
    top_do_metric(&ui);
    CHECK_STR(ui.request.kind, "heap");
    CHECK_STR(ui.message, "metric: heap");
    CHECK(ui.request.number == before + 1 && ui.mark == NULL && ui.refused == 0);
    top_do_metric(&ui);
    CHECK_STR(ui.message, "metric: cpu");
    top_ui_end(&ui);
}

int main(void) {
    test_order_and_folds();
    test_only_matches();
    test_small_ones_are_left_out();
    test_inverted();
    test_functions();
    test_deep();
    test_window_beside_total();
    test_young_profile_in_window();
    test_change_since_mark();
    test_place_is_kept();
    test_refused_window();
    test_mark_of_a_daemon_that_is_gone();
    test_steps();
    test_steps_in_a_row();
    test_kinds();
    test_next_metric();
    return check_report();
}
