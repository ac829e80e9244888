/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * windows.c - sub-windows of a process, and its counters, which go with them as differences.
 */
#include "daemon/ingest/windows.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/base/clock.h"

_Static_assert(PROCESS_COUNTS <= SUBWINDOWS_COUNTS_MAX, "a sub-window has room for the counters");
_Static_assert(sizeof(struct process_counts) % sizeof(uint64_t) == 0, "all are 64-bit numbers");

/* ---- the clock ---- */

static uint64_t since_boot; /* of the clock of the day when the machine was started */
static uint64_t begun;      /* the first moment of it */
static pthread_once_t clock_once = PTHREAD_ONCE_INIT;

static void set_clock(void) {
    uint64_t now = clock_now();
    begun = clock_ns(CLOCK_REALTIME);
    since_boot = begun - now;
}

uint64_t windows_time(uint64_t now) {
    pthread_once(&clock_once, set_clock);
    return since_boot + now;
}

uint64_t windows_begin(void) {
    (void)windows_time(0);
    return begun;
}

#define STEP_LEAST_NS 10000000 /* less is what two readings are apart */

/* Somebody may have set the clock of the day meanwhile. */
static int64_t clock_step(void) {
    int64_t step = (int64_t)(windows_time(clock_now()) - clock_ns(CLOCK_REALTIME));
    return step > -STEP_LEAST_NS && step < STEP_LEAST_NS ? 0 : step;
}

uint64_t windows_time_of_day(uint64_t ns) {
    int64_t step = clock_step();
    return step < 0 && ns < (uint64_t)-step ? 0 : ns + (uint64_t)step;
}

uint64_t windows_day_of_time(uint64_t ns) {
    return ns - (uint64_t)clock_step();
}

/* ---- counters ---- */

static void copy_counts(const struct process_stats *stats, struct process_counts *counts) {
    memcpy(counts->counter, stats->counter, sizeof counts->counter);
    counts->cpu_ns = stats->cpu_ns;
    counts->deferred = stats->deferred;
    counts->draws = stats->draws;
}

/* What the counters have gained goes to the current sub-window, if there are sub-windows. */
static void count(struct process *p) {
    uint64_t now[PROCESS_COUNTS], was[PROCESS_COUNTS], gained[PROCESS_COUNTS];
    struct process_counts counts;
    struct process_stats stats;
    process_stats_locked(p, &stats);
    copy_counts(&stats, &counts);
    memcpy(now, &counts, sizeof now);
    memcpy(was, &p->counted, sizeof was);
    for (unsigned i = 0; i < PROCESS_COUNTS; i++)
        gained[i] = now[i] > was[i] ? now[i] - was[i] : 0;
    if (p->subwindows == NULL || subwindows_count(p->subwindows, gained))
        memcpy(&p->counted, now, sizeof now);
}

void windows_turn(struct process *p, uint64_t now) {
    now = windows_time(now);
    if (p->subwindows == NULL || !subwindows_due(p->subwindows, now))
        return;
    if (subwindows_credited(p->subwindows)) /* else they wait, and an idle process costs nothing */
        count(p);
    subwindows_advance(p->subwindows, now);
}

void windows_expire(struct process *p, uint64_t now) {
    pthread_mutex_lock(&p->lock);
    windows_turn(p, now);
    if (p->subwindows != NULL && !p->live && !process_has_deferred(p) &&
        subwindows_empty(p->subwindows)) {
        subwindows_free(p->subwindows);
        p->subwindows = NULL;
    }
    pthread_mutex_unlock(&p->lock);
}

/* ---- sums ---- */

static void set_counts(struct process_stats *stats, const uint64_t *numbers) {
    struct process_counts counts;
    memcpy(&counts, numbers, sizeof counts);
    memcpy(stats->counter, counts.counter, sizeof stats->counter);
    stats->cpu_ns = counts.cpu_ns;
    stats->deferred = counts.deferred;
    stats->draws = counts.draws;
    stats->restarts = stats->unfinished = 0; /* windows begin after that */
    stats->gap_ns = stats->gap_children_ns = 0;
}

bool windows_sum(struct process *p, uint64_t now, const struct subwindows_part *part,
                 struct windows_sum *sum) {
    uint64_t counts[PROCESS_COUNTS] = {0};
    struct subwindows_span span = {.tree = NULL};
    bool taken = true;
    *sum = (struct windows_sum){0};
    pthread_mutex_lock(&p->lock);
    process_stats_locked(p, &sum->stats);
    sum->effects = process_effects_locked(p);
    if (p->subwindows != NULL) {
        windows_turn(p, now);
        count(p);
        taken = subwindows_take(p->subwindows, windows_time(now), part, &span, counts);
    }
    pthread_mutex_unlock(&p->lock);
    set_counts(&sum->stats, counts);
    sum->span_ns = span.span_ns;
    sum->end_ns = span.end_ns;
    sum->tree = span.tree != NULL ? subwindows_merge(&span) : NULL;
    return taken;
}

void windows_each_cell(struct process *p, uint64_t now,
                       void (*visit)(void *arg, const struct subwindows_cell *cell), void *arg) {
    pthread_mutex_lock(&p->lock);
    windows_turn(p, now);
    if (p->subwindows != NULL)
        subwindows_each_cell(p->subwindows, visit, arg);
    pthread_mutex_unlock(&p->lock);
}

/* ---- resuming and folding ---- */

void windows_resume(struct process *into, struct process *from) {
    struct process_counts counts;
    struct process_stats stats;
    if (from->subwindows != NULL) {
        subwindows_free(into->subwindows);
        into->subwindows = from->subwindows;
        from->subwindows = NULL;
    }
    process_stats_locked(into, &stats);
    copy_counts(&stats, &counts);
    into->counted = counts; /* what nobody saw belongs to no sub-window */
}

/* All that was counted of `from` is in the sub-windows of `into` now. */
static void take_counted(struct process *into, const struct process *from) {
    uint64_t sum[PROCESS_COUNTS], more[PROCESS_COUNTS];
    memcpy(sum, &into->counted, sizeof sum);
    memcpy(more, &from->counted, sizeof more);
    for (unsigned i = 0; i < PROCESS_COUNTS; i++)
        sum[i] += more[i];
    memcpy(&into->counted, sum, sizeof sum);
}

void windows_fold(struct process *into, struct process *from) {
    uint64_t now = clock_now();
    windows_turn(from, now);
    windows_turn(into, now);
    count(from);
    count(into);
    if (into->subwindows != NULL && from->subwindows != NULL) {
        subwindows_add(into->subwindows, from->subwindows);
        subwindows_free(from->subwindows);
    } else if (from->subwindows != NULL) {
        into->subwindows = from->subwindows;
    }
    from->subwindows = NULL;
    take_counted(into, from);
}
