/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * diff_loss.c - samples (or calls) that were lost weigh something, in contexts that nobody knows.
 *
 * Of a side that weighs N in its contexts, and has lost L beside that, a context of weight c has
 * truly between c and c + L. Were losses like the rest it has k c, with k = (N + L) / N. So that
 * both sides are set against each other as they were, before is shown times k(before) / k(after);
 * in what is shown a weight is c, and k c / k, and may truly be
 *
 *   c / k        where nothing of it was lost:     c (1 - 1 / k) less
 *   (c + L) / k  where all that was lost is its:   (c + L) / k - c more
 *
 * whatever was lost. Where L is next to nothing, k is 1: numbers are as in the reports.
 */
#include <math.h>

#include "common/profile/diff_judge.h"

#define NEXT_TO_NOTHING 0.001 /* of what there was */

/* Of what there was, the part that is in contexts: 1 / k. */
static double kept(const struct diff *diff, int side) {
    const struct diff_group *all = &diff->join->all[side];
    double there_was = (double)all->total + (double)all->lost;
    if ((double)all->lost <= NEXT_TO_NOTHING * there_was)
        return 1;
    return (double)all->total / there_was;
}

double diff_lost_share(const struct diff *diff, int side) {
    const struct diff_group *all = &diff->join->all[side];
    return all->lost == 0 ? 0 : (double)all->lost / ((double)all->total + (double)all->lost);
}

double diff_loss_scale(const struct diff *diff) {
    return kept(diff, DIFF_AFTER) / kept(diff, DIFF_BEFORE);
}

void diff_loss_widen(const struct diff *diff, int side, uint32_t process,
                     struct diff_bounds *bounds) {
    uint64_t lost =
        process != 0 ? diff->join->group[side][process].lost : diff->join->all[side].lost;
    double part = kept(diff, side), count = (double)bounds->count;
    double more = part * (count + (double)lost) - count;

    bounds->error += (uint64_t)ceil(count * (1 - part));
    bounds->more += more > 0 ? (uint64_t)ceil(more) : 0;
}
