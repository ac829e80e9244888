/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * run_log.h - runs that are still to come into one: each new one behind the others, and merged with
 * the one before as soon as it is half as long, so that a word is copied a few times only, however
 * short the runs are that come.
 */
#ifndef HCCT_RUN_LOG_H
#define HCCT_RUN_LOG_H

#include "common/tree/budget.h"
#include "common/tree/run.h"

#define RUN_LOG_RUNS 64u /* each more than twice as long as the next */

struct run_log {
    struct budget *budget;
    uint64_t *word, *aside; /* aside: half as much, for the shorter one of two */
    size_t n, room;         /* words; each run's end is one */
    size_t start[RUN_LOG_RUNS];
    unsigned runs;
    uint64_t weight; /* of all words */
    size_t added;    /* words that the runs had when they came */
};

void run_log_init(struct run_log *log, struct budget *budget);
void run_log_free(struct run_log *log);

/* Where a run of so many words can be written. NULL: no memory. */
uint64_t *run_log_room(struct run_log *log, size_t words);

/* A run of n words stands there, whose weights make `weight`; that of the log must stay below
 * RUN_TOTAL_MAX. */
void run_log_add(struct run_log *log, size_t n, uint64_t weight);

/* All as one run, which the log holds until it is cleared. There must be one. */
const uint64_t *run_log_all(struct run_log *log);
void run_log_clear(struct run_log *log);

#endif
