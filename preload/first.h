/*
 * first.h - the first tick of a thread, so that threads and processes shorter than a sampling
 * period have their share.
 *
 * The CPU time of a thread counts from `since`, most often from its beginning; draw.h has the laws.
 * No tick is served before the timer runs, so what was used until then has a sample of its own, by
 * roulette: the timer expires at once then.
 */
#ifndef HCCT_FIRST_H
#define HCCT_FIRST_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/plan.h"
#include "preload/thread.h"

/* The kernel's tick against the beginning. */
enum first_phase {
    FIRST_PHASE_ANY,  /* independent */
    FIRST_PHASE_TICK, /* a tick has just come */
};

/* Starts the thread's CPU timer. `since`: CPU time from which on it is to be sampled, UINT64_MAX:
 * from now on. Any context; on the thread or while it can't run. */
void first_begin(struct agent_thread *thread, const struct sampling_plan *plan, uint64_t since,
                 enum first_phase phase);

/* The next tick of the CPU timer is first_tick's. Signal context. */
static inline bool first_pending(const struct agent_thread *thread) {
    return thread->trigger.first.pending;
}

/* Whether the tick of the CPU timer that has just come is a sample. May be asked before first_tick,
 * which goes by the same draw then. Signal context, first_pending. */
bool first_is_sample(struct agent_thread *thread, const struct sampling_plan *plan);

struct first_sample {
    uint64_t weight; /* 0: none */
    bool starts;     /* a burst may begin */
};

/* That tick's sample, and what the timer does next. Signal context, first_pending. */
struct first_sample first_tick(struct agent_thread *thread, const struct sampling_plan *plan);

#endif
