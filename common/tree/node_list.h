/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * node_list.h - the monitored nodes of a summary that goes through all of them from time to time,
 * in no order.
 */
#ifndef HCCT_NODE_LIST_H
#define HCCT_NODE_LIST_H

#include "common/tree/tree.h"

struct node_list {
    uint32_t *node;
    uint32_t n, room;
};

void node_list_free(struct node_list *list);

/* Room for one more, charged to the tree. False: no memory; at least NODE_LIST_MIN nodes are in the
 * list then, once this has succeeded. */
bool node_list_reserve(struct node_list *list, struct mcct *tree);

#define NODE_LIST_MIN 64u

/* Moves nodes within the list until none before place `keep` has a smaller count than one from
 * there on: expected time linear in the list. */
void node_list_split(struct node_list *list, const struct mcct *tree, uint32_t keep);

#endif
