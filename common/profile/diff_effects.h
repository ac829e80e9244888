/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * diff_effects.h - how much the weight of a single context is left to chance.
 *
 * A profile knows design effects by function (chance.h). Where each event is drawn by itself (those
 * of allocations and of locks), how rarely may differ by caller: all of a program's blocks may come
 * from one function, the wrapper of malloc that it has, and be drawn by another R for each of its
 * callers. So a context is taken to vary as that function does, among those on its path, that has
 * the least beside it.
 */
#ifndef HCCT_DIFF_EFFECTS_H
#define HCCT_DIFF_EFFECTS_H

#include "common/profile/diff_join.h"

/* By node, on that side; free() gives them back. `below`: what each has with all contexts below. */
struct diff_effect *diff_effects(const struct diff_join *join, int side,
                                 const struct diff_tally *below);

#endif
