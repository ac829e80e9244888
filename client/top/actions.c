/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * actions.c - what keys do.
 */
#include "client/top/actions.h"

#include <string.h>

#include "client/top/file.h"
#include "common/wire/compiler.h"
#include "common/wire/metric.h"

/* ---- moving ---- */

static void move_to(struct top_ui *ui, uint32_t row) {
    struct top_scroll *scroll;
    uint32_t n = top_ui_list(ui, &scroll);
    if (n == 0)
        return;
    if (ui->panel == TOP_PANEL_TREE) {
        top_ui_choose(ui, row < n ? row : n - 1);
        return;
    }
    scroll->at = row;
    top_scroll_fit(scroll, n, ui->page);
}

static void move_by(struct top_ui *ui, int64_t step) {
    struct top_scroll *scroll;
    uint32_t n = top_ui_list(ui, &scroll);
    int64_t to = scroll->at + step;
    if (ui->panel == TOP_PANEL_HELP) /* has no chosen row: all of the page moves */
        to = scroll->first + step + (step > 0 ? (int64_t)ui->page - 1 : 0);
    if (n > 0)
        move_to(ui, to < 0 ? 0 : to >= n ? n - 1 : (uint32_t)to);
}

void top_do_up(struct top_ui *ui) {
    move_by(ui, -1);
}

void top_do_down(struct top_ui *ui) {
    move_by(ui, 1);
}

void top_do_page_up(struct top_ui *ui) {
    move_by(ui, -(int64_t)ui->page);
}

void top_do_page_down(struct top_ui *ui) {
    move_by(ui, ui->page);
}

void top_do_home(struct top_ui *ui) {
    move_to(ui, 0);
}

void top_do_end(struct top_ui *ui) {
    move_to(ui, UINT32_MAX);
}

/* ---- folding ---- */

static const struct top_row *chosen_row(const struct top_ui *ui) {
    bool any = ui->panel == TOP_PANEL_TREE && ui->model != NULL && ui->scroll.at < ui->rows.n;
    return any ? &ui->rows.row[ui->scroll.at] : NULL;
}

static void fold(struct top_ui *ui, const struct top_row *row, enum top_fold how) {
    top_view_fold(&ui->view, &top_ui_tree(ui)->node[row->node], how);
    top_ui_refresh(ui);
}

static void take_process(struct top_ui *ui) {
    uint32_t at = ui->processes_scroll.at;
    ui->request.pid = 0;
    ui->request.exe[0] = '\0';
    if (at > 0 && at <= ui->processes.n) {
        const struct listed_process *process = &ui->processes.item[at - 1];
        ui->request.pid = process->pid;
        /* a pid that has started another program since has two profiles */
        if (strlen(process->exe) < sizeof ui->request.exe)
            strcpy(ui->request.exe, process->exe);
    }
    ui->panel = TOP_PANEL_TREE;
    top_ui_ask_others(ui);
}

void top_do_enter(struct top_ui *ui) {
    const struct top_row *row = chosen_row(ui);
    if (ui->panel == TOP_PANEL_PROCESSES)
        take_process(ui);
    else if (row != NULL && !row->leaf)
        fold(ui, row, row->open ? TOP_FOLDED : TOP_UNFOLDED);
}

void top_do_in(struct top_ui *ui) {
    const struct top_row *row = chosen_row(ui);
    if (row == NULL || row->leaf)
        return;
    if (row->open)
        top_do_down(ui);
    else
        fold(ui, row, TOP_UNFOLDED);
}

void top_do_out(struct top_ui *ui) {
    const struct top_row *row = chosen_row(ui);
    if (row == NULL)
        return;
    uint32_t above = top_ui_tree(ui)->node[row->node].parent;
    if (row->open)
        fold(ui, row, TOP_FOLDED);
    else if (above != 0)
        top_ui_choose_node(ui, above);
}

static void fold_all(struct top_ui *ui, enum top_open open) {
    ui->view.least = open == TOP_OPEN_HOT ? TOP_SEEN_SHARE : 0;
    top_view_fold_all(&ui->view, open);
    top_ui_refresh(ui);
}

