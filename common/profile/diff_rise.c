/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * diff_rise.c - what became heavier by more than is allowed, for those who let a machine judge.
 */
#include <stdio.h>
#include <stdlib.h>

#include "common/profile/diff_judge.h"
#include "common/profile/tree_view.h"

static bool rose(const struct diff_weight *w, double fraction) {
    return diff_change(w) - w->margin > fraction * (double)w->before;
}

/* Of a function or context that rose, self comes first: it is what tells who is to blame. */
static bool note(struct diff_rise *rise, const struct diff_weight *self,
                 const struct diff_weight *inclusive, double fraction) {
    bool own = rose(self, fraction);
    const struct diff_weight *w = own ? self : inclusive;
    if (!own && !rose(inclusive, fraction))
        return false;
    rise->n++;
    if (rise->n > 1 && (own < !rise->inclusive ||
                        (own == !rise->inclusive && diff_change(w) <= diff_change(&rise->weight))))
        return false;
    rise->weight = *w;
    rise->inclusive = !own;
    return true;
}

static void name_worst(struct diff_rise *rise, const char *name) {
    snprintf(rise->worst, sizeof rise->worst, "%s", name);
}

static void blame(struct diff_rise *rise, const struct diff_weight *self, const char *name) {
    if (diff_change(self) <= diff_change(&rise->blame))
        return;
    rise->blame = *self;
    snprintf(rise->blamed, sizeof rise->blamed, "%s", name);
}

static void judge_contexts(const struct diff *diff, double fraction, struct diff_rise *rise) {
    for (uint32_t i = 1; i < diff->profile->n_nodes; i++) {
        if (!diff_is_context(diff, i))
            continue;
        blame(rise, &diff->self[i], tree_name(diff->profile, i));
        if (note(rise, &diff->self[i], &diff->inclusive[i], fraction))
            name_worst(rise, tree_name(diff->profile, i));
    }
}

static void judge_functions(const struct diff *diff, double fraction, struct diff_rise *rise) {
    const struct profile *profile = diff->profile;
    uint32_t n;
    struct diff_function *functions = diff_functions(diff, &n);
    for (uint32_t i = 0; i < n; i++) {
        const struct profile_location *place = &profile->locations[functions[i].location];
        const char *name = profile->functions[place->lines[0].function].name;
        blame(rise, &functions[i].self, name);
        if (note(rise, &functions[i].self, &functions[i].inclusive, fraction))
            name_worst(rise, name);
    }
    free(functions);
}

void diff_find_rises(const struct diff *diff, double fraction, bool contexts,
                     struct diff_rise *rise) {
    *rise =
        (struct diff_rise){.total = diff->mode == DIFF_ABSOLUTE && rose(&diff->total, fraction)};
    if (contexts)
        judge_contexts(diff, fraction, rise);
    else
        judge_functions(diff, fraction, rise);
}
