/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * eval.c - the measures, each a pass over the joined contexts.
 */
#include "common/profile/eval.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/wire/compiler.h"

static const double default_taus[] = {0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1};

/* What a context is, by context. */
struct classes {
    bool *hot;      /* in H */
    bool *reported; /* in A */
    bool *tree;     /* in A, or above such a context */
    bool *hcct;     /* in H, or above such a context */
};

double eval_share(uint64_t part, uint64_t whole) {
    return whole > 0 ? (double)part / (double)whole : 1;
}

/* ---- which contexts ---- */

/* Marks contexts with a count of floor(phi N) or more on a side, and in `above` all their callers,
 * too. */
static void mark(const struct eval *eval, int side, bool **marks, bool **above) {
    const struct eval_join *join = &eval->join;
    uint64_t threshold = (uint64_t)(eval->phi * (double)join->side[side].total);
    *marks = memory_new(join->n_contexts, sizeof(**marks), "contexts");
    *above = memory_new(join->n_contexts, sizeof(**above), "contexts");
    for (uint32_t i = join->n_contexts; i-- > 1;) {
        uint64_t count = join->contexts[i].count[side];
        (*marks)[i] = count > 0 && count >= threshold;
        (*above)[i] |= (*marks)[i];
        if ((*above)[i])
            (*above)[join->contexts[i].parent] = true;
    }
}

static bool is_context(const struct eval_join *join, uint32_t i) {
    return join->contexts[i].parent != 0;
}

/* ---- the measures ---- */

static void measure_overlap(struct eval *eval, const struct classes *classes) {
    const struct eval_join *join = &eval->join;
    double total[EVAL_SIDES] = {(double)join->side[0].total, (double)join->side[1].total};
    uint64_t in_tree = 0;
    for (uint32_t i = 1; i < join->n_contexts; i++) {
        const struct eval_context *context = &join->contexts[i];
        double exact = (double)context->count[EVAL_EXACT] / total[EVAL_EXACT];
        if (classes->tree[i])
            in_tree += context->count[EVAL_EXACT];
        eval->overlap_shares +=
            fmin(exact, (double)context->count[EVAL_APPROX] / total[EVAL_APPROX]);
    }
    eval->overlap = (double)in_tree / total[EVAL_EXACT];
}

static void measure_coverage(struct eval *eval, const struct classes *classes) {
    const struct eval_join *join = &eval->join;
    for (unsigned k = 0; k < eval->n_coverage; k++) {
        struct eval_coverage *coverage = &eval->coverage[k];
        for (uint32_t i = 1; i < join->n_contexts; i++) {
            uint64_t weight = join->contexts[i].count[EVAL_EXACT];
            if (weight == 0 || (double)weight / (double)eval->w_max < coverage->tau)
                continue;
            coverage->hot++;
            coverage->covered += classes->tree[i];
        }
    }
}

static void measure_uncovered(struct eval *eval, const struct classes *classes) {
    const struct eval_join *join = &eval->join;
    uint64_t max = 0;
    double sum = 0;
    for (uint32_t i = 1; i < join->n_contexts; i++) {
        uint64_t weight = join->contexts[i].count[EVAL_EXACT];
        if (weight == 0 || classes->tree[i])
            continue;
        eval->uncovered++;
        sum += (double)weight;
        if (weight > max) {
            max = weight;
            eval->uncovered_hottest = i;
        }
    }
    if (eval->uncovered == 0)
        return;
    eval->uncovered_max = (double)max / (double)eval->w_max;
    eval->uncovered_average = sum / (double)eval->uncovered / (double)eval->w_max;
}

static void measure_reported(struct eval *eval, const struct classes *classes) {
    const struct eval_join *join = &eval->join;
    uint64_t missed = 0;
    for (uint32_t i = 1; i < join->n_contexts; i++) {
        uint64_t weight = join->contexts[i].count[EVAL_EXACT];
        eval->hot += classes->hot[i];
        eval->reported += classes->reported[i];
        eval->false_positives += classes->reported[i] && !classes->hot[i];
        if (!classes->hot[i] || classes->reported[i])
            continue;
        eval->false_negatives++;
        if (weight > missed) {
            missed = weight;
            eval->missed_hottest = i;
        }
    }
}

