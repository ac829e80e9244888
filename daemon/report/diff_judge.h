/*
 * diff_judge.h - from what both sides know of one weight to the verdict.
 */
#ifndef HCCT_DIFF_JUDGE_H
#define HCCT_DIFF_JUDGE_H

#include "daemon/report/diff_join.h"

/* `process`: of diff->profile, whose looks the weights are made of; 0: of all. */
struct diff_weight diff_judge(const struct diff *diff, uint32_t process,
                              const struct diff_bounds side[DIFF_SIDES]);

/* Neither a root nor a "[~]". */
bool diff_is_context(const struct diff *diff, uint32_t node);

#endif
