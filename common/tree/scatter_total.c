/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * scatter_total.c - threads of several samples, or bursts, and threads of one.
 */
#include "common/tree/scatter_total.h"

#include <math.h>

#define ENDS_SQUARE  0.25       /* what both ends of a thread vary by, where a mean step is 1 */
#define COUNT_SQUARE (1.0 / 12) /* and the number of steps, for each of them */
#define LONGEST_STEP 1.5        /* of the mean (preload/sample/interval.h) */

double scatter_by_coin(const struct scatter_sample *sample) {
    double weight = (double)sample->chance, step = (double)sample->step;
    if (sample->attached)
        return weight > step ? weight * (weight - step) : 0;
    return weight > LONGEST_STEP * step ? weight * (weight - LONGEST_STEP * step) : 0;
}

static void begin_cluster(struct scatter_total_thread *thread) {
    thread->before += thread->cluster;
    thread->squares += thread->cluster * thread->cluster;
    thread->cluster = 0;
    thread->clusters++;
}

void scatter_total_credit(struct scatter_total *total, struct scatter_total_thread *thread,
                          const struct scatter_sample *sample) {
    double chance = (double)sample->chance;
    thread->step = fmax(thread->step, (double)sample->step);
    if (sample->attached) {
        thread->attached += (double)sample->weight;
        thread->by_coin += (double)sample->attached;
        return;
    }
    if (!sample->same_burst || thread->clusters == 0)
        begin_cluster(thread);
    thread->cluster += chance;
    thread->samples++;
    if (!sample->steps)
        total->by_coin += scatter_by_coin(sample);
    if (sample->weight > sample->chance) { /* measured, but for its ends */
        total->ends += COUNT_SQUARE * chance * chance;
        thread->measured = true;
    }
}

static void add_lone(struct scatter_lone *lone, double weight, double square) {
    lone->squares += square;
    lone->greatest = fmax(lone->greatest, weight);
}

/* What stands for more than a step is that of a coin, or of a call that took so long: a thread with
 * such a sample is not short. */
static bool is_lone_sample(const struct scatter_total_thread *thread) {
    return thread->samples == 1 && !thread->measured && !(thread->attached > 0) &&
           thread->cluster <= LONGEST_STEP * thread->step;
}

/* Where a thread has samples before or after it, what is less than a step is left to these. */
static void add_attached(struct scatter_total *total, const struct scatter_total_thread *thread) {
    double weight = thread->attached, others = thread->samples > 0 ? thread->step : 0;
    if (weight > 0)
        add_lone(&total->lone_samples, weight, weight * (weight - fmin(weight, others)));
}

static void add_samples(struct scatter_total *total, const struct scatter_total_thread *thread) {
    if (is_lone_sample(thread))
        add_lone(&total->lone_samples, thread->cluster, thread->cluster * thread->cluster);
    else if (thread->samples > 0)
        total->ends += ENDS_SQUARE * thread->step * thread->step;
    add_attached(total, thread);
}

static void add_bursts(struct scatter_total *total, const struct scatter_total_thread *thread) {
    double attached = thread->attached;
    if (attached > 0)
        add_lone(&total->lone_bursts, attached, attached * attached);
    if (thread->clusters == 1 && !(attached > 0)) {
        add_lone(&total->lone_bursts, thread->cluster, thread->cluster * thread->cluster);
        return;
    }
    total->bursts += thread->clusters;
    total->weight += thread->before + thread->cluster;
    total->squares += thread->squares + thread->cluster * thread->cluster;
}

void scatter_total_end(struct scatter_total *total, const struct scatter_total_thread *thread) {
    if (thread->samples == 0 && !(thread->attached > 0))
        return;
    total->attached += thread->by_coin;
    add_samples(total, thread);
    add_bursts(total, thread);
}

double scatter_total_variance(const struct scatter_total *total, bool bursts) {
    if (!bursts)
        return total->lone_samples.squares + total->ends + total->by_coin;
    if (total->bursts == 0)
        return total->lone_bursts.squares;
    double mean_square = total->weight * total->weight / (double)total->bursts;
    return total->lone_bursts.squares + fmax(total->squares - mean_square, 0) +
           COUNT_SQUARE * mean_square;
}

double scatter_total_greatest(const struct scatter_total *total, bool bursts) {
    return bursts ? total->lone_bursts.greatest : total->lone_samples.greatest;
}
