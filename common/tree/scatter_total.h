/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * scatter_total.h - how much the weight of all is left to chance.
 *
 * Steps cover a thread's time without gaps, so that only its ends are left to chance; of bursts
 * their number is, and what each of them weighs. A thread with one sample, or with one burst, is
 * most often one of many short ones: whether it has one at all is chance, too. Samples that were
 * taken by a coin stand for others that were not. doc/sampling.md derives it.
 *
 * Whether the context of a sample is known is of no account here. Not thread-safe.
 */
#ifndef HCCT_SCATTER_TOTAL_H
#define HCCT_SCATTER_TOTAL_H

#include <stdbool.h>
#include <stdint.h>

/* What is known of a sample. Times in ns. */
struct scatter_sample {
    uint64_t weight;
    uint64_t chance;   /* the part of it that was left to chance */
    uint64_t step;     /* the mean of what samples weigh by the law of steps */
    bool same_burst;   /* as the one before */
    bool steps;        /* however much it weighs, those are steps, and it stands for no others */
    uint64_t attached; /* by a coin (WIRE_ATTACHED, common/wire/wire.h): of its weight, what that
                        * makes it stand for; 0: not by one */
    uint64_t rarest;   /* what an event may weigh that is drawn by itself now; 0: not known */
};

/* Of a thread. Samples that were taken by a coin are `attached` alone. */
struct scatter_total_thread {
    uint64_t samples, clusters; /* so many */
    double step;
    double cluster;           /* the weight of the last cluster ... */
    double before, squares;   /* ... of those before it, and their squares */
    double attached, by_coin; /* the weight of these, and what coins make them stand for */
    bool measured;            /* a sample that was not drawn */
};

/* What was drawn by itself: squares of weights, and the greatest weight. */
struct scatter_lone {
    double squares, greatest;
};

/* Of a process: sums over threads. */
struct scatter_total {
    double attached; /* what coins make the samples stand for that were taken by one */
    /* where samples are drawn one by one */
    struct scatter_lone lone_samples;
    double ends; /* squares of steps at the ends of the other threads, and of what was measured */
    double by_coin; /* what is more than a step: the square of what is beyond it */
    /* where bursts are */
    struct scatter_lone lone_bursts;
    uint64_t bursts; /* the others: so many ... */
    double weight, squares;
};

void scatter_total_credit(struct scatter_total *total, struct scatter_total_thread *thread,
                          const struct scatter_sample *sample);
/* The thread is gone. */
void scatter_total_end(struct scatter_total *total, const struct scatter_total_thread *thread);

/* The square of what the weight of all varies by. `bursts`: clusters are bursts. */
double scatter_total_variance(const struct scatter_total *total, bool bursts);
/* The greatest weight that was drawn by itself, 0: none was. */
double scatter_total_greatest(const struct scatter_total *total, bool bursts);

/* The part of a sample's square that is beyond what steps vary by: it was taken instead of others,
 * or has the time of what ran before it. */
double scatter_by_coin(const struct scatter_sample *sample);

#endif
