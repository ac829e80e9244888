/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * process_stats.h - what is counted of one process, or of several together
 * (common/wire/counters.h).
 */
#ifndef HCCT_PROCESS_STATS_H
#define HCCT_PROCESS_STATS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/tree/burst_sums.h"
#include "common/tree/draws.h"
#include "common/tree/scatter.h"
#include "common/wire/wire.h"

/* How the walks of raw stack samples ended, under the names of common/wire/counters.h; `refused`:
 * never unwound, as there was no room or the worker failed; in no_rule, too. */
#define DEFERRED_COUNTERS(X)                                                                       \
    X(complete)                                                                                    \
    X(truncated)                                                                                   \
    X(no_module)                                                                                   \
    X(no_rule)                                                                                     \
    X(bad_stack)                                                                                   \
    X(short_copy)                                                                                  \
    X(refused)

/* Raw stack samples that are in the tree. */
struct deferred_counts {
    uint64_t credited; /* all of them */
#define DECLARE(member) uint64_t member;
    DEFERRED_COUNTERS(DECLARE)
#undef DECLARE
};

/* Sums over all threads, living and ended. */
struct process_stats {
    uint64_t counter[WIRE_COUNTERS];
    uint64_t cpu_ns;  /* user and system time of the whole process, as the kernel says */
    uint32_t threads; /* ever seen */
#define DECLARE(member, by, shown, name, type) type member;
    PROCESS_COUNTERS(DECLARE)
#undef DECLARE
    uint32_t broken; /* rings that were closed because of what was in them */
    uint32_t signal; /* in use by the agent, 0: it has stepped aside */
    uint32_t rate;
    uint64_t burst_length_ns, burst_period_ns; /* 0, 0: none */
    bool off;                                  /* its sampling is paused */
    struct deferred_counts deferred;
    struct draws draws; /* of walks: what was drained so far */
    struct scatter_sums scatter;
    struct burst_sums bursts; /* of calls, that are over */
    uint64_t reading_ns;      /* CPU time to read what it has sent, under a budget */
#define DECLARE(member, type) type member;
    RESTART_COUNTERS(DECLARE)
#undef DECLARE
};

/* Of these, what only grows: it goes with the sub-windows of a window (windows.h). */
struct process_counts {
    uint64_t counter[WIRE_COUNTERS];
    uint64_t cpu_ns;
    struct deferred_counts deferred;
    struct draws draws;
};

#define PROCESS_COUNTS (sizeof(struct process_counts) / sizeof(uint64_t))

/* All that can be summed; what says how a process is sampled stays that of `sum`. */
void process_stats_add(struct process_stats *sum, const struct process_stats *more);

/* What the agent counts for a thread. */
void process_stats_add_slot(struct process_stats *sum, const struct wire_slot *slot);

/* What the agent counts for the process as a whole, beside its threads' counters; of what it counts
 * for each metric that of the one at `place`. */
void process_stats_add_session(struct process_stats *sum, struct wire_session *session,
                               uint32_t place);

#endif
