/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * actions.h - all that a key can do. Each leaves the ui ready to be drawn.
 */
#ifndef HCCT_TOP_ACTIONS_H
#define HCCT_TOP_ACTIONS_H

#include "client/top/ui.h"

void top_do_up(struct top_ui *ui);
void top_do_down(struct top_ui *ui);
void top_do_page_up(struct top_ui *ui);
void top_do_page_down(struct top_ui *ui);
void top_do_home(struct top_ui *ui);
void top_do_end(struct top_ui *ui);
void top_do_enter(struct top_ui *ui); /* folds, unfolds, or takes the process that is chosen */
void top_do_in(struct top_ui *ui);    /* unfolds, then goes to the first child */
void top_do_out(struct top_ui *ui);   /* folds, then goes to the parent */
void top_do_open_all(struct top_ui *ui);
void top_do_close_all(struct top_ui *ui);
void top_do_open_hot(struct top_ui *ui);

void top_do_search(struct top_ui *ui); /* begins to be typed */
void top_do_next(struct top_ui *ui);
void top_do_previous(struct top_ui *ui);
void top_do_only(struct top_ui *ui);

void top_do_sort(struct top_ui *ui);
void top_do_invert(struct top_ui *ui);
void top_do_functions(struct top_ui *ui);
void top_do_by(struct top_ui *ui);
void top_do_metric(struct top_ui *ui);
void top_do_threads(struct top_ui *ui);
void top_do_processes(struct top_ui *ui);
void top_do_help(struct top_ui *ui);
void top_do_back(struct top_ui *ui); /* to the tree; there, forgets the search */

/* Contexts are rewritten at the chosen row (steps.h); the last of that is taken back. */
void top_do_merge(struct top_ui *ui);
void top_do_drop(struct top_ui *ui);
void top_do_root(struct top_ui *ui);
void top_do_collapse(struct top_ui *ui);
void top_do_recursion(struct top_ui *ui);
void top_do_undo(struct top_ui *ui);

void top_do_mark(struct top_ui *ui);
void top_do_change(struct top_ui *ui);
void top_do_pause(struct top_ui *ui);
void top_do_write(struct top_ui *ui);
void top_do_earlier(struct top_ui *ui);
void top_do_later(struct top_ui *ui);
void top_do_shorter(struct top_ui *ui);
void top_do_longer(struct top_ui *ui);
void top_do_window_longer(struct top_ui *ui);
void top_do_window_shorter(struct top_ui *ui);
void top_do_slower(struct top_ui *ui);
void top_do_faster(struct top_ui *ui);
void top_do_quit(struct top_ui *ui);

/* Keys of a search that is being typed: a byte of text, or what ends it. */
void top_type(struct top_ui *ui, char c);
void top_type_back(struct top_ui *ui);
void top_type_done(struct top_ui *ui, bool keep);

#endif
