/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * text_choose.h - which contexts have rows of their own in the text report.
 *
 * The heaviest contexts (inclusive) are chosen; as a caller weighs as much as its callee at least,
 * callers come with them. Of equal ones, those that stand first in the tree are chosen. So no
 * context without a row weighs more than one with a row, and what is chosen by a larger number
 * includes what is chosen by a smaller one.
 *
 * A caller and its callee share a row ("a -> b -> c") where the row would show the same twice:
 * no other callee is chosen, and what the row's first function loses on the way is less than a
 * tenth of its weight and less than `noise`.
 */
#ifndef HCCT_TEXT_CHOOSE_H
#define HCCT_TEXT_CHOOSE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/profile/tree_view.h"

struct choice {
    const struct profile *profile;
    const struct tree_view *view;
    uint32_t *order; /* candidates, heaviest first */
    uint32_t *rank;  /* by node: its position there; UINT32_MAX: never to be chosen */
    uint32_t n;      /* candidates */
    uint32_t chosen; /* so many of them have rows */
    uint64_t floor;  /* candidates weigh so much at least */
    uint64_t least;  /* no row weighs less */
    uint64_t noise;
};

/* The candidates of the trees below `n_roots` roots: what weighs `floor` or more, and is not in a
 * PROFILE_PRUNED frame. None is chosen yet. Profile and view are borrowed. */
void choose_make(struct choice *choice, const struct profile *profile, const struct tree_view *view,
                 const uint32_t *roots, uint32_t n_roots, uint64_t floor);
void choose_free(struct choice *choice);

/* Chooses the n heaviest; n <= choice->n. Where some are left, `least` is the weight of the last
 * one, else it is `floor`; `noise` is as much, or `min_noise` where that is more. */
void choose_set(struct choice *choice, uint32_t n, uint64_t min_noise);

bool choose_has(const struct choice *choice, uint32_t node);

/* The callees of a node. */
struct callees {
    uint32_t chosen;       /* how many have rows ... */
    uint32_t first;        /* ... and the heaviest of all, 0: there is none */
    uint64_t hidden;       /* weight of those without a row ... */
    uint32_t n_hidden;     /* ... and how many they are, without PROFILE_PRUNED frames */
    bool hidden_is_pruned; /* some of that weight is in a PROFILE_PRUNED frame */
};

struct callees choose_callees(const struct choice *choice, uint32_t node);

/* The callee that shares the row of `node`, whose first function weighs `weight`; 0: none. */
uint32_t choose_joined(const struct choice *choice, uint32_t node, uint64_t weight);

/* The last function of the row that begins with `node`. */
uint32_t choose_row_end(const struct choice *choice, uint32_t node);

#endif
