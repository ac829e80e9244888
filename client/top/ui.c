/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * ui.c - answers come in, the place on the screen is kept.
 */
#include "client/top/ui.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/top/keys.h"
#include "common/base/options.h"

/* Walks in less than that say nothing of their rate. */
#define RATE_LEAST_NS 500000000u

const char *const top_windows[] = {NULL, "10s", "60s", "5m", "1h"};
const unsigned top_windows_n = sizeof top_windows / sizeof top_windows[0];

bool top_resolve_window(const char *word, const char *otherwise, struct top_request *request) {
    if (word == NULL)
        word = otherwise;
    if (strcmp(word, "none") == 0)
        return true;
    for (unsigned i = 1; i < top_windows_n; i++)
        if (strcmp(word, top_windows[i]) == 0)
            request->window = top_windows[i];
    if (request->window == NULL)
        complain("--window '%s': it must be 10s, 60s, 5m, 1h or none", word);
    return request->window != NULL;
}

bool top_resolve_metric(const char *word, struct top_request *request) {
    if (word == NULL)
        return true;
    if (strlen(word) < sizeof request->kind) {
        strcpy(request->kind, word);
        return true;
    }
    complain("--metric '%.40s...': there is no such metric", word);
    return false;
}

void top_ui_begin(struct top_ui *ui, const struct top_request *request) {
    *ui = (struct top_ui){
        .request = *request, .walks_per_second = -1, .page = 20, .view.least = TOP_SEEN_SHARE};
}

void top_ui_end(struct top_ui *ui) {
    if (ui->mark != ui->model)
        top_model_free(ui->mark);
    top_model_free(ui->model);
    top_copies_free(ui->copy);
    top_threads_free(&ui->threads);
    processes_free(&ui->processes);
    top_tree_free(&ui->shaped);
    top_ids_clear(&ui->view.folds);
    top_rows_free(&ui->rows);
}

void top_ui_say(struct top_ui *ui, const char *format, ...) {
    va_list list;
    va_start(list, format);
    vsnprintf(ui->message, sizeof ui->message, format, list);
    va_end(list);
}

void top_ui_ask(struct top_ui *ui) {
    ui->request.number++;
    ui->request.what = ui->panel == TOP_PANEL_THREADS     ? TOP_REQUEST_THREADS
                       : ui->panel == TOP_PANEL_PROCESSES ? TOP_REQUEST_PROCESSES
                                                          : TOP_REQUEST_CONTEXTS;
    if (ui->client != NULL)
        top_client_request(ui->client, &ui->request, true);
}

void top_ui_ask_others(struct top_ui *ui) {
    if (ui->mark != ui->model)
        top_model_free(ui->mark);
    ui->mark = NULL;
    ui->change = false;
    ui->walks_per_second = -1;
    if (ui->refused != 0) { /* of those that were seen; these may have windows */
        ui->refused = 0;
        ui->request.window = top_windows[TOP_WINDOW_DEFAULT];
    }
    top_ui_ask(ui);
}

/* ---- rows ---- */

const struct top_tree *top_ui_tree(const struct top_ui *ui) {
    return ui->shape == TOP_CONTEXTS ? &ui->model->tree : &ui->shaped;
}

void top_scroll_fit(struct top_scroll *scroll, uint32_t n, uint32_t page) {
    if (page == 0)
        page = 1;
    if (scroll->at >= n)
        scroll->at = n > 0 ? n - 1 : 0;
    if (scroll->first + page > n)
        scroll->first = n > page ? n - page : 0;
    if (scroll->at < scroll->first)
        scroll->first = scroll->at;
    if (scroll->at >= scroll->first + page)
        scroll->first = scroll->at - page + 1;
}

void top_ui_choose(struct top_ui *ui, uint32_t row) {
    ui->scroll.at = row;
    top_scroll_fit(&ui->scroll, ui->rows.n, ui->page);
    if (ui->rows.n > 0)
        ui->chosen = top_ui_tree(ui)->node[ui->rows.row[ui->scroll.at].node].id;
}

void top_ui_choose_node(struct top_ui *ui, uint32_t node) {
    const struct top_tree *tree = top_ui_tree(ui);
    uint32_t row = top_rows_find(&ui->rows, tree, tree->node[node].id);
    if (row < ui->rows.n)
        top_ui_choose(ui, row);
}

/* The chosen row, or the nearest one above it that is still there. */
static uint32_t find_chosen(const struct top_ui *ui) {
    const struct top_tree *tree = top_ui_tree(ui);
    uint32_t node = top_ids_get(&tree->nodes, ui->chosen);
    for (; node != 0; node = tree->node[node].parent) {
        uint32_t row = top_rows_find(&ui->rows, tree, tree->node[node].id);
        if (row < ui->rows.n)
            return row;
    }
    return ui->scroll.at;
}

