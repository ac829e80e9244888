/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * panels.h - the lists beside the tree: threads, processes, help.
 *
 * Pure.
 */
#ifndef HCCT_TOP_PANELS_H
#define HCCT_TOP_PANELS_H

#include "client/top/text.h"
#include "client/top/ui.h"

/* For a panel that is not the tree: the line above, and row `row` of its list. */
void top_panel_title(struct top_line *line, const struct top_ui *ui);
void top_panel_row(struct top_line *line, const struct top_ui *ui, uint32_t row);

#endif
