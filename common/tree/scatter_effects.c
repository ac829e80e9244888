/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * scatter_effects.c - sorted lists that are merged, and the ratio.
 */
#include "common/tree/scatter_effects.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/share_class.h"

#define EFFECTS_MOST 8192 /* functions of folded processes */
#define LIGHT        4096 /* a function below one part in so many is the first to go */
#define LEAST_MET    10   /* clusters that have met a function: fewer tell nothing */

static int compare(const void *a, const void *b) {
    const struct scatter_effect *x = a, *y = b;
    if (x->frame != y->frame)
        return x->frame < y->frame ? -1 : 1;
    return x->at_work - y->at_work;
}

void scatter_effects_sort(struct scatter_effects *effects) {
    if (effects->n > 1)
        qsort(effects->effect, effects->n, sizeof *effects->effect, compare);
}

void scatter_effect_add(struct scatter_effect *effect, const struct scatter_effect *more) {
    effect->met += more->met;
    effect->weight += more->weight;
    effect->beside += more->beside;
    effect->shared += more->shared;
    effect->shared_square += more->shared_square;
}

/* Into `both`, which has room for all; returns how many there are. */
static size_t unite(struct scatter_effect *both, const struct scatter_effects *one,
                    const struct scatter_effects *other) {
    size_t n = 0, i = 0, j = 0;
    while (i < one->n && j < other->n) {
        const struct scatter_effect *a = &one->effect[i], *b = &other->effect[j];
        int order = compare(a, b);
        both[n] = order <= 0 ? *a : *b;
        if (order == 0)
            scatter_effect_add(&both[n], b);
        n++;
        i += order <= 0;
        j += order >= 0;
    }
    while (i < one->n)
        both[n++] = one->effect[i++];
    while (j < other->n)
        both[n++] = other->effect[j++];
    return n;
}

static size_t without_light(struct scatter_effect *effect, size_t n, double least) {
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (effect[i].weight >= least)
            effect[kept++] = effect[i];
    return kept;
}

void scatter_effects_add(struct scatter_effects *effects, const struct scatter_effects *more) {
    size_t n = effects->n + more->n;
    struct scatter_effect *both = n > 0 ? calloc(n, sizeof *both) : NULL;
    if (n > 0 && both == NULL)
        return;
    n = unite(both, effects, more);
    effects->weight += more->weight;
    effects->independent += more->independent;
    effects->total += more->total;
    effects->drawn_alone |= more->drawn_alone;
    if (n > EFFECTS_MOST)
        for (double least = effects->weight / LIGHT; 2 * n > EFFECTS_MOST; least *= 2)
            n = without_light(both, n, least);
    free(effects->effect);
    effects->effect = both;
    effects->n = n;
}

void scatter_effects_free(struct scatter_effects *effects) {
    free(effects->effect);
    *effects = (struct scatter_effects){0};
}

static float ratio(double varied, double independent) {
    return varied > 0 && independent > 0 ? (float)(varied / independent) : 0;
}

/* A process in which the function has the share q has it too much by what is beside it, and by
 * (q - p) times what the process's weight is off by. */
float scatter_effect_of(const struct scatter_effects *all, const struct scatter_effect *function) {
    double share = all->weight > 0 ? function->weight / all->weight : 0;
    if (all->drawn_alone)
        return ratio(function->beside, share * all->independent);
    if (function->met < LEAST_MET || share_class(share) == SHARE_CLASSES)
        return 0;
    double varied = function->beside + function->shared_square - 2 * share * function->shared +
                    share * share * all->total;
    return ratio(varied, share * (1 - share) * all->independent);
}
