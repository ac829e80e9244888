/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * stacks.h - how much it takes to write down each context with all its callers.
 */
#ifndef HCCT_STACKS_H
#define HCCT_STACKS_H

#include "common/profile/profile.h"

#define STACKS_FRAMES_MAX 100000000u /* in one file */

/* For formats that repeat the whole path of each context, which in deep recursion is more than any
 * reader takes: the least phi with which the paths have some STACKS_FRAMES_MAX frames at most. What
 * is cut by it stays in PROFILE_PRUNED frames, as always. 0, nearly always: all fits. */
double stacks_phi(const struct profile *profile);

#endif
