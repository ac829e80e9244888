/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * process_copies.c - copies each tree under its process's lock; all else is done on the copies.
 */
#include "daemon/answers/process_copies.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/base/clock.h"
#include "common/wire/metric.h"
#include "common/wire/wire.h"
#include "daemon/answers/numbered_copies.h"
#include "daemon/ingest/windows.h"

static const char *const clock_names[WIRE_CLOCKS] = {
    [WIRE_CLOCK_CPU] = "cpu", [WIRE_CLOCK_WALL] = "wall", [2] = "cpu", [WIRE_CLOCK_OFF] = "off"};

#define REPORTED_OF 4 /* all but one part in so many was reported, or a good part is to come */

static const char *const credit_names[WIRE_CREDITS] = {
    [WIRE_CREDIT_LAST] = "last", [WIRE_CREDIT_NEW] = "new"};

/* What bursts of calls differ by. */
static void describe_bursts(const struct process_stats *stats, struct profile_process *out) {
    const struct burst_sums *bursts = &stats->bursts;
    uint64_t length_ns = stats->burst_length_ns;
    if (length_ns == 0)
        return;
    double stands = (double)stats->counter[WIRE_STANDS_NS] / (double)length_ns;
    out->drawn = bursts->weight;
    out->drawn_squares = bursts->squares;
    out->varied_total = (uint64_t)fmin(
        burst_sums_variance(bursts, stands, (double)stats->counter[WIRE_PAIRS]), 0x1p63);
}

/* The program's own time. A thread reports at its next burst, or tick, what it did since the last
 * one, which is missing where the process was killed; the kernel knows all, but also the loader's
 * time, and that of the process's end. */
static uint64_t burst_time(const struct process_stats *stats) {
    uint64_t reported_ns = stats->counter[WIRE_SEEN_NS] + stats->counter[WIRE_UNSEEN_NS];
    uint64_t own_ns = stats->counter[WIRE_OWN_NS];
    uint64_t kernel_ns = stats->cpu_ns > own_ns ? stats->cpu_ns - own_ns : 0;
    return reported_ns >= kernel_ns / REPORTED_OF * (REPORTED_OF - 1) ? reported_ns : kernel_ns;
}

/* The calls collector's own. */
static void describe_calls(const struct session_sampling *sampling,
                           const struct process_stats *stats, struct profile_process *out) {
    out->every = sampling->every;
    out->every_each = sampling->every_each;
    out->budget_ppm = sampling->budget_ppm;
    out->reading_ns = stats->reading_ns;
    out->credit = credit_names[sampling->credit];
    out->cpu_burst_ns = burst_time(stats);
    /* a child of fork is heard of if it has a burst, which stands for those that had none, too */
    if (stats->children > 0 && stats->counter[WIRE_STANDS_NS] > 0)
        out->cpu_burst_ns = stats->counter[WIRE_STANDS_NS];
    describe_bursts(stats, out);
}

/* Each sample is drawn by itself, and its square is what it adds to the variance. What weighs as
 * much as the largest mean between two that there was, or as many events as any sample has stood
 * for, may be there without a sample. */
static void describe_events(const struct session_sampling *sampling, struct profile_process *out) {
    uint64_t mean = process_period(sampling, 0);
    out->clock = "";
    out->varied_total = out->drawn_squares;
    out->lone_ns = out->lone_ns > mean ? out->lone_ns : mean;
}

/* Walks that the agent has made, and those that the daemon made from copies of stacks. */
static void describe_counters(const struct process_stats *stats, struct profile_process *out) {
#define TAKE_THREADS(NAME, place, member, ...) out->member = stats->counter[WIRE_##NAME];
    THREAD_COUNTERS(TAKE_THREADS, NO_COUNTER, NO_COUNTER)
#undef TAKE_THREADS
    out->walks += stats->deferred.credited;
    out->deferred = stats->deferred.credited;
#define ADD_DEFERRED(member) out->member += stats->deferred.member;
    DEFERRED_COUNTERS(ADD_DEFERRED)
#undef ADD_DEFERRED
#define TAKE_SHOWN(member) out->member = stats->member;
#define TAKE_GROWN(member) TAKE_SHOWN(member)
#define TAKE_HIDDEN(member)
#define TAKE(member, by, shown, ...) TAKE_##shown(member)
    PROCESS_COUNTERS(TAKE)
#undef TAKE
#undef TAKE_HIDDEN
#undef TAKE_GROWN
#define TAKE(member, type) TAKE_SHOWN(member)
    RESTART_COUNTERS(TAKE)
#undef TAKE
#undef TAKE_SHOWN
}

/* Calls are counted in children as well, from their first one on. */
static uint64_t attach_of(const struct process *process, const struct process_stats *stats) {
    bool samples = process->sampling.collector == WIRE_COLLECT_WALKS;
    return samples && stats->forked > 0 ? WIRE_ATTACH_NS : 0;
}

static void describe(const struct process *process, const struct process_stats *stats,
                     struct profile_process *out) {
    *out = (struct profile_process){
        .exe = process->exe,
        .command = process_command(process),
        .tags = process_tags(process),
        .pid = (uint32_t)process->pid,
        .runs = process->runs,
        .live = process->live,
        .cpu_ns = stats->cpu_ns,
        .clock = clock_names[process->sampling.clock],
        .collector = metric_collector(process->sampling.collector),
        .lines = process->sampling.lines,
        .burst_length_ns = stats->burst_length_ns,
        .burst_period_ns = stats->burst_period_ns,
        .drawn = stats->draws.weight,
        .drawn_squares = stats->draws.squares,
        .threads = stats->threads,
        .attach_ns = attach_of(process, stats),
    };
    describe_counters(stats, out);
    memcpy(out->varied, stats->scatter.varied, sizeof out->varied);
    out->varied_total = stats->scatter.total;
    out->attached_ns = stats->scatter.attached;
    out->lone_ns = stats->scatter.lone;
    memcpy(out->independent, stats->scatter.independent, sizeof out->independent);
    if (process->sampling.collector == WIRE_COLLECT_CALLS)
        describe_calls(&process->sampling, stats, out);
    if (wire_of_events(process->sampling.collector))
        describe_events(&process->sampling, out);
}

