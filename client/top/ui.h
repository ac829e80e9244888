/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * ui.h - what the screen shows and what people have said about it; no terminal in here.
 *
 * One thread.
 */
#ifndef HCCT_TOP_UI_H
#define HCCT_TOP_UI_H

#include "client/top/client.h"
#include "client/top/rows.h"
#include "client/top/shape.h"
#include "common/wire/compiler.h"

enum top_panel { TOP_PANEL_TREE, TOP_PANEL_THREADS, TOP_PANEL_PROCESSES, TOP_PANEL_HELP };

/* A list of which a part is seen. */
struct top_scroll {
    uint32_t at, first; /* the chosen row, and the first one that is seen */
};

struct top_ui {
    struct top_client *client; /* NULL in tests: nobody is asked */
    struct top_request request;
    unsigned refused; /* bit i: top_windows[i] is not known to the daemon */

    struct top_model *model;         /* NULL: there was no response yet */
    struct top_copy copy[TOP_SPANS]; /* of the model */
    struct top_kinds kinds;          /* what there is to choose from; request.kind is chosen */
    struct top_strip strip;
    double walks_per_second; /* lately; < 0: not known */
    struct top_threads threads;
    struct process_list processes;

    struct top_model *mark; /* kept by m */
    bool change;            /* what came since the mark is shown, instead of a window */

    enum top_panel panel;
    enum top_shape shape;
    struct top_tree shaped; /* unless the shape is TOP_CONTEXTS */
    struct top_view view;
    struct top_rows rows;
    uint64_t chosen; /* identity of the chosen node */
    struct top_scroll scroll, threads_scroll, processes_scroll, help_scroll;
    uint32_t page; /* rows that are seen at once */

    bool typing;       /* a search is being typed */
    char message[512]; /* about the last key; "": none */
    char trouble[512]; /* why there is nothing new; "": there is no trouble */
    bool quit;
};

/* By which the last N seconds are asked for; the first is NULL: since the start only. */
extern const char *const top_windows[];
extern const unsigned top_windows_n;
#define TOP_WINDOW_DEFAULT 1u /* on a screen: place in top_windows */

/* Of a command's options; false: said on stderr why not. NULL for a word: it was not given.
 * `otherwise` is the window then; "none": none. */
bool top_resolve_window(const char *word, const char *otherwise, struct top_request *request);
/* As who answers calls it. */
bool top_resolve_metric(const char *word, struct top_request *request);

void top_ui_begin(struct top_ui *ui, const struct top_request *request);
void top_ui_end(struct top_ui *ui);

/* What is asked changes to ui->request. */
void top_ui_ask(struct top_ui *ui);
/* The same, where it is of other processes, or counts something else: windows, and a mark, that
 * were of the ones before are not of these. */
void top_ui_ask_others(struct top_ui *ui);
/* Takes a response over, and frees the rest of it. A response to an older request is dropped. */
void top_ui_take(struct top_ui *ui, struct top_response *response);

/* The tree that rows are of. Not for a ui without a model. */
const struct top_tree *top_ui_tree(const struct top_ui *ui);
/* Rows anew, after the model, the shape or the view has changed; the chosen row stays chosen. */
void top_ui_reshape(struct top_ui *ui);
void top_ui_refresh(struct top_ui *ui);
/* Chooses a row. */
void top_ui_choose(struct top_ui *ui, uint32_t row);
void top_ui_choose_node(struct top_ui *ui, uint32_t node);

/* Rows of the list that the panel shows, and its scroll. */
uint32_t top_ui_list(struct top_ui *ui, struct top_scroll **scroll);
/* Keeps `at` below n and on the page. */
void top_scroll_fit(struct top_scroll *scroll, uint32_t n, uint32_t page);

/* "60s", "mark": names the recent weights; NULL: there are none. */
const char *top_ui_recent(const struct top_ui *ui);

hcct_printf(2, 3) void top_ui_say(struct top_ui *ui, const char *format, ...);

#endif
