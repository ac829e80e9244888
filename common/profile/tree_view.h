/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * tree_view.h - what the writers ask of a profile's tree: inclusive weights and their bounds,
 * children in order.
 */
#ifndef HCCT_TREE_VIEW_H
#define HCCT_TREE_VIEW_H

#include "common/profile/profile.h"

struct tree_view {
    uint64_t *inclusive; /* by node: its weight and that of all contexts below */
    uint64_t *upper;     /* by node: the most that its true inclusive weight can be (bounds.h) */
    uint32_t *child;     /* nodes, those of one parent together, heaviest first */
    uint32_t *first;     /* by node, and one more: its children are child[first[i] .. first[i+1]) */
};

/* A view of the profile as it is now; a node that is added later is not in it. */
void tree_view_make(struct tree_view *view, const struct profile *profile);
void tree_view_free(struct tree_view *view);

/* Inclusive weights alone, by node; free() gives them back. */
uint64_t *tree_inclusive(const struct profile *profile);
/* Their upper bounds, those before the cut where the profile was cut for display; the same. */
uint64_t *tree_upper(const struct profile *profile, const uint64_t *inclusive);

/* The name of a node's innermost line; the command for a root. */
const char *tree_name(const struct profile *profile, uint32_t node);

#endif