void process_describe(struct process *process, struct profile_process *out) {
    struct process_stats stats;
    process_get_stats(process, &stats);
    describe(process, &stats, out);
}

void assemble_describe_locked(struct process *process, struct assemble_part *part) {
    struct process_stats stats;
    process_stats_locked(process, &stats);
    describe(process, &stats, &part->process);
    part->effects = process_effects_locked(process);
    part->call_modules = process_call_modules_locked(process);
    part->process.call_modules = part->call_modules;
    part->linked = process->linked;
}

static uint64_t period_of(struct process *process) {
    struct process_stats stats;
    process_get_stats(process, &stats);
    return process_period(&process->sampling, stats.rate);
}

static void describe_times(struct profile *profile, struct process *const *processes, size_t n) {
    uint64_t first = UINT64_MAX, last_mono = 0, first_mono = UINT64_MAX;
    uint64_t now = clock_now();
    for (size_t i = 0; i < n; i++) {
        const struct process *p = processes[i];
        uint64_t end = p->live ? now : p->ended_mono_ns;
        first = p->since_ns < first ? p->since_ns : first;
        first_mono = p->since_mono_ns < first_mono ? p->since_mono_ns : first_mono;
        last_mono = end > last_mono ? end : last_mono;
    }
    profile->period = n > 0 ? period_of(processes[0]) : 0;
    profile->time_ns = n > 0 ? first : 0;
    profile->duration_ns = n > 0 ? last_mono - first_mono : 0;
}

/* ---- the trees ---- */

static bool take_tree(struct process *process, struct assemble_part *part) {
    pthread_mutex_lock(&process->lock);
    bool copied = tree_copy_take(&part->copy, process_tree(process));
    assemble_describe_locked(process, part);
    pthread_mutex_unlock(&process->lock);
    return copied;
}

static bool take_window(struct process *process, struct assemble_part *part,
                        struct process_copies *copies) {
    struct windows_sum sum;
    bool taken = windows_sum(process, copies->now, copies->window, &sum);
    if (taken && sum.tree != NULL)
        taken = tree_copy_take(&part->copy, sum.tree);
    mcct_free(sum.tree);
    part->effects = sum.effects;
    if (sum.span_ns > copies->span_ns)
        copies->span_ns = sum.span_ns;
    if (sum.end_ns > copies->end_ns)
        copies->end_ns = sum.end_ns;
    describe(process, &sum.stats, &part->process);
    part->linked = process->linked;
    return taken;
}

void assemble_part_free(struct assemble_part *part) {
    tree_copy_free(&part->copy);
    scatter_effects_free(&part->effects);
    free(part->call_modules);
    free(part->numbers);
}

static bool is_over(const struct assemble_part *part) {
    return !part->process.live && part->copy.stats.total == 0;
}

bool process_copies_take(struct process_copies *copies, struct process *const *processes, size_t n,
                         const struct subwindows_part *window) {
    *copies = (struct process_copies){.window = window, .now = clock_now()};
    copies->part = calloc(n + 1, sizeof *copies->part);
    bool whole = copies->part != NULL;
    for (size_t i = 0; i < n && whole; i++) {
        struct assemble_part *part = &copies->part[copies->n];
        whole = window != NULL ? take_window(processes[i], part, copies)
                               : take_tree(processes[i], part);
        if (whole && !(window != NULL && is_over(part)))
            copies->n++;
        else
            assemble_part_free(part);
    }
    if (!whole)
        process_copies_free(copies);
    return whole;
}

bool process_copies_take_numbers(struct process_copies *copies, struct process *const *processes) {
    for (size_t i = 0; i < copies->n; i++)
        if (!numbered_copy_all(processes[i], &copies->part[i]))
            return false;
    return true;
}

void process_copies_leave_children(struct process_copies *copies) {
    for (size_t i = 0; i < copies->n; i++)
        copies->part[i].process.forked = copies->part[i].process.attach_ns = 0;
}

void process_copies_free(struct process_copies *copies) {
    for (size_t i = 0; i < copies->n; i++)
        assemble_part_free(&copies->part[i]);
    free(copies->part);
    *copies = (struct process_copies){0};
}

static void describe_window(struct profile *profile, uint64_t span_ns, uint64_t end_ns,
                            bool is_past) {
    profile->window_ns = profile->duration_ns = span_ns > 0 ? span_ns : 1;
    profile->time_ns = windows_day_of_time(end_ns) - profile->window_ns;
    profile->is_past = is_past;
}

struct profile *process_copies_profile(const struct process_copies *copies,
                                       struct process *const *processes, size_t n,
                                       const struct assemble_params *params, uint32_t **module_of) {
    struct profile *profile = assemble_trees(copies->part, copies->n, params, module_of);
    describe_times(profile, processes, n);
    if (copies->window != NULL)
        describe_window(profile, copies->span_ns,
                        copies->end_ns != 0 ? copies->end_ns : windows_time(copies->now),
                        copies->window->to_ns < windows_time(copies->now));
    return profile;
}
