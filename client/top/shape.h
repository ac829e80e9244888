/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * shape.h - the same contexts seen otherwise: from the innermost function out, or as functions.
 *
 * Pure. Out of memory ends the program.
 */
#ifndef HCCT_TOP_SHAPE_H
#define HCCT_TOP_SHAPE_H

#include "client/top/tree.h"

enum top_shape {
    TOP_CONTEXTS,  /* callers above, callees below: as it is */
    TOP_INVERTED,  /* callees above, callers below */
    TOP_FUNCTIONS, /* one row for each function */
    TOP_SHAPES
};

/* A tree of that shape (not TOP_CONTEXTS) of all contexts in `contexts`, whose strings it borrows.
 *
 * TOP_INVERTED: a root is a function with the weight that it has of its own, wherever it was
 * called; below are its callers, each with the part that it was called by. The roots add up to all.
 * Paths are followed for a bounded number of callers.
 * TOP_FUNCTIONS: self is what the function has of its own in all contexts; inclusive what contexts
 * weigh that it is anywhere in, each counted once however often it is in there. Self adds up to
 * all; inclusive does not. Both: node 0 has the sum. */
void top_shape_make(struct top_tree *tree, enum top_shape shape, const struct top_tree *contexts);

#endif
