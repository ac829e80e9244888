/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * diff_judge.h - from what both sides know of one weight to the verdict.
 */
#ifndef HCCT_DIFF_JUDGE_H
#define HCCT_DIFF_JUDGE_H

#include "common/profile/diff_join.h"

/* `process`: of diff->profile, whose samples the weights are made of; 0: of all. */
struct diff_weight diff_judge(const struct diff *diff, uint32_t process,
                              const struct diff_bounds side[DIFF_SIDES]);

/* Decides between absolute weights and shares, and by what weights before are scaled. Bounds are
 * known. */
void diff_choose_mode(struct diff *diff);

/* Of after - before, by chance; 0 where nothing is left to it or nothing is known. */
double diff_deviation(const struct diff *diff, uint32_t process,
                      const struct diff_bounds side[DIFF_SIDES]);

/* Of what there was on that side, in all contexts and lost, the part that was lost. */
double diff_lost_share(const struct diff *diff, int side);

/* What weights of before are to be multiplied by, so that they are as if as much of it had been
 * lost as of after: 1 where nothing, or next to nothing, was lost. */
double diff_loss_scale(const struct diff *diff);

/* Any part of what was lost may be this context's. `process`: as for diff_judge(). */
void diff_loss_widen(const struct diff *diff, int side, uint32_t process,
                     struct diff_bounds *bounds);

/* Neither a root nor a "[~]" nor what is below one. */
bool diff_is_context(const struct diff *diff, uint32_t node);

#endif
