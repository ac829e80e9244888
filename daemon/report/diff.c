/*
 * diff.c - what is known of each context on both sides, and whether the change goes beyond it.
 *
 * Certain bounds. All weights of a profile add up to N, those of "[~]" frames included. So what a
 * context may have beyond its count stands somewhere else in the profile:
 *   - in a "[~]" frame that hangs below one of its callers, or
 *   - where the summary has given a counter from one context to another, in the error of another
 *     context's count: at most `unseen` for each context that the summary tells apart, and at most
 *     all other errors together. A context of a grouped profile (by function) gathers several such;
 *     as many are taken to be missing as the profile that knows more of them has there.
 *
 * Sampling. A process that weighs N in n looks (looks.h) is taken for n independent drawings, each
 * of weight w = N / n: a context of weight T has the variance w T (1 - T / M), where M is the
 * weight of all processes. The two profiles are independent, so variances add up. Looks come in
 * whole numbers: the step from one to the next is allowed for by half of w from either side (Yates'
 * correction), without which contexts of a few looks would go beyond the interval far more often
 * than one in twenty. Weights that differ among themselves (a walk after a sleep stands for more)
 * make intervals somewhat too narrow, sampling at equal distances mostly too wide.
 */
#include "daemon/report/diff.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/report/diff_judge.h"
#include "daemon/report/memory.h"

#define Z_95        1.96
#define LEAST_LOOKS 6 /* all on one side: 1 in 32 by chance; of 5 it is 1 in 16 */

/* ---- one weight ---- */

static uint64_t scaled_up(double scale, uint64_t weight) {
    double product = ceil(scale * (double)weight);

    return product < (double)INT64_MAX ? (uint64_t)product : INT64_MAX;
}

