/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * ends.c - the process's CPU clock, less the clocks of all threads that are there, and of those
 * that have ended as they were at their last reading: the rest is what ends have used.
 *
 * Threads without a context are in it as well. So a measurement that finds more than an end can
 * take is dropped, and what such threads use by and by makes ends too long by REST_MAX_NS at most.
 */
#include "preload/life/ends.h"

#include <time.h>

#include "preload/life/agent.h"
#include "preload/life/mean.h"
#include "preload/sample/ticker.h"

#define ENDS_EACH   16     /* a measurement for so many ends, or for as many as there are threads */
#define REST_MAX_NS 200000 /* one is not taken to use more */
#define REST_PART   4      /* one part in so many of a measurement is learned */

uint64_t ends_rest(void) {
    return atomic_load_explicit(&agent.process->ends.rest_ns, memory_order_relaxed);
}

/* Of all threads that are there, but for the one that ends. */
static uint64_t clocks_of_others(const struct agent_thread *self, uint64_t *threads) {
    uint64_t sum = 0;
    *threads = 0;
    for (struct agent_thread *t = thread_first(); t != NULL; t = t->next) {
        if (t == self || atomic_load(&t->used) == 0 || t->ending || t->tid == 0)
            continue;
        sum += ticker_now(ticker_cpu_clock(t->tid));
        ++*threads;
    }
    return sum;
}

/* None has ended since the last measurement in a child that a handler forks in the middle of one:
 * there all of this is zero. */
static void learn(struct agent_ends *ends, uint64_t unseen, uint64_t ended) {
    if (ended == ends->measured)
        return;
    uint64_t more = unseen - ends->unseen_ns, each = more / (ended - ends->measured);
    uint64_t rest = atomic_load(&ends->rest_ns);
    bool plausible = unseen >= ends->unseen_ns && each <= REST_MAX_NS;
    if (plausible && ends->measured != 0)
        atomic_store(&ends->rest_ns, mean_after(rest, each, REST_PART));
}

/* Threads run meanwhile: the process's clock is taken from before and after. */
static void measure(struct agent_ends *ends, const struct agent_thread *self) {
    uint64_t threads, ended = atomic_load(&ends->count), seen = atomic_load(&ends->seen_ns);
    uint64_t before = ticker_now(CLOCK_PROCESS_CPUTIME_ID);
    uint64_t others = clocks_of_others(self, &threads);
    uint64_t used = before + (ticker_now(CLOCK_PROCESS_CPUTIME_ID) - before) / 2;
    uint64_t unseen = used - others - seen;
    learn(ends, unseen, ended);
    ends->unseen_ns = unseen;
    ends->measured = ended;
    ends->due = ended + (threads > ENDS_EACH ? threads : ENDS_EACH);
}

void ends_note(struct agent_thread *thread) {
    struct agent_ends *ends = &agent.process->ends;
    uint32_t nobody = 0;
    atomic_fetch_add(&ends->seen_ns, ticker_now(CLOCK_THREAD_CPUTIME_ID));
    uint64_t count = atomic_fetch_add(&ends->count, 1) + 1;
    if (count < ends->due || !atomic_compare_exchange_strong(&ends->busy, &nobody, 1))
        return;
    if (count >= ends->due) /* another thread may have measured just now */
        measure(ends, thread);
    atomic_store(&ends->busy, 0);
}