void top_do_open_all(struct top_ui *ui) {
    fold_all(ui, TOP_OPEN_ALL);
}

void top_do_close_all(struct top_ui *ui) {
    fold_all(ui, TOP_OPEN_NONE);
}

void top_do_open_hot(struct top_ui *ui) {
    fold_all(ui, TOP_OPEN_HOT);
}

/* ---- searching ---- */

void top_do_search(struct top_ui *ui) {
    ui->panel = TOP_PANEL_TREE;
    ui->view.search[0] = '\0';
    ui->typing = true;
    top_ui_refresh(ui);
}

static void go_to_match(struct top_ui *ui, int step) {
    if (ui->model == NULL || ui->panel != TOP_PANEL_TREE)
        return;
    if (ui->view.search[0] == '\0') {
        top_ui_say(ui, "nothing is searched for: / begins a search");
        return;
    }
    uint32_t found = top_view_search(&ui->view, top_ui_tree(ui), ui->chosen, step);
    if (found == 0) {
        top_ui_say(ui, "no function or module matches \"%s\"", ui->view.search);
        return;
    }
    ui->view.least = 0; /* it may be a small one */
    top_view_reveal(&ui->view, top_ui_tree(ui), found);
    top_ui_refresh(ui);
    top_ui_choose_node(ui, found);
}

void top_do_next(struct top_ui *ui) {
    go_to_match(ui, 1);
}

void top_do_previous(struct top_ui *ui) {
    go_to_match(ui, -1);
}

void top_do_only(struct top_ui *ui) {
    ui->view.only = !ui->view.only;
    if (ui->view.search[0] == '\0')
        top_ui_say(ui, "%s",
                   ui->view.only ? "a search will show its matches only"
                                 : "a search will show all");
    top_ui_refresh(ui);
}

void top_type(struct top_ui *ui, char c) {
    size_t used = strlen(ui->view.search);
    if ((unsigned char)c < ' ' || c == 0x7f || used + 1 >= sizeof ui->view.search)
        return;
    ui->view.search[used] = c;
    ui->view.search[used + 1] = '\0';
    top_ui_refresh(ui);
}

void top_type_back(struct top_ui *ui) {
    size_t used = strlen(ui->view.search);
    while (used > 0 && (ui->view.search[--used] & 0xc0) == 0x80) {
        /* the rest of a character */
    }
    ui->view.search[used] = '\0';
    top_ui_refresh(ui);
}

void top_type_done(struct top_ui *ui, bool keep) {
    ui->typing = false;
    if (!keep)
        ui->view.search[0] = '\0';
    top_ui_refresh(ui);
    const struct top_row *row = chosen_row(ui);
    if (ui->view.search[0] != '\0' && (row == NULL || !row->match))
        go_to_match(ui, 1);
}

/* ---- what is shown ---- */

void top_do_sort(struct top_ui *ui) {
    bool recent = top_ui_recent(ui) != NULL;
    do {
        ui->view.sort = (ui->view.sort + 1) % TOP_SORTS;
    } while (!recent && (ui->view.sort == TOP_BY_RECENT || ui->view.sort == TOP_BY_RECENT_SELF));
    top_ui_refresh(ui);
}

static void take_shape(struct top_ui *ui, enum top_shape shape) {
    ui->panel = TOP_PANEL_TREE;
    ui->shape = ui->shape == shape ? TOP_CONTEXTS : shape;
    ui->scroll = (struct top_scroll){0};
    ui->chosen = 0;
    top_ui_reshape(ui);
}

void top_do_invert(struct top_ui *ui) {
    take_shape(ui, TOP_INVERTED);
}

void top_do_functions(struct top_ui *ui) {
    take_shape(ui, TOP_FUNCTIONS);
}

void top_do_by(struct top_ui *ui) {
    static const enum profile_by next[] = {
        [PROFILE_BY_FUNCTION] = PROFILE_BY_SITE,   [PROFILE_BY_SITE] = PROFILE_BY_LINE,
        [PROFILE_BY_LINE] = PROFILE_BY_MODULE,     [PROFILE_BY_MODULE] = PROFILE_BY_FUNCTION,
        [PROFILE_BY_THREAD] = PROFILE_BY_FUNCTION, [PROFILE_BY_LABEL] = PROFILE_BY_FUNCTION,
    };
    ui->request.by = next[ui->request.by];
    top_ui_say(ui, "by %s", profile_by_word(ui->request.by));
    top_ui_ask(ui);
}

