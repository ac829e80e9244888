/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * diff.c - what is known of each context on both sides, and whether the change goes beyond it.
 *
 * Sampling. A process that weighs N in n effective samples (chance.h: in bursts, and where
 * little happens between two samples, n depends on the share) is taken for n independent drawings,
 * each of weight w = N / n: a context of weight T has the variance w T (1 - T / M), where M is the
 * weight of all processes. Where totals are not made equal, their chance comes on top of that. The
 * two profiles are independent, so variances add up. Samples come in whole numbers: the step from
 * one to the next is allowed for by half of w from either side (Yates' correction), without which
 * contexts of a few samples would go beyond the interval far more often than one in twenty.
 * Sampling at equal distances makes intervals mostly too wide.
 *
 * Many contexts are compared at once: one in twenty would be beyond a 95 % interval by chance. So a
 * change is only beyond its error when it is by an interval so wide that none of all that are
 * compared leaves it by chance, in 95 comparisons of 100.
 */
#include "common/profile/diff.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/profile/diff_judge.h"

/* Of the CPU time of one program, from run to run: so little is not said to be a change. */
#define RUNS_DIFFER   0.02
#define Z_95          1.96
#define BY_CHANCE     0.05
#define LEAST_SAMPLES 6 /* all on one side: 1 in 32 by chance; of 5 it is 1 in 16 */

/* ---- one weight ---- */

static uint64_t scaled_up(double scale, uint64_t weight) {
    double product = ceil(scale * (double)weight);
    return product < (double)INT64_MAX ? (uint64_t)product : INT64_MAX;
}

double diff_allowed(const struct diff_weight *w) {
    bool grew = w->after >= w->before;
    double bounds = grew ? (double)w->after_error + (double)w->before_more
                         : (double)w->before_error + (double)w->after_more;
    return bounds + w->interval;
}

double diff_change(const struct diff_weight *w) {
    return (double)w->after - (double)w->before;
}

/* What one independent sample of a context stands for. Of a process that was never
 * sampled nothing is known: it gets what the others have. */
static double step(const struct diff *diff, int side, uint32_t process,
                   const struct diff_bounds *bounds) {
    const struct diff_group *group = &diff->join->group[side][process];
    if (process == 0 || group->total == 0)
        group = &diff->join->all[side];
    return group->chance.kind == CHANCE_SAMPLED
               ? chance_step(&group->chance, fmin((double)bounds->count / (double)group->total, 1),
                             bounds->effect)
               : 0;
}

/* Where events are drawn by themselves a weight varies by its own, and a share with the total. */
static double variance(const struct diff *diff, int side, uint32_t process,
                       const struct diff_bounds *bounds) {
    const struct chance *all = &diff->join->all[side].chance;
    double share = (double)bounds->count / (double)diff->join->all[side].total;
    double own = step(diff, side, process, bounds) * (double)bounds->count;
    bool scaled = diff->mode == DIFF_SHARES; /* to equal totals */
    if (all->drawn_alone && bounds->effect > 0)
        return scaled ? fmax(own * (1 - 2 * share) + share * share * all->squares, 0) : own;
    return (share < 1 ? own * (1 - share) : 0) +
           (scaled ? 0 : share * share * chance_total_variance(all));
}

/* The mean of both sides, as wide as weights before are shown. */
static double mean_step(const struct diff *diff, uint32_t process,
                        const struct diff_bounds side[DIFF_SIDES]) {
    return (diff->scale * step(diff, DIFF_BEFORE, process, &side[DIFF_BEFORE]) +
            step(diff, DIFF_AFTER, process, &side[DIFF_AFTER])) /
           2;
}

double diff_deviation(const struct diff *diff, uint32_t process,
                      const struct diff_bounds side[DIFF_SIDES]) {
    double before = (double)side[DIFF_BEFORE].count, scale = diff->scale;
    double sum = scale * scale * variance(diff, DIFF_BEFORE, process, &side[DIFF_BEFORE]) +
                 variance(diff, DIFF_AFTER, process, &side[DIFF_AFTER]) +
                 diff->scale_deviation * diff->scale_deviation * before * before;
    return diff->sampling == DIFF_SAMPLED ? sqrt(sum) : 0;
}

/* The same if nothing had changed: then both sides tell how much there is. One that has next to no
 * samples of it says too little of its own chance. */
static double unchanged_deviation(const struct diff *diff, uint32_t process,
                                  const struct diff_bounds side[DIFF_SIDES]) {
    double before = diff->scale * step(diff, DIFF_BEFORE, process, &side[DIFF_BEFORE]);
    double after = step(diff, DIFF_AFTER, process, &side[DIFF_AFTER]), samples, weight;
    if (!(before > 0) || !(after > 0))
        return 0;
    samples = diff->scale * (double)side[DIFF_BEFORE].count / before +
              (double)side[DIFF_AFTER].count / after;
    weight = samples / (1 / before + 1 / after);
    double share = weight / (double)diff->after_total;
    return share < 1 ? sqrt((before + after) * weight * (1 - share)) : 0;
}

static double interval(const struct diff *diff, uint32_t process,
                       const struct diff_bounds side[DIFF_SIDES], double quantile,
                       double deviation) {
    return deviation > 0 ? quantile * deviation + mean_step(diff, process, side) : 0;
}

struct diff_weight diff_judge(const struct diff *diff, uint32_t process,
                              const struct diff_bounds side[DIFF_SIDES]) {
    struct diff_bounds widened[DIFF_SIDES] = {side[DIFF_BEFORE], side[DIFF_AFTER]};
    const struct diff_bounds *before = &widened[DIFF_BEFORE], *after = &widened[DIFF_AFTER];
    for (int i = 0; i < DIFF_SIDES; i++)
        diff_loss_widen(diff, i, process, &widened[i]);
    struct diff_weight w = {
        .after = after->count,
        .after_error = after->error,
        .after_more = after->more,
        .before = diff->scale == 1 ? before->count
                                   : (uint64_t)llround(diff->scale * (double)before->count),
        .before_error = scaled_up(diff->scale, before->error),
        .before_more = scaled_up(diff->scale, before->more),
    };

    double deviation = diff_deviation(diff, process, side);
    w.interval = interval(diff, process, side, Z_95, deviation);
    w.margin =
        diff_allowed(&w) - w.interval +
        interval(diff, process, side, diff->quantile,
                 deviation > 0 ? fmax(deviation, unchanged_deviation(diff, process, side)) : 0);
    w.beyond = fabs(diff_change(&w)) > w.margin;
    return w;
}

bool diff_is_context(const struct diff *diff, uint32_t node) {
    return diff->profile->nodes[node].parent != 0 && !diff->join->is_hidden[node];
}

/* What is in a "[~]" depends on what else there was, and a root itself is no context. */
static void forget_verdicts(struct diff *diff, uint32_t node) {
    if (diff_is_context(diff, node))
        return;
    diff->self[node].beyond = false;
    if (diff->profile->nodes[node].parent != 0)
        diff->inclusive[node].beyond = false;
}

/* Would the change be beyond its interval, if all of the weight were on one side? */
static bool can_tell(const struct diff *diff, uint32_t node) {
    uint32_t process = diff->profile->nodes[node].process;
    const struct diff_bounds own[DIFF_SIDES] = {diff->join->own[DIFF_BEFORE][node],
                                                diff->join->own[DIFF_AFTER][node]};
    double least =
        diff->sampling == DIFF_SAMPLED ? LEAST_SAMPLES * mean_step(diff, process, own) : 0;
    double weight = diff->scale * (double)own[DIFF_BEFORE].count + (double)own[DIFF_AFTER].count;
    return weight > 0 && weight >= least;
}

/* So many standard deviations that none of n changes goes beyond them by chance, in 19 comparisons
 * of 20 (Bonferroni). */
static double quantile_of_all(uint64_t n) {
    double low = Z_95, high = 10;
    while (high - low > 1e-6) {
        double z = (low + high) / 2;
        if (erfc(z / M_SQRT2) * (double)n > BY_CHANCE)
            low = z;
        else
            high = z;
    }
    return low;
}

static void count_compared(struct diff *diff) {
    for (uint32_t i = 1; i < diff->profile->n_nodes; i++)
        diff->compared += diff_is_context(diff, i) && can_tell(diff, i);
    diff->quantile = quantile_of_all(diff->compared);
}

static void weigh(struct diff *diff) {
    struct diff_join *join = diff->join;
    uint32_t n = diff->profile->n_nodes;
    count_compared(diff);
    diff->self = memory_new(n, sizeof *diff->self, "contexts");
    diff->inclusive = memory_new(n, sizeof *diff->inclusive, "contexts");
    for (uint32_t i = 1; i < n; i++) {
        struct profile_node *node = &diff->profile->nodes[i];
        const struct diff_bounds own[DIFF_SIDES] = {join->own[0][i], join->own[1][i]};
        const struct diff_bounds below[DIFF_SIDES] = {join->below[0][i], join->below[1][i]};
        diff->self[i] = diff_judge(diff, node->process, own);
        diff->inclusive[i] = diff_judge(diff, node->process, below);
        node->count = own[DIFF_AFTER].count;
        node->error = own[DIFF_AFTER].error;
        forget_verdicts(diff, i);
        diff->beyond += diff->self[i].beyond;
    }
}

/* ---- the whole ---- */

static uint64_t total_with_lost(const struct diff_side *side) {
    return side->total + side->lost;
}

/* The total itself is an estimate. What was lost is in it, though not known by context. */
static void weigh_total(struct diff *diff) {
    double sum = chance_total_variance(&diff->join->all[DIFF_BEFORE].chance) +
                 chance_total_variance(&diff->join->all[DIFF_AFTER].chance);
    struct diff_weight *w = &diff->total;
    w->before = total_with_lost(&diff->side[DIFF_BEFORE]);
    w->after = total_with_lost(&diff->side[DIFF_AFTER]);
    w->interval = diff->sampling == DIFF_SAMPLED ? Z_95 * sqrt(sum) : 0;
    w->margin = w->interval + (w->interval > 0 ? RUNS_DIFFER * (double)w->before : 0);
    w->beyond = fabs(diff_change(w)) > w->margin;
}

static void describe_side(struct diff *diff, int side, const char *name, const char *title) {
    const struct diff_join *join = diff->join;
    struct diff_side *it = &diff->side[side];
    uint64_t most = 0;
    it->name = profile_string(diff->profile, name);
    it->title = profile_string(diff->profile, title);
    it->total = join->all[side].total;
    it->lost = join->all[side].lost;
    it->samples = join->all[side].chance.kind == CHANCE_SAMPLED
                      ? chance_samples(&join->all[side].chance, CHANCE_TYPICAL)
                      : 0;
    it->exe = "";
    for (uint32_t i = 1; i < diff->profile->n_processes; i++) {
        uint64_t total = join->group[side][i].total;
        it->n_exes += total > 0;
        if (total > most)
            it->exe = join->group[side][i].exe;
        most = total > most ? total : most;
    }
    for (uint32_t i = 1; side == DIFF_AFTER && i < diff->profile->n_processes; i++)
        diff->profile->processes[i].total = join->group[side][i].total;
}

static enum diff_sampling both_sampled(const struct diff_join *join) {
    enum chance_kind before = join->all[DIFF_BEFORE].chance.kind,
                     after = join->all[DIFF_AFTER].chance.kind;
    if (before == CHANCE_UNKNOWN || after == CHANCE_UNKNOWN)
        return DIFF_UNKNOWN;
    return before == CHANCE_EXACT && after == CHANCE_EXACT ? DIFF_EXACT : DIFF_SAMPLED;
}

static bool can_compare(const struct profile *before, const struct profile *after, char *error,
                        size_t error_bytes) {
    if (strcmp(before->unit, after->unit) != 0 || strcmp(before->type, after->type) != 0)
        snprintf(error, error_bytes,
                 "one profile counts %.60s in %.60s, the other %.60s in %.60s: these can't be "
                 "compared",
                 before->type, before->unit, after->type, after->unit);
    else if (profile_total(before) == 0)
        snprintf(error, error_bytes, "the profile before is empty: it has no weight");
    else if (profile_total(after) == 0)
        snprintf(error, error_bytes, "the profile after is empty: it has no weight");
    else
        return true;
    return false;
}

bool diff_make(struct diff *diff, const struct profile *before, const struct profile *after,
               const struct diff_options *options, char *error, size_t error_bytes) {
    const struct profile *const from[DIFF_SIDES] = {before, after};
    *diff = (struct diff){.by = options->by, .mode = options->mode, .scale = 1};
    if (!can_compare(before, after, error, error_bytes))
        return false;
    diff->join = diff_join(from, options->by);
    diff->profile = diff->join->profile;
    for (int side = 0; side < DIFF_SIDES; side++)
        describe_side(diff, side, options->name[side], from[side]->title);
    diff->before_total = diff->side[DIFF_BEFORE].total;
    diff->after_total = diff->side[DIFF_AFTER].total;
    diff->sampling = both_sampled(diff->join);
    if (before->is_past && after->is_past && before->window_ns > 0)
        diff->as_long = (double)after->window_ns / (double)before->window_ns;
    diff_find_bounds(diff->join);
    diff_choose_mode(diff);
    weigh(diff);
    weigh_total(diff);
    return true;
}

void diff_free(struct diff *diff) {
    diff_join_free(diff->join);
    profile_free(diff->profile);
    free(diff->self);
    free(diff->inclusive);
    *diff = (struct diff){0};
}

double diff_share_change(const struct diff *diff, const struct diff_weight *weight) {
    double before = (double)weight->before / (diff->scale * (double)diff->before_total);
    return 100 * ((double)weight->after / (double)diff->after_total - before);
}

const char *diff_mode_word(const struct diff *diff) {
    return diff->mode == DIFF_SHARES ? "shares" : diff->mode == DIFF_SCALED ? "scaled" : "absolute";
}

const char *diff_why_word(const struct diff *diff) {
    static const char *const words[] = {
        [DIFF_ASKED] = "asked",
        [DIFF_AS_LONG] = "as long",
        [DIFF_COUNTED] = "counted",
        [DIFF_SAME_WORK] = "same work",
        [DIFF_MAYBE_SAME] = "too few samples",
        [DIFF_LOST] = "lost",
        [DIFF_TOO_FEW] = "too few functions",
        [DIFF_OTHER_WORK] = "other work",
        [DIFF_NO_FACTOR] = "no common factor",
    };
    return words[diff->why];
}

const char *diff_sampling_word(const struct diff *diff) {
    static const char *const words[] = {
        [DIFF_SAMPLED] = "sampled", [DIFF_EXACT] = "exact", [DIFF_UNKNOWN] = "unknown"};
    return words[diff->sampling];
}
