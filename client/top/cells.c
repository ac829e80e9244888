/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * cells.c - numbers to columns.
 */
#include "client/top/cells.h"

#include <stdio.h>
#include <string.h>

#define CELL  7      /* columns of a share, the blank before it included */
#define LEAST 0.0005 /* smaller shares would show as 0.0 */

/* The narrowest names that leave room for more columns. */
#define NAME_LEAST  24
#define NAME_BOUNDS 40 /* and for those that few need */

double top_share(const struct top_tree *tree, uint64_t weight, int span) {
    uint64_t all = tree->node[0].weight[span].inclusive;
    return all > 0 ? (double)weight / (double)all : 0;
}

static unsigned group(const struct top_layout *layout) {
    return (2u + layout->errors + layout->bounds) * CELL;
}

void top_layout_make(struct top_layout *layout, unsigned width, bool spans, bool bounded) {
    unsigned groups = spans ? 2 : 1;
    *layout =
        (struct top_layout){.width = width, .recent = spans, .errors = true, .bounds = bounded};
    if (width > 0 && groups * group(layout) + NAME_BOUNDS > width)
        layout->bounds = false;
    if (width > 0 && groups * group(layout) + NAME_LEAST > width)
        layout->errors = false;
    layout->name = groups * group(layout) + (spans ? 4 : 2);
}

void top_layout_extent(const struct top_layout *layout, enum top_cell cell,
                       struct top_extent *extent) {
    bool recent = cell == TOP_CELL_RECENT || cell == TOP_CELL_RECENT_SELF;
    unsigned begin = recent ? group(layout) + 2 : 0;
    if (cell == TOP_CELL_SELF || cell == TOP_CELL_RECENT_SELF)
        begin += layout->bounds ? 2 * CELL : CELL;
    *extent = (struct top_extent){begin, begin + CELL};
    if (recent && !layout->recent)
        extent->end = extent->begin;
}

static void put_titles(struct top_line *line, const struct top_layout *layout, const char *total,
                       const char *self, enum top_sort sort, enum top_sort by_total,
                       enum top_sort by_self) {
    char word[32];
    snprintf(word, sizeof word, "%s%s", sort == by_total ? "*" : "", total);
    top_line_print(line, "%*s", CELL, word);
    if (layout->bounds)
        top_line_print(line, "%*s", CELL, "error");
    snprintf(word, sizeof word, "%s%s", sort == by_self ? "*" : "", self);
    top_line_print(line, "%*s", CELL, word);
    if (layout->errors)
        top_line_print(line, "%*s", CELL, "error");
}

void top_cells_title(struct top_line *line, const struct top_layout *layout, enum top_shape shape,
                     enum top_sort sort, const char *recent) {
    static const char *const names[TOP_SHAPES] = {
        [TOP_CONTEXTS] = "calling context",
        [TOP_INVERTED] = "function, and its callers below",
        [TOP_FUNCTIONS] = "function",
    };
    put_titles(line, layout, "total%", "self%", sort, TOP_BY_TOTAL, TOP_BY_SELF);
    if (layout->recent) {
        top_line_print(line, " %s", top_glyphs()->rule);
        put_titles(line, layout, recent, "self%", sort, TOP_BY_RECENT, TOP_BY_RECENT_SELF);
    }
    top_line_pad(line, layout->name);
    top_line_print(line, "%s%s", sort == TOP_BY_NAME ? "*" : "", names[shape]);
}

static void put_share(struct top_line *line, double share, const char *sign) {
    char text[32];
    snprintf(text, sizeof text, "%s%.1f", sign, 100 * share);
    top_line_print(line, "%*s", CELL, share < LEAST ? "" : text);
}

/* Rows that stand for several contexts have the sum of their bounds, which may be more than there
 * is. */
static uint64_t most_beyond(const struct top_tree *tree, const struct top_weight *weight,
                            int span) {
    uint64_t rest = tree->node[0].weight[span].inclusive - weight->inclusive;
    return weight->beyond < rest ? weight->beyond : rest;
}

static void put_weights(struct top_line *line, const struct top_layout *layout,
                        const struct top_tree *tree, const struct top_node *node, int span) {
    const struct top_weight *weight = &node->weight[span];
    put_share(line, top_share(tree, weight->inclusive, span), "");
    if (layout->bounds)
        put_share(line, top_share(tree, most_beyond(tree, weight, span), span), "+");
    put_share(line, top_share(tree, weight->self, span), "");
    if (layout->errors)
        put_share(line, top_share(tree, weight->error, span), "+");
}

/* " [libc.so.6] alloc.c:42", as much of it as there is. */
static void describe_place(struct top_line *line, const struct top_frame *frame) {
    top_line_begin(line, 0);
    if (*frame->module != '\0' && strncmp(frame->name, frame->module, strlen(frame->module)) != 0)
        top_line_print(line, frame->module[0] == '[' ? "  %s" : "  [%s]", frame->module);
    if (*frame->file != '\0') {
        top_line_print(line, "%s%s", line->used > 0 ? " " : "  ", frame->file);
        if (frame->line > 0)
            top_line_print(line, ":%u", frame->line);
    }
    if (frame->inlined)
        top_line_print(line, "%s(inlined)", line->used > 0 ? " " : "  ");
}

/* The name goes first; the place has what is left of two fifths of the room. */
static void put_name(struct top_line *line, const struct top_frame *frame, unsigned *place) {
    struct top_line where;
    unsigned room = line->limit > line->columns ? line->limit - line->columns : 1;
    describe_place(&where, frame);
    if (line->limit == 0) {
        top_line_name(line, frame->name, 0);
    } else {
        unsigned most = room * 2 / 5, kept = where.columns < most ? where.columns : most;
        top_line_name(line, frame->name, room - kept);
    }
    *place = line->columns;
    top_line_add(line, where.text);
}

void top_cells_row(struct top_line *line, const struct top_layout *layout,
                   const struct top_tree *tree, const struct top_row *row, unsigned *place) {
    const struct top_node *node = &tree->node[row->node];
    put_weights(line, layout, tree, node, TOP_TOTAL);
    if (layout->recent) {
        top_line_print(line, " %s", top_glyphs()->rule);
        put_weights(line, layout, tree, node, TOP_RECENT);
    }
    top_line_pad(line, layout->name);
    unsigned room = layout->width > layout->name ? layout->width - layout->name : 0;
    top_line_indent(line, row, layout->width > 0 ? room / 2 : 0);
    put_name(line, &tree->frame[node->frame], place);
}
