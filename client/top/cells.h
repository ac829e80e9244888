/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * cells.h - the columns of a row: shares since the start, recent ones beside them, the name.
 *
 * A share that would show as 0.0 stays empty. Pure.
 */
#ifndef HCCT_TOP_CELLS_H
#define HCCT_TOP_CELLS_H

#include "client/top/model.h"
#include "client/top/shape.h"
#include "client/top/text.h"

/* What there is room for. */
struct top_layout {
    unsigned width; /* columns of the terminal; 0: any */
    bool recent;    /* the columns of the recent weights */
    bool errors;    /* the columns of errors of own shares ... */
    bool bounds;    /* ... and of those with all below */
    unsigned name;  /* first column of the name */
};

/* `spans`: the model has recent weights; `bounded`: and bounds of those with all below. */
void top_layout_make(struct top_layout *layout, unsigned width, bool spans, bool bounded);

/* Where the cells of a row begin and end, for who paints them. */
enum top_cell { TOP_CELL_TOTAL, TOP_CELL_SELF, TOP_CELL_RECENT, TOP_CELL_RECENT_SELF, TOP_CELLS };
struct top_extent {
    unsigned begin, end; /* columns; equal: it is not shown */
};
void top_layout_extent(const struct top_layout *layout, enum top_cell cell,
                       struct top_extent *extent);

/* The line above the rows; `recent` names that span ("60 s", "since m"); the column that rows are
 * sorted by has a mark. */
void top_cells_title(struct top_line *line, const struct top_layout *layout, enum top_shape shape,
                     enum top_sort sort, const char *recent);

/* A whole row. *place: where its module and file begin (the end of the line: there are none). */
void top_cells_row(struct top_line *line, const struct top_layout *layout,
                   const struct top_tree *tree, const struct top_row *row, unsigned *place);

/* Share of all, 0 to 1. */
double top_share(const struct top_tree *tree, uint64_t weight, int span);

#endif