/* Over all contexts with a counter; `only`: those that it marks, NULL: all. */
static void measure_error(struct eval *eval, const bool *only, struct eval_counter_error *into) {
    const struct eval_join *join = &eval->join;
    double sum = 0;
    for (uint32_t i = 1; i < join->n_contexts; i++) {
        const struct eval_context *context = &join->contexts[i];
        double exact = (double)context->count[EVAL_EXACT];
        if (context->count[EVAL_APPROX] == 0 || (only != NULL && !only[i]))
            continue;
        if (exact == 0) {
            into->unknown++;
            continue;
        }
        double error = fabs((double)context->count[EVAL_APPROX] * eval->scale - exact) / exact;
        into->contexts++;
        sum += error;
        if (into->worst == 0 || error > into->max) {
            into->max = error;
            into->worst = i;
        }
    }
    if (into->contexts > 0)
        into->average = sum / (double)into->contexts;
}

static void measure_bounds(struct eval *eval) {
    const struct eval_join *join = &eval->join;
    for (uint32_t i = 1; i < join->n_contexts; i++) {
        const struct eval_context *context = &join->contexts[i];
        uint64_t count = context->count[EVAL_APPROX], error = context->error[EVAL_APPROX];
        uint64_t exact = context->count[EVAL_EXACT];
        if (count == 0 || exact == 0)
            continue;
        eval->out_of_bounds += exact > count || (error < count && exact < count - error);
    }
}

static void measure_trees(struct eval *eval, const struct classes *classes) {
    const struct eval_join *join = &eval->join;
    for (uint32_t i = 1; i < join->n_contexts; i++) {
        if (!is_context(join, i))
            continue;
        eval->cct += join->contexts[i].in[EVAL_EXACT];
        eval->hcct += classes->hcct[i];
        if (!classes->tree[i])
            continue;
        eval->tree++;
        if (classes->hot[i])
            eval->tree_hot++;
        else if (classes->reported[i])
            eval->tree_false++;
        else
            eval->tree_cold++;
    }
}

static void measure_exact(struct eval *eval) {
    const struct eval_join *join = &eval->join;
    uint64_t error = 0;
    for (uint32_t i = 1; i < join->n_contexts; i++) {
        const struct eval_context *context = &join->contexts[i];
        if (context->count[EVAL_EXACT] > eval->w_max)
            eval->w_max = context->count[EVAL_EXACT];
        if (context->error[EVAL_EXACT] > error)
            error = context->error[EVAL_EXACT];
    }
    eval->exact_error = (double)error / (double)join->side[EVAL_EXACT].total;
}

static void measure(struct eval *eval) {
    struct classes classes;
    mark(eval, EVAL_EXACT, &classes.hot, &classes.hcct);
    mark(eval, EVAL_APPROX, &classes.reported, &classes.tree);
    measure_exact(eval);
    measure_overlap(eval, &classes);
    measure_coverage(eval, &classes);
    measure_uncovered(eval, &classes);
    measure_reported(eval, &classes);
    measure_error(eval, classes.hot, &eval->hot_error);
    measure_error(eval, NULL, &eval->error);
    if (!eval->scaled)
        measure_bounds(eval);
    measure_trees(eval, &classes);
    free(classes.hot);
    free(classes.hcct);
    free(classes.reported);
    free(classes.tree);
}

/* ---- how they are compared ---- */

static enum profile_by choose_by(const struct eval_options *options,
                                 const struct profile *const profile[EVAL_SIDES]) {
    const char *exact = eval_collector(profile[EVAL_EXACT]);
    if (options->by != EVAL_BY_AUTO)
        return options->by == EVAL_BY_SITE ? PROFILE_BY_SITE : PROFILE_BY_FUNCTION;
    return *exact != '\0' && strcmp(exact, eval_collector(profile[EVAL_APPROX])) == 0
               ? PROFILE_BY_SITE
               : PROFILE_BY_FUNCTION;
}

static void choose_taus(struct eval *eval, const struct eval_options *options) {
    const double *taus = options->n_taus > 0 ? options->tau : default_taus;
    eval->n_coverage =
        options->n_taus > 0 ? options->n_taus : (unsigned)HCCT_ARRAY_LEN(default_taus);
    for (unsigned k = 0; k < eval->n_coverage; k++)
        eval->coverage[k].tau = taus[k];
}

