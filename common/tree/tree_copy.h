/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * tree_copy.h - a tree as it is at one moment, as an array.
 */
#ifndef HCCT_TREE_COPY_H
#define HCCT_TREE_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/tree/mcct.h"

struct copied_node {
    uint32_t parent; /* index in the copy; the root is its own */
    uint32_t frame;
    uint64_t count, error;
    bool residual;  /* no node, but of mcct_residuals() of its parent; error 0 */
    bool leaf_pc;   /* assemble.c's: no routine, but a place in its parent (frame_is_leaf_pc) */
    uint32_t place; /* assemble.c's: context of the profile below which its self weight stands */
};

struct tree_copy {
    struct copied_node *node; /* the root first, parents before children */
    size_t n;
    struct mcct_stats stats;
};

/* Copies a tree that does not change meanwhile. False: no memory, and the copy is empty. */
bool tree_copy_take(struct tree_copy *copy, const struct mcct *tree);
void tree_copy_free(struct tree_copy *copy);

#endif
