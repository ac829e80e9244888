/*
 * windows.c - panes of a process, and its counters, which go with them as differences.
 */
#include "daemon/ingest/windows.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define N_COUNTS (sizeof(struct process_counts) / sizeof(uint64_t))

_Static_assert(N_COUNTS <= PANES_COUNTS_MAX, "a pane has room for the counters");
_Static_assert(sizeof(struct process_counts) % sizeof(uint64_t) == 0, "all are 64-bit numbers");

uint64_t windows_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

bool windows_begin(struct process *p, const struct mcct_params *tree) {
    const struct panes_params params = {.tree = *tree, .n_counts = N_COUNTS};
    p->panes = panes_new(&params, p->since_mono_ns);
    return p->panes != NULL;
}

/* ---- counters ---- */

static void copy_counts(const struct process_stats *stats, struct process_counts *counts) {
    memcpy(counts->counter, stats->counter, sizeof counts->counter);
    counts->cpu_ns = stats->cpu_ns;
    counts->ships = stats->ships;
    counts->draws = stats->draws;
}

/* What the counters have gained goes to the pane of now, if there are panes. */
static void count(struct process *p) {
    uint64_t now[N_COUNTS], was[N_COUNTS], gained[N_COUNTS];
    struct process_counts counts;
    struct process_stats stats;
    process_stats_locked(p, &stats);
    copy_counts(&stats, &counts);
    memcpy(now, &counts, sizeof now);
    memcpy(was, &p->counted, sizeof was);
    for (unsigned i = 0; i < N_COUNTS; i++)
        gained[i] = now[i] > was[i] ? now[i] - was[i] : 0;
    if (p->panes == NULL || panes_count(p->panes, gained))
        memcpy(&p->counted, now, sizeof now);
}

void windows_turn(struct process *p, uint64_t now) {
    if (p->panes == NULL || !panes_due(p->panes, now))
        return;
    if (panes_credited(p->panes)) /* else they wait, and an idle process costs nothing */
        count(p);
    panes_advance(p->panes, now);
}

void windows_expire(struct process *p, uint64_t now) {
    pthread_mutex_lock(&p->lock);
    windows_turn(p, now);
    if (p->panes != NULL && !p->live && !process_has_ships(p) && panes_empty(p->panes)) {
        panes_free(p->panes);
        p->panes = NULL;
    }
    pthread_mutex_unlock(&p->lock);
}

/* ---- sums ---- */

static void set_counts(struct process_stats *stats, const uint64_t *numbers) {
    struct process_counts counts;
    memcpy(&counts, numbers, sizeof counts);
    memcpy(stats->counter, counts.counter, sizeof stats->counter);
    stats->cpu_ns = counts.cpu_ns;
    stats->ships = counts.ships;
    stats->draws = counts.draws;
    stats->gap_ns = stats->restarts = stats->unfinished = 0; /* windows begin after that */
}

bool windows_sum(struct process *p, uint64_t now, uint64_t span_ns, struct windows_sum *sum) {
    uint64_t counts[N_COUNTS] = {0};
    struct panes_window window = {0};
    bool taken = true;
    *sum = (struct windows_sum){0};
    pthread_mutex_lock(&p->lock);
    process_stats_locked(p, &sum->stats);
    sum->effects = process_effects_locked(p);
    if (p->panes != NULL) {
        windows_turn(p, now);
        count(p);
        taken = panes_take(p->panes, now, span_ns, &window, counts);
    }
    pthread_mutex_unlock(&p->lock);
    set_counts(&sum->stats, counts);
    sum->span_ns = window.span_ns;
    if (window.tree != NULL)
        sum->tree = panes_merge(&window);
    return taken;
}

/* ---- resuming and folding ---- */

void windows_resume(struct process *into, struct process *from) {
    struct process_counts counts;
    struct process_stats stats;
    if (from->panes != NULL) {
        panes_free(into->panes);
        into->panes = from->panes;
        from->panes = NULL;
    }
    process_stats_locked(into, &stats);
    copy_counts(&stats, &counts);
    into->counted = counts; /* nothing that nobody saw is of any pane */
}

/* All that was counted of `from` is in the panes of `into` now. */
static void take_counted(struct process *into, const struct process *from) {
    uint64_t sum[N_COUNTS], more[N_COUNTS];
    memcpy(sum, &into->counted, sizeof sum);
    memcpy(more, &from->counted, sizeof more);
    for (unsigned i = 0; i < N_COUNTS; i++)
        sum[i] += more[i];
    memcpy(&into->counted, sum, sizeof sum);
}

void windows_fold(struct process *into, struct process *from) {
    uint64_t now = windows_now();
    windows_turn(from, now);
    windows_turn(into, now);
    count(from);
    count(into);
    if (into->panes != NULL && from->panes != NULL) {
        panes_add(into->panes, from->panes);
        panes_free(from->panes);
    } else if (from->panes != NULL) {
        into->panes = from->panes;
    }
    from->panes = NULL;
    take_counted(into, from);
}
