/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * scatter.h - how much the weights of functions are left to chance, estimated from the samples.
 *
 * Samples that see the same thing again and again say less than independent ones, and samples so
 * near to each other that little happens in between say more. So what samples of each function
 * varied by is put beside what independent samples of the same weights would have: their ratio is
 * the design effect of survey statistics. doc/sampling.md derives it.
 *
 * Clusters are what is drawn by itself: a burst of samples, without bursts a sample. For each
 * function, on the stack at all and at work, the squares of what it weighs in each cluster are
 * added up, and the products with what it weighs in the next one of the thread and in the one after
 * that.
 *
 * Bounded: so many functions of a process, so many levels of a stack, so many functions of a burst;
 * what is light goes first. Not thread-safe: the process's lock.
 */
#ifndef HCCT_SCATTER_H
#define HCCT_SCATTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/share_class.h"
#include "common/tree/scatter_effects.h"
#include "common/tree/scatter_total.h"

/* All only grow, nearly. By class of share (share_class.h), in units of draws.h: */
struct scatter_sums {
    uint64_t independent[SHARE_CLASSES]; /* squares of what was left to chance in samples ... */
    uint64_t varied[SHARE_CLASSES]; /* ... times what weights of functions varied by to what they
                                     * had, were each sample drawn by itself */
    uint64_t total;                 /* what the weight of all varied by, squared */
    /* in ns: */
    uint64_t attached; /* what samples stand for at which children of fork attached by chance */
    uint64_t lone;     /* the greatest weight that was drawn by itself (scatter_total.h) */
};

static inline void scatter_add_sums(struct scatter_sums *sums, const struct scatter_sums *more) {
    for (int i = 0; i < SHARE_CLASSES; i++) {
        sums->varied[i] += more->varied[i];
        sums->independent[i] += more->independent[i];
    }
    sums->total += more->total;
    sums->attached += more->attached;
    sums->lone = more->lone > sums->lone ? more->lone : sums->lone;
}

struct scatter;        /* of a process */
struct scatter_thread; /* where one of its threads is, and its last clusters */

/* `independent`: each sample was drawn by itself, as events are; else by steps, or in bursts. NULL:
 * no memory. */
struct scatter *scatter_new(bool independent);
void scatter_free(struct scatter *scatter);

/* NULL: no memory. All below may be called with NULL, and do nothing. */
struct scatter_thread *scatter_thread_new(struct scatter *scatter);
/* The thread is gone: its last cluster counts. */
void scatter_thread_free(struct scatter_thread *thread);

/* No samples come any more: the last cluster of each thread counts. */
void scatter_finish(struct scatter *scatter);

/* A function was called: `routine` is the same wherever that is, `frame` is one of its frames. */
void scatter_push(struct scatter_thread *thread, uint64_t routine, uint32_t frame);
/* A level that only tells where in the function above it the thread was. */
void scatter_push_leaf_pc(struct scatter_thread *thread);
void scatter_repeat(struct scatter_thread *thread, uint64_t n); /* n times the innermost function */
void scatter_pop(struct scatter_thread *thread, uint64_t n);

void scatter_credit(struct scatter_thread *thread, const struct scatter_sample *sample);
/* One whose context is not known (yet): it came as a copy of the stack. */
void scatter_skip(struct scatter_thread *thread, const struct scatter_sample *sample);

/* Adds what is known so far; nothing where samples are independent, as their squares say all.
 * `bursts`: clusters are bursts. NULL is allowed. */
void scatter_sum(const struct scatter *scatter, bool bursts, struct scatter_sums *sums);

/* Calls `see` with each frame that is known here: they must stay what they are. */
void scatter_each_frame(const struct scatter *scatter, void see(uint32_t frame));

/* What is known of functions, sorted, which the caller frees; nothing where there is no memory.
 * NULL is allowed. */
struct scatter_effects scatter_effects(const struct scatter *scatter, bool bursts);

#endif
