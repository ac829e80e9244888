/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * children.h - the children of a node: finding, adding, removing, going through them.
 */
#ifndef HCCT_CHILDREN_H
#define HCCT_CHILDREN_H

#include "common/tree/tree.h"

/* Each gives 0 for no child. */
uint32_t children_find(const struct mcct *tree, const struct mcct_node *parent, uint32_t frame);
/* The same, and the child is found faster next time. Where there is none, *listed is what
 * children_add() asks for. */
uint32_t children_recall(const struct mcct *tree, struct mcct_node *parent, uint32_t frame,
                         uint32_t *listed);

/* `child`, whose frame is set and which is not among the children, becomes one. `listed`: of these,
 * so many at most are in a list. False: no memory. */
bool children_add(struct mcct *tree, uint32_t parent, uint32_t child, uint32_t listed);
/* `child` is one no more; its cell stays with the caller. */
void children_remove(struct mcct *tree, uint32_t parent, uint32_t child);

/* In no useful order. */
uint32_t children_first(const struct mcct *tree, const struct mcct_node *parent);
uint32_t children_after(const struct mcct *tree, const struct mcct_node *parent, uint32_t child);

/* The node after `node` when all are gone through, callers first, from the root on; 0: that was the
 * last. */
uint32_t children_next_node(const struct mcct *tree, uint32_t node);

/* Frees the tables of all wide nodes, for the end of a tree. */
void children_free(struct mcct *tree);

#endif