void top_do_metric(struct top_ui *ui) {
    if (ui->kinds.n < 2) {
        top_ui_say(ui, "all processes that are shown count the same: there is no other metric");
        return;
    }
    unsigned next = (top_kinds_find(&ui->kinds, ui->request.kind) + 1) % ui->kinds.n;
    strcpy(ui->request.kind, ui->kinds.name[next]);
    ui->panel = TOP_PANEL_TREE;
    top_ui_say(ui, "metric: %s", metric_word_of_kind(ui->request.kind));
    top_ui_ask_others(ui);
}

static void take_panel(struct top_ui *ui, enum top_panel panel) {
    ui->panel = ui->panel == panel ? TOP_PANEL_TREE : panel;
    top_ui_ask(ui);
}

void top_do_threads(struct top_ui *ui) {
    take_panel(ui, TOP_PANEL_THREADS);
}

void top_do_processes(struct top_ui *ui) {
    take_panel(ui, TOP_PANEL_PROCESSES);
}

void top_do_help(struct top_ui *ui) {
    take_panel(ui, TOP_PANEL_HELP);
}

void top_do_back(struct top_ui *ui) {
    if (ui->panel != TOP_PANEL_TREE) {
        take_panel(ui, TOP_PANEL_TREE);
        return;
    }
    ui->view.search[0] = '\0';
    ui->view.only = false;
    top_ui_refresh(ui);
}

/* ---- contexts rewritten ---- */

/* At the chosen row. */
static void take_step(struct top_ui *ui, enum transform_kind kind) {
    const struct top_row *row = chosen_row(ui);
    const struct top_tree *tree = row != NULL ? top_ui_tree(ui) : NULL;
    const struct top_frame *frame = row != NULL ? &tree->frame[tree->node[row->node].frame] : NULL;
    if (top_steps_add(&ui->request.steps, kind, frame))
        top_ui_ask(ui);
    else if (ui->request.steps.n == TOP_STEPS_MAX)
        top_ui_say(ui, "contexts are rewritten in %u steps at most: u takes the last one back",
                   TOP_STEPS_MAX);
    else
        top_ui_say(ui, "choose a function's row first%s",
                   kind == TRANSFORM_COLLAPSE ? ", of a function that has a module" : "");
}

void top_do_merge(struct top_ui *ui) {
    take_step(ui, TRANSFORM_MERGE);
}

void top_do_drop(struct top_ui *ui) {
    take_step(ui, TRANSFORM_DROP);
}

void top_do_root(struct top_ui *ui) {
    take_step(ui, TRANSFORM_ROOT);
}

void top_do_collapse(struct top_ui *ui) {
    take_step(ui, TRANSFORM_COLLAPSE);
}

void top_do_recursion(struct top_ui *ui) {
    take_step(ui, TRANSFORM_FOLD);
}

void top_do_undo(struct top_ui *ui) {
    if (ui->request.steps.n == 0) {
        top_ui_say(ui, "nothing is rewritten");
        return;
    }
    ui->request.steps.n--;
    top_ui_ask(ui);
}

/* ---- recent weights ---- */

static void forget_recent(struct top_ui *ui) {
    ui->change = false;
    if (ui->model != NULL)
        ui->model->span_ns = 0;
    if (ui->view.sort == TOP_BY_RECENT)
        ui->view.sort = TOP_BY_TOTAL;
    if (ui->view.sort == TOP_BY_RECENT_SELF)
        ui->view.sort = TOP_BY_SELF;
    top_ui_refresh(ui);
}

void top_do_mark(struct top_ui *ui) {
    if (ui->model == NULL)
        return;
    if (ui->mark != ui->model)
        top_model_free(ui->mark);
    ui->mark = ui->model;
    top_ui_say(ui, "marked; d shows what comes from now on");
}

