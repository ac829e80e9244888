/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * eval.h - how well a profile approximates an exact one: the articles' measures.
 *
 * D'Elia, Demetrescu, Finocchi: Mining hot calling contexts in small space (2015), section 5.2,
 * and figures 9 to 12 of section 6. In its terms:
 *
 *   w(e)     count of context e in the exact profile, w~(e) in the approximate one
 *   N        what the exact profile weighs in all
 *   H        the hot contexts: w(e) >= floor(phi N)
 *   A        those that the approximate profile reports as hot: its count is at least floor(phi
 * N'), where N' is its own total tree     the contexts in A and their callers: the (phi,
 * epsilon)-HCCT HCCT     the contexts in H and their callers
 *
 * Where the approximate profile saw only a part of the stream (bursts, sampling), its counts are
 * divided by that part, N' / N, before errors are computed, as in section 6.4.
 *
 * Pure: no file, no output.
 */
#ifndef HCCT_EVAL_H
#define HCCT_EVAL_H

#include "common/profile/eval_join.h"

#define EVAL_TAUS_MAX    32
#define EVAL_DEFAULT_PHI 1e-4 /* section 5.3 */

enum eval_by { EVAL_BY_AUTO, EVAL_BY_SITE, EVAL_BY_FUNCTION };

struct eval_options {
    double phi; /* 0: that of the approximate profile, else EVAL_DEFAULT_PHI */
    double tau[EVAL_TAUS_MAX];
    unsigned n_taus; /* 0: the default ones */
    enum eval_by by; /* auto: site when both are of the same collector of ours */
    bool no_scale;   /* otherwise counts are scaled when the totals differ by more than epsilon N */
    const char *exe; /* as eval_join() takes it, or NULL */
};

/* Hot edge coverage, 5.2 (2), for one tau. */
struct eval_coverage {
    double tau;
    uint64_t hot;     /* contexts of the exact profile with w(e) >= tau * w_max */
    uint64_t covered; /* of these, in the tree; coverage is covered / hot */
};

/* Counter error, 5.2 (5), over some contexts: |w(e) - w~(e)| / w(e). */
struct eval_counter_error {
    uint64_t contexts; /* with a counter, and known to the exact profile */
    uint64_t unknown;  /* with a counter, and not known to it: not in max and average */
    double max, average;
    uint32_t worst; /* the context of max; 0: none */
};

struct eval {
    struct eval_join join;
    double phi, epsilon; /* epsilon of the approximate profile, 0: none, or not known */
    bool phi_is_given, by_is_given;
    double scale; /* what counts of the approximate profile were multiplied by */
    bool scaled;
    const struct profile *profile[EVAL_SIDES];

    double overlap;        /* 5.2 (1): sum of w(e) over the tree / N */
    double overlap_shares; /* sum, over all contexts, of the smaller of w / N and w~ / N': the form
                            * that does not take the tree for a part of the exact one */
    struct eval_coverage coverage[EVAL_TAUS_MAX];
    unsigned n_coverage;
    uint64_t w_max; /* of the hottest context */

    /* 5.2 (3): contexts with weight that are not in the tree; hotness is w(e) / w_max */
    uint64_t uncovered;
    double uncovered_max, uncovered_average;
    uint32_t uncovered_hottest; /* context; 0: none */

    uint64_t hot, reported;              /* |H|, |A| */
    uint64_t false_positives;            /* 5.2 (4): |A \ H| */
    uint64_t false_negatives;            /* |H \ A| */
    uint32_t missed_hottest;             /* of these; 0: none */
    struct eval_counter_error hot_error; /* over H */
    struct eval_counter_error error;     /* over all that have a counter */
    /* Counts that break count - error <= w <= count, of those that have a counter and are known to
     * the exact profile; not where counts were scaled. */
    uint64_t out_of_bounds;

    /* Figure 9: the nodes of the tree, in H, in A \ H, the rest */
    uint64_t tree, tree_hot, tree_false, tree_cold;
    uint64_t hcct;        /* nodes of the HCCT */
    uint64_t cct;         /* contexts of the exact profile as it stands there */
    bool exact_is_sample; /* the exact profile did not see all: walks, bursts, one call in n */
    double exact_error;   /* largest error of a count of the exact profile / N: above 0, it isn't */
};

/* Fills `eval`, which eval_free() gives back. False: they can't be compared, and `error` has a
 * sentence that says why; nothing is to be given back. The profiles must live as long as `eval`. */
bool eval_compare(struct eval *eval, const struct profile *exact, const struct profile *approx,
                  const struct eval_options *options, char *error, size_t error_bytes);
void eval_free(struct eval *eval);

/* covered / hot, and likewise; 1 when there is nothing to cover. */
double eval_share(uint64_t part, uint64_t whole);

#endif