static uint64_t smaller(uint64_t a, uint64_t b) {
    return a < b ? a : b;
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

/* What one look stands for. Of a process that was never looked at nothing is known: it gets what
 * the others have. */
static double step(const struct diff *diff, int side, uint32_t process) {
    const struct diff_group *group = &diff->join->group[side][process];

    if (process == 0 || group->total == 0)
        group = &diff->join->all[side];
    return group->kind == LOOKS_SAMPLED && group->looks > 0 ? (double)group->total / group->looks
                                                            : 0;
}

static double variance(const struct diff *diff, int side, uint32_t process, uint64_t weight) {
    double share = (double)weight / (double)diff->join->all[side].total;

    return share < 1 ? step(diff, side, process) * (double)weight * (1 - share) : 0;
}

/* The mean of both sides, as wide as weights before are shown. */
static double mean_step(const struct diff *diff, uint32_t process) {
    return (diff->scale * step(diff, DIFF_BEFORE, process) + step(diff, DIFF_AFTER, process)) / 2;
}

static double interval(const struct diff *diff, uint32_t process,
                       const struct diff_bounds side[DIFF_SIDES]) {
    double sum =
        diff->scale * diff->scale * variance(diff, DIFF_BEFORE, process, side[DIFF_BEFORE].count) +
        variance(diff, DIFF_AFTER, process, side[DIFF_AFTER].count);

    if (diff->sampling != DIFF_SAMPLED || !(sum > 0))
        return 0;
    return Z_95 * sqrt(sum) + mean_step(diff, process);
}

struct diff_weight diff_judge(const struct diff *diff, uint32_t process,
                              const struct diff_bounds side[DIFF_SIDES]) {
    const struct diff_bounds *before = &side[DIFF_BEFORE], *after = &side[DIFF_AFTER];
    struct diff_weight w = {
        .after = after->count,
        .after_error = after->error,
        .after_more = after->more,
        .before = diff->scale == 1 ? before->count
                                   : (uint64_t)llround(diff->scale * (double)before->count),
        .before_error = scaled_up(diff->scale, before->error),
        .before_more = scaled_up(diff->scale, before->more),
    };

    w.interval = interval(diff, process, side);
    w.beyond = fabs(diff_change(&w)) > diff_allowed(&w);
    return w;
}

/* ---- what a context may have beyond its count ---- */

/* By node: the weight of "[~]" frames below its callers. */
static uint64_t *find_hidden(const struct diff_join *join, int side) {
    const struct profile *profile = join->profile;
    uint64_t *hidden = memory_new(profile->n_nodes, sizeof(*hidden), "contexts");
    uint64_t *pruned = memory_new(profile->n_nodes, sizeof(*pruned), "contexts");

    for (uint32_t i = 1; i < profile->n_nodes; i++) {
        const struct profile_node *node = &profile->nodes[i];

        if (node->parent == 0)
            pruned[i] += join->tally[side][i].count; /* a root itself is no context */
        else if (profile_is_pruned(profile, node->location))
            pruned[node->parent] += join->tally[side][i].count;
    }
    for (uint32_t i = 1; i < profile->n_nodes; i++) {
        uint32_t parent = profile->nodes[i].parent;

        hidden[i] = parent != 0 ? hidden[parent] + pruned[parent] : 0;
    }
    free(pruned);
    return hidden;
}

/* Inclusive sums, of both sides. */
static struct diff_tally *add_below(const struct diff_join *join, int side) {
    const struct profile *profile = join->profile;
    struct diff_tally *sum = memory_new(profile->n_nodes, sizeof(*sum), "contexts");

    memcpy(sum, join->tally[side], profile->n_nodes * sizeof(*sum));
    for (uint32_t i = profile->n_nodes - 1; i > 0; i--) {
        struct diff_tally *above = &sum[profile->nodes[i].parent];

        above->count += sum[i].count;
        above->error += sum[i].error;
        above->gathered += sum[i].gathered;
    }
    return sum;
}

static uint64_t most_gathered(const struct diff_join *join, uint32_t node) {
    uint64_t before = join->tally[DIFF_BEFORE][node].gathered;
    uint64_t after = join->tally[DIFF_AFTER][node].gathered;
    uint64_t most = before > after ? before : after;

    return most > 0 ? most : 1;
}

static struct diff_bounds own_weight(const struct diff_join *join, int side, uint32_t node,
                                     uint64_t hidden) {
    const struct diff_tally *tally = &join->tally[side][node];
    const struct diff_group *group = &join->group[side][join->profile->nodes[node].process];
    uint64_t elsewhere = join->errors[side] - tally->error, missing;

    if (__builtin_mul_overflow(most_gathered(join, node), group->unseen, &missing))
        missing = UINT64_MAX;
    return (struct diff_bounds){
        .count = tally->count,
        .error = smaller(tally->count, tally->error + group->capped),
        .more = hidden + smaller(missing, elsewhere) + group->capped,
    };
}

/* How many contexts below were missed is not known: all errors elsewhere are counted. */
static struct diff_bounds all_weight(const struct diff_join *join, int side, uint32_t node,
                                     const struct diff_tally *below, uint64_t hidden) {
    const struct diff_group *group = &join->group[side][join->profile->nodes[node].process];

    return (struct diff_bounds){
        .count = below->count,
        .error = smaller(below->count, below->error + group->capped),
        .more = hidden + (join->errors[side] - below->error) + group->capped,
    };
}

bool diff_is_context(const struct diff *diff, uint32_t node) {
    const struct profile_node *it = &diff->profile->nodes[node];

    return it->parent != 0 && !profile_is_pruned(diff->profile, it->location);
}

/* What is in a "[~]" depends on what else there was, and a root itself is no context. */
static void forget_verdicts(struct diff *diff, uint32_t node) {
    if (diff_is_context(diff, node))
        return;
    diff->self[node].beyond = false;
    if (diff->profile->nodes[node].parent != 0)
        diff->inclusive[node].beyond = false;
}

static void find_bounds(struct diff_join *join, int side) {
    uint32_t n = join->profile->n_nodes;
    struct diff_tally *below = add_below(join, side);
    uint64_t *hidden = find_hidden(join, side);

    join->own[side] = memory_new(n, sizeof(*join->own[side]), "contexts");
    join->below[side] = memory_new(n, sizeof(*join->below[side]), "contexts");
    for (uint32_t i = 1; i < n; i++) {
        join->own[side][i] = own_weight(join, side, i, hidden[i]);
        join->below[side][i] = all_weight(join, side, i, &below[i], hidden[i]);
    }
    free(below);
    free(hidden);
}

/* Would the change be beyond its interval, if all of the weight were on one side? */
static bool can_tell(const struct diff *diff, uint32_t process, const struct diff_weight *w) {
    double least = diff->sampling == DIFF_SAMPLED ? LEAST_LOOKS * mean_step(diff, process) : 0;
    double weight = (double)w->before + (double)w->after;

    return w->beyond || (weight > 0 && weight >= least);
}

static void weigh(struct diff *diff) {
    struct diff_join *join = diff->join;
    uint32_t n = diff->profile->n_nodes;

    for (int side = 0; side < DIFF_SIDES; side++)
        find_bounds(join, side);
    diff->self = memory_new(n, sizeof(*diff->self), "contexts");
    diff->inclusive = memory_new(n, sizeof(*diff->inclusive), "contexts");
    for (uint32_t i = 1; i < n; i++) {
        struct profile_node *node = &diff->profile->nodes[i];
        const struct diff_bounds own[DIFF_SIDES] = {join->own[0][i], join->own[1][i]};
        const struct diff_bounds below[DIFF_SIDES] = {join->below[0][i], join->below[1][i]};

        diff->self[i] = diff_judge(diff, node->process, own);
        diff->inclusive[i] = diff_judge(diff, node->process, below);
        node->count = own[DIFF_AFTER].count;
        node->error = own[DIFF_AFTER].error;
        forget_verdicts(diff, i);
        diff->compared += diff_is_context(diff, i) && can_tell(diff, node->process, &diff->self[i]);
        diff->beyond += diff->self[i].beyond;
    }
}

/* ---- the whole ---- */

static void describe_side(struct diff *diff, int side, const char *name) {
    const struct diff_join *join = diff->join;
    struct diff_side *it = &diff->side[side];
    uint64_t most = 0;

    it->name = profile_string(diff->profile, name);
    it->total = join->all[side].total;
    it->looks = join->all[side].kind == LOOKS_SAMPLED ? join->all[side].looks : 0;
    it->unseen = join->all[side].unseen;
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
    enum looks_kind before = join->all[DIFF_BEFORE].kind, after = join->all[DIFF_AFTER].kind;

    if (before == LOOKS_UNKNOWN || after == LOOKS_UNKNOWN)
        return DIFF_UNKNOWN;
    return before == LOOKS_EXACT && after == LOOKS_EXACT ? DIFF_EXACT : DIFF_SAMPLED;
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
        describe_side(diff, side, options->name[side]);
    diff->before_total = diff->side[DIFF_BEFORE].total;
    diff->after_total = diff->side[DIFF_AFTER].total;
    diff->sampling = both_sampled(diff->join);
    if (diff->mode == DIFF_AUTO)
        diff->mode = diff->sampling == DIFF_EXACT ? DIFF_ABSOLUTE : DIFF_SHARES;
    if (diff->mode == DIFF_SHARES)
        diff->scale = (double)diff->after_total / (double)diff->before_total;
    diff->total.before = (uint64_t)llround(diff->scale * (double)diff->before_total);
    diff->total.after = diff->after_total;
    weigh(diff);
    return true;
}

void diff_free(struct diff *diff) {
    diff_join_free(diff->join);
    profile_free(diff->profile);
    free(diff->self);
    free(diff->inclusive);
    *diff = (struct diff){0};
}

const char *diff_sampling_word(const struct diff *diff) {
    static const char *const words[] = {
        [DIFF_SAMPLED] = "sampled", [DIFF_EXACT] = "exact", [DIFF_UNKNOWN] = "unknown"};
    return words[diff->sampling];
}