static bool choose_phi(struct eval *eval, const struct eval_options *options,
                       const struct profile *approx, char *error, size_t error_bytes) {
    eval->phi_is_given = options->phi > 0;
    eval->epsilon = strcmp(approx->summary, "exact") == 0 ? 0 : approx->epsilon;
    eval->phi = approx->phi > 0 ? approx->phi : EVAL_DEFAULT_PHI;
    if (eval->phi_is_given)
        eval->phi = options->phi;
    if (eval->epsilon < eval->phi)
        return true;
    snprintf(error, error_bytes,
             "phi = %g must be above the approximate profile's epsilon = %g: an error as large as "
             "what is hot tells nothing",
             eval->phi, eval->epsilon);
    return false;
}

/* A profile that left out contexts which are hot here can't be compared at this phi. */
static bool check_phi(const struct eval *eval, const struct profile *const profile[EVAL_SIDES],
                      char *error, size_t error_bytes) {
    for (int side = 0; side < EVAL_SIDES; side++) {
        if (eval->join.side[side].pruned == 0 || profile[side]->phi <= eval->phi)
            continue;
        snprintf(error, error_bytes,
                 "the %s profile leaves out what is below phi = %g: compare at that phi or above, "
                 "or write it with a smaller one",
                 side == EVAL_EXACT ? "exact" : "approximate", profile[side]->phi);
        return false;
    }
    return true;
}

static bool same_unit(const struct profile *const profile[EVAL_SIDES]) {
    return strcmp(profile[0]->unit, profile[1]->unit) == 0 &&
           strcmp(profile[0]->type, profile[1]->type) == 0;
}

static void choose_scale(struct eval *eval, const struct eval_options *options,
                         const struct profile *const profile[EVAL_SIDES]) {
    double exact = (double)eval->join.side[EVAL_EXACT].total;
    double approx = (double)eval->join.side[EVAL_APPROX].total;
    eval->scale = 1;
    eval->scaled =
        !options->no_scale && (!same_unit(profile) || fabs(exact - approx) > eval->epsilon * exact);
    if (eval->scaled)
        eval->scale = exact / approx;
}

static bool check_unit(const struct eval_options *options,
                       const struct profile *const profile[EVAL_SIDES], char *error,
                       size_t error_bytes) {
    if (!options->no_scale || same_unit(profile))
        return true;
    snprintf(error, error_bytes,
             "the exact profile counts %.60s in %.60s, the approximate one %.60s in %.60s: they "
             "can't be compared without scaling",
             profile[0]->type, profile[0]->unit, profile[1]->type, profile[1]->unit);
    return false;
}

/* A process that is not compared decides as well: one profile is recorded in one way. */
static bool is_sample(const struct profile *profile) {
    for (uint32_t i = 1; i < profile->n_processes; i++)
        if (profile->processes[i].burst_period_ns > 0 || profile->processes[i].every > 1)
            return true;
    return strcmp(eval_collector(profile), "calls") != 0;
}

bool eval_compare(struct eval *eval, const struct profile *exact, const struct profile *approx,
                  const struct eval_options *options, char *error, size_t error_bytes) {
    const struct profile *const profile[EVAL_SIDES] = {exact, approx};
    *eval = (struct eval){.by_is_given = options->by != EVAL_BY_AUTO};
    if (!choose_phi(eval, options, approx, error, error_bytes) ||
        !check_unit(options, profile, error, error_bytes) ||
        !eval_join(&eval->join, profile, choose_by(options, profile), options->exe, error,
                   error_bytes))
        return false;
    if (!check_phi(eval, profile, error, error_bytes)) {
        eval_free(eval);
        return false;
    }
    choose_taus(eval, options);
    choose_scale(eval, options, profile);
    eval->exact_is_sample = is_sample(exact);
    eval->profile[EVAL_EXACT] = exact;
    eval->profile[EVAL_APPROX] = approx;
    measure(eval);
    return true;
}

void eval_free(struct eval *eval) {
    eval_join_free(&eval->join);
}