void top_do_change(struct top_ui *ui) {
    if (ui->mark == NULL) {
        top_ui_say(ui, "there is no mark to compare with: m sets it");
        return;
    }
    bool change = !ui->change;
    ui->request.window = NULL;
    ui->request.range = (struct top_range){0};
    forget_recent(ui);
    ui->change = change && top_model_set_change(ui->model, ui->mark);
    if (change && !ui->change)
        top_ui_say(ui, "the mark is of another profile: m sets a new one");
    top_ui_reshape(ui);
    top_ui_ask(ui);
}

static void take_cell(struct top_ui *ui, int step, bool extend) {
    char text[TOP_RANGE_ROOM];
    if (ui->strip.now <= 0) {
        top_ui_say(ui, "there is no time line yet");
        return;
    }
    if (ui->request.range.until == 0 || ui->change)
        forget_recent(ui);
    top_strip_move(&ui->strip, &ui->request.range, step, extend);
    top_range_text(&ui->request.range, text);
    top_ui_say(ui, "beside the start: %s; W goes back", text);
    top_ui_ask(ui);
}

void top_do_earlier(struct top_ui *ui) {
    take_cell(ui, -1, false);
}

void top_do_later(struct top_ui *ui) {
    take_cell(ui, 1, false);
}

void top_do_shorter(struct top_ui *ui) {
    take_cell(ui, -1, true);
}

void top_do_longer(struct top_ui *ui) {
    take_cell(ui, 1, true);
}

static void take_window(struct top_ui *ui, unsigned step) {
    unsigned at = 0;
    if (ui->request.range.until > 0) { /* back to where it was */
        ui->request.range = (struct top_range){0};
        step = 0;
    }
    while (at + 1 < top_windows_n && top_windows[at] != ui->request.window)
        at++;
    do {
        at = (at + step) % top_windows_n;
    } while (ui->refused >> at & 1);
    forget_recent(ui);
    ui->request.window = top_windows[at];
    if (ui->request.window != NULL)
        top_ui_say(ui, "beside the start: the last %s", ui->request.window);
    else
        top_ui_say(ui, ui->refused != 0 ? "since the start only; this hcctd knows no other windows"
                                        : "since the start only");
    top_ui_ask(ui);
}

void top_do_window_longer(struct top_ui *ui) {
    take_window(ui, 1);
}

void top_do_window_shorter(struct top_ui *ui) {
    take_window(ui, top_windows_n - 1);
}

/* ---- asking ---- */

void top_do_pause(struct top_ui *ui) {
    ui->request.paused = !ui->request.paused;
    ui->request.number++; /* what is under way comes too late */
    if (ui->client != NULL)
        top_client_request(ui->client, &ui->request, !ui->request.paused);
}

void top_do_write(struct top_ui *ui) {
    struct top_file whole, recent;
    if (ui->model == NULL)
        return;
    bool window = !ui->change && top_ui_recent(ui) != NULL;
    if (!top_file_write(&ui->copy[TOP_TOTAL], ui->request.pid, NULL, &whole))
        top_ui_say(ui, "%s", whole.error);
    else if (!window)
        top_ui_say(ui, "wrote %s", whole.name);
    else if (!top_file_write(&ui->copy[TOP_RECENT], ui->request.pid, ui->request.window, &recent))
        top_ui_say(ui, "wrote %s; %s", whole.name, recent.error);
    else
        top_ui_say(ui, "wrote %s and %s", whole.name, recent.name);
}

static const double delays[] = {0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60};

static void take_delay(struct top_ui *ui, double delay) {
    ui->request.delay = delay;
    top_ui_say(ui, "asks every %g s", delay);
    top_ui_ask(ui);
}

void top_do_slower(struct top_ui *ui) {
    for (size_t i = 0; i < HCCT_ARRAY_LEN(delays); i++)
        if (delays[i] > ui->request.delay) {
            take_delay(ui, delays[i]);
            return;
        }
}

void top_do_faster(struct top_ui *ui) {
    for (size_t i = HCCT_ARRAY_LEN(delays); i-- > 0;)
        if (delays[i] < ui->request.delay) {
            take_delay(ui, delays[i]);
            return;
        }
}

void top_do_quit(struct top_ui *ui) {
    ui->quit = true;
}