void top_ui_refresh(struct top_ui *ui) {
    if (ui->model == NULL)
        return;
    top_rows_make(&ui->rows, top_ui_tree(ui), &ui->view);
    uint32_t above = ui->scroll.at - ui->scroll.first; /* stays where it is on the screen */
    uint32_t row = find_chosen(ui);
    ui->scroll.first = row > above ? row - above : 0;
    top_ui_choose(ui, row);
}

void top_ui_reshape(struct top_ui *ui) {
    if (ui->model == NULL)
        return;
    top_tree_free(&ui->shaped);
    if (ui->shape != TOP_CONTEXTS)
        top_shape_make(&ui->shaped, ui->shape, &ui->model->tree);
    top_ui_refresh(ui);
}

uint32_t top_ui_list(struct top_ui *ui, struct top_scroll **scroll) {
    switch (ui->panel) {
    case TOP_PANEL_THREADS:
        *scroll = &ui->threads_scroll;
        return (uint32_t)ui->threads.n;
    case TOP_PANEL_PROCESSES:
        *scroll = &ui->processes_scroll;
        return (uint32_t)ui->processes.n + 1; /* the first means all of them */
    case TOP_PANEL_HELP:
        *scroll = &ui->help_scroll;
        return top_keys_lines();
    default:
        *scroll = &ui->scroll;
        return ui->rows.n;
    }
}

/* ---- answers ---- */

const char *top_ui_recent(const struct top_ui *ui) {
    if (ui->model == NULL || !top_model_has_recent(ui->model))
        return NULL;
    return ui->change ? "mark" : ui->request.range.until > 0 ? "range" : ui->request.window;
}

static void window_refused(struct top_ui *ui, const char *why) {
    for (unsigned i = 1; i < top_windows_n; i++)
        if (ui->request.window != NULL && strcmp(top_windows[i], ui->request.window) == 0)
            ui->refused |= 1u << i;
    top_ui_say(ui, "no window: %s", why);
    ui->request.window = NULL;
    ui->request.range = (struct top_range){0};
    top_ui_ask(ui);
}

static void compare_walks(struct top_ui *ui, const struct top_model *now) {
    const struct top_model *then = ui->model;
    if (then == NULL || then->sum.walks > now->sum.walks ||
        then->total->n_processes != now->total->n_processes ||
        then->total->duration_ns > now->total->duration_ns) {
        ui->walks_per_second = -1;
        return;
    }
    uint64_t span = now->total->duration_ns - then->total->duration_ns;
    if (span >= RATE_LEAST_NS)
        ui->walks_per_second = (double)(now->sum.walks - then->sum.walks) * 1e9 / (double)span;
}

/* The new model with what came since the mark, when that is to be seen. */
static void show_change(struct top_ui *ui) {
    if (!ui->change || top_model_set_change(ui->model, ui->mark))
        return;
    ui->change = false;
    top_model_free(ui->mark);
    ui->mark = NULL;
    top_ui_say(ui, "the profile has begun anew, so there is nothing to compare with the mark");
}

static void take_model(struct top_ui *ui, struct top_response *response) {
    compare_walks(ui, response->model);
    ui->strip = response->strip;
    ui->kinds = response->kinds;
    strcpy(ui->request.kind, response->request.kind);
    if (ui->model != ui->mark)
        top_model_free(ui->model);
    ui->model = response->model;
    response->model = NULL;
    top_copies_free(ui->copy);
    memcpy(ui->copy, response->copy, sizeof ui->copy);
    memset(response->copy, 0, sizeof response->copy);
    show_change(ui);
    top_ui_reshape(ui);
}

static void take_threads(struct top_ui *ui, struct top_response *response) {
    top_threads_compare(&response->threads, &ui->threads);
    top_threads_free(&ui->threads);
    ui->threads = response->threads;
    response->threads = (struct top_threads){0};
}

static void take_processes(struct top_ui *ui, struct top_response *response) {
    processes_free(&ui->processes);
    ui->processes = response->processes;
    response->processes = (struct process_list){0};
}

void top_ui_take(struct top_ui *ui, struct top_response *response) {
    bool current = response->request.number == ui->request.number;
    if (current)
        snprintf(ui->trouble, sizeof ui->trouble, "%s",
                 response->outcome == TOP_ANSWERED ? "" : response->sentence);
    if (current && response->outcome == TOP_ANSWERED) {
        if (response->request.what == TOP_REQUEST_THREADS)
            take_threads(ui, response);
        else if (response->request.what == TOP_REQUEST_PROCESSES)
            take_processes(ui, response);
        else
            take_model(ui, response);
        if (response->window_refused)
            window_refused(ui, response->sentence);
    }
    top_response_clear(response);
}
