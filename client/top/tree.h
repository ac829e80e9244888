/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * tree.h - a forest of what is shown, whatever its shape: contexts, callers, functions.
 *
 * One thread at a time. Out of memory ends the program (memory.h).
 */
#ifndef HCCT_TOP_TREE_H
#define HCCT_TOP_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "client/top/ids.h"

/* Two weights of each: the one since the start, and a recent one beside it (the last N seconds, or
 * since a mark). */
enum { TOP_TOTAL, TOP_RECENT, TOP_SPANS };

struct top_weight {
    uint64_t self, error;       /* its own: self <= true <= self + error */
    uint64_t inclusive, beyond; /* with all below: inclusive <= true <= inclusive + beyond */
};

/* What a row says beside its numbers. Strings are UTF-8 with anything in it, and the model's. */
struct top_frame {
    uint64_t id;
    const char *name;
    const char *module; /* last part of its path, "" when there is none */
    const char *file;   /* last part, "" when not known */
    uint32_t line;      /* 0: not grouped by line */
    bool inlined;
    bool process;      /* is a process, not a function */
    uint64_t function; /* the same for all frames of one function */
};

struct top_node {
    uint64_t id;                        /* of the path: the same in trees of later answers */
    uint32_t frame;                     /* place in top_tree.frame */
    uint32_t parent, first, last, next; /* nodes; 0: none. Node 0 is above all roots */
    struct top_weight weight[TOP_SPANS];
};

struct top_tree {
    struct top_node *node; /* parents before children */
    uint32_t n, room;
    struct top_frame *frame;
    uint32_t n_frames, frame_room;
    struct top_ids nodes, frames; /* by identity */
};

/* An empty tree. `seed` sets the identities of one shape apart from those of the others. */
void top_tree_begin(struct top_tree *tree, uint64_t seed);
void top_tree_free(struct top_tree *tree);

/* The frame with that identity: the one that is there, or a copy of `frame`. */
uint32_t top_tree_frame(struct top_tree *tree, const struct top_frame *frame);
/* The child of `parent` at `frame`, made when there is none. */
uint32_t top_tree_child(struct top_tree *tree, uint32_t parent, uint32_t frame);
/* Inclusive weights of all nodes, node 0 included, from those of their own. */
void top_tree_sum(struct top_tree *tree);

/* The next node of a walk over all nodes below 0 that enters each before its children; *leaves is
 * how many nodes, `node` itself first, are left on the way. Start with node 0; 0: the end. */
uint32_t top_tree_next(const struct top_tree *tree, uint32_t node, uint32_t *leaves);

#endif
