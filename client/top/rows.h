/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * rows.h - which rows are to be seen, in which order: folded, sorted, searched.
 *
 * Pure. Out of memory ends the program.
 */
#ifndef HCCT_TOP_ROWS_H
#define HCCT_TOP_ROWS_H

#include "client/top/tree.h"

enum top_sort {
    TOP_BY_TOTAL,
    TOP_BY_SELF,
    TOP_BY_RECENT,
    TOP_BY_RECENT_SELF,
    TOP_BY_NAME,
    TOP_SORTS
};

/* Which nodes show their children when nobody has said anything else about them. */
enum top_open {
    TOP_OPEN_HOT, /* those with TOP_HOT_SHARE or more */
    TOP_OPEN_ALL,
    TOP_OPEN_NONE,
};

#define TOP_HOT_SHARE 0.01
/* Smaller shares would show as 0.0. */
#define TOP_SEEN_SHARE 0.0005

struct top_view {
    enum top_sort sort;
    enum top_open open;
    struct top_ids folds; /* what was said, by identity: enum top_fold */
    char search[128];     /* "": nothing is searched for. Without capitals it matches them, too */
    bool only;            /* show only paths that have a match on them */
    double least;         /* what has a smaller share in both spans is left out */
};

enum top_fold { TOP_FOLD_UNSAID, TOP_FOLDED, TOP_UNFOLDED };

struct top_row {
    uint32_t node;
    uint8_t level; /* of indentation: a node without brothers stands below its parent */
    bool lone;     /* such a node */
    bool last;     /* of its brothers */
    bool open;
    bool leaf;
    bool match;
    uint64_t bars; /* bit i: a line of brothers goes on past this row at level i */
};

#define TOP_LEVELS_MAX 63u

struct top_rows {
    struct top_row *row;
    uint32_t n, room;
};

/* Makes the rows anew; the array is used again. */
void top_rows_make(struct top_rows *rows, const struct top_tree *tree, const struct top_view *view);
void top_rows_free(struct top_rows *rows);

/* The row of the node with that identity; rows->n when it is not to be seen. */
uint32_t top_rows_find(const struct top_rows *rows, const struct top_tree *tree, uint64_t id);

/* Does the frame match what is searched for? */
bool top_view_matches(const struct top_view *view, const struct top_frame *frame);
/* The next node that matches after (`step` 1) or before (-1) the one with identity `from`, hidden
 * ones too, in the order of the rows, round the end; 0: nothing matches. */
uint32_t top_view_search(const struct top_view *view, const struct top_tree *tree, uint64_t from,
                         int step);
/* Unfolds all that the node is in. */
void top_view_reveal(struct top_view *view, const struct top_tree *tree, uint32_t node);
void top_view_fold(struct top_view *view, const struct top_node *node, enum top_fold fold);
/* All at once; what was said of single nodes is forgotten. */
void top_view_fold_all(struct top_view *view, enum top_open open);

#endif
