/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * plan.h - what rate, burst, clock and the daemon's control word come to, for the timers of a
 * thread.
 */
#ifndef HCCT_PLAN_H
#define HCCT_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#define SAMPLING_ENDLESS UINT64_MAX

/* Times in ns. */
struct sampling_plan {
    uint64_t coarse_ns; /* CPU time between ticks of the CPU timer */
    uint64_t fine_ns;   /* between the walks of a burst, 0: no bursts */
    uint64_t length_ns; /* of a burst, CPU time; SAMPLING_ENDLESS: as long as the thread runs */
    uint64_t wall_ns;   /* between checks of a sleeping thread, 0: not checked */
    uint64_t asks_ns;   /* between ticks of a sleeping thread that is idle, 0: there are none */
    bool off_only;      /* with wall_ns: CPU time has no weight */
    bool idle;          /* no walks: ticks only check whether there is something to do */
};

/* Any context. */
static inline bool plan_is_endless(const struct sampling_plan *plan) {
    return plan->length_ns == SAMPLING_ENDLESS;
}

/* Any context. */
static inline bool plan_is_same(const struct sampling_plan *a, const struct sampling_plan *b) {
    return a->coarse_ns == b->coarse_ns && a->fine_ns == b->fine_ns &&
           a->length_ns == b->length_ns && a->wall_ns == b->wall_ns && a->asks_ns == b->asks_ns &&
           a->off_only == b->off_only && a->idle == b->idle;
}

#endif
