/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * context_effects.h - how much the weights of single contexts are left to chance.
 *
 * A profile knows design effects by function (chance.h). Where each event is drawn by itself (those
 * of allocations and of locks), how rarely may differ by caller: all of a program's blocks may come
 * from one function, the wrapper of malloc that it has, and be drawn by another R for each of its
 * callers. So a context is taken to vary as that function does, among those on its path, that has
 * the least beside it.
 */
#ifndef HCCT_CONTEXT_EFFECTS_H
#define HCCT_CONTEXT_EFFECTS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/profile/profile.h"

/* Design effects of a self weight and of an inclusive one; 0: not known. */
struct effects {
    float self, inclusive;
};

/* By location, as the profile has them; free() gives them back. */
struct effects *function_effects(const struct profile *profile);

/* By node of a profile that is grouped by function; free() gives them back. self[], inclusive[]:
 * what each weighs, and with all contexts below; function[]: by location; `drawn_alone`: chance.h.
 */
struct effects *context_effects(const struct profile *profile, const uint64_t *self,
                                const uint64_t *inclusive, const struct effects *function,
                                bool drawn_alone);

#endif
