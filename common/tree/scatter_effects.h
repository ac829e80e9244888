/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * scatter_effects.h - how much the weights of single functions are left to chance, in one process
 * or in several.
 *
 * What a function weighs in a process is its share of the process's weight, and what it has beside
 * that. The latter varies by what samples in the process have met. Where a process is one of many
 * short ones that weight is left to chance, too: a function that is in few of them varies with
 * these. Both add up over processes, whose samples are independent, so that nothing needs to be
 * known of single ones. doc/sampling.md derives it.
 */
#ifndef HCCT_SCATTER_EFFECTS_H
#define HCCT_SCATTER_EFFECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Sums over processes; squares of ns. */
struct scatter_effect {
    uint32_t frame; /* of the function, at any call site */
    bool at_work;   /* of its self weight, else of its inclusive one */
    uint64_t met;   /* clusters of samples that have met it */
    double weight;
    double beside;        /* what it varies by beside its share of its process; where samples are
                           * drawn by themselves, all that it varies by */
    double shared;        /* what the weight of the process varies by, times that share, ... */
    double shared_square; /* ... and times its square */
};

/* Sorted by frame and at_work. Zeroed is empty. */
struct scatter_effects {
    struct scatter_effect *effect;
    size_t n;
    double weight;      /* of all samples */
    double independent; /* of them, the squares */
    double total;       /* what the weights of processes vary by */
    bool drawn_alone;   /* each sample was drawn by itself */
};

/* Adds the sums of `more`, which is of the same function. */
void scatter_effect_add(struct scatter_effect *effect, const struct scatter_effect *more);

/* Sorts them. */
void scatter_effects_sort(struct scatter_effects *effects);
/* Adds `more`, sorted as well. Beyond some thousands the lightest are left out; without memory, all
 * of `more`. */
void scatter_effects_add(struct scatter_effects *effects, const struct scatter_effects *more);
void scatter_effects_free(struct scatter_effects *effects);

/* The design effect of a function that has these sums: the variance of its share by what it would
 * be, were all samples independent. Where they are, the variance of its weight by what it would be,
 * were they drawn as those of all functions. 0: too little is known, or the share is too light. */
float scatter_effect_of(const struct scatter_effects *all, const struct scatter_effect *function);

#endif
