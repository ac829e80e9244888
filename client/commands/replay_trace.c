/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * replay_trace.c - a tree for each process, a cursor for each thread, as the daemon has them.
 *
 * A process's tree is copied and given back where the process ends, so that many short ones need no
 * more memory than what is in their trees.
 */
#include "client/commands/replay_trace.h"

#include <stdlib.h>

#include "common/base/array_grow.h"
#include "common/base/options.h"
#include "common/trace/trace_apply.h"

/* Numbers of processes and threads begin with 1: the first item of each array is not used. */
struct process {
    struct mcct *tree; /* NULL: it has ended, and its part is complete */
    const struct trace_about *about;
};

struct replay {
    struct trace_reader *reader;
    const struct mcct_params *params;
    struct replayed *out;
    struct process *processes;
    size_t n_processes, processes_room, parts_room;
    struct mcct_cursor **cursors; /* by thread */
    size_t n_threads, threads_room;
};

/* ---- processes and threads; false: no memory ---- */

static bool begin_process(struct replay *r, const struct trace_record *record) {
    struct replayed *out = r->out;
    if (!array_grow(&r->processes, record->process, &r->processes_room, sizeof *r->processes) ||
        !array_grow(&out->parts, out->n, &r->parts_room, sizeof *out->parts))
        return false;
    out->parts[out->n++] = (struct assemble_part){0};
    struct process *process = &r->processes[record->process];
    *process = (struct process){.tree = mcct_new(r->params), .about = record->about};
    r->n_processes = record->process + 1;
    return process->tree != NULL;
}

static bool fill_part(struct replay *r, struct assemble_part *part, const struct process *process) {
    uint32_t n;
    part->process = process->about->process;
    part->process.live = false;
    part->process.runs +=
        part->process.runs == 0; /* of a process that the trace does not see end */
    if (!tree_copy_take(&part->copy, process->tree))
        return false;
    const uint32_t *frames = trace_reader_frames(r->reader, &n);
    for (size_t i = 1; i < part->copy.n; i++)
        part->copy.node[i].frame = frames[part->copy.node[i].frame];
    return true;
}

static bool end_process(struct replay *r, uint32_t number) {
    struct process *process = &r->processes[number];
    mcct_flush(process->tree);
    bool filled = fill_part(r, &r->out->parts[number - 1], process);
    mcct_free(process->tree);
    process->tree = NULL;
    return filled;
}

static bool begin_thread(struct replay *r, const struct trace_record *record) {
    if (!array_grow(&r->cursors, record->thread, &r->threads_room, sizeof(struct mcct_cursor *)))
        return false;
    struct mcct_cursor *cursor = malloc(sizeof *cursor);
    r->cursors[record->thread] = cursor;
    r->n_threads = record->thread + 1;
    if (cursor != NULL)
        mcct_cursor_open(r->processes[record->process].tree, cursor);
    return cursor != NULL;
}

static void end_thread(struct replay *r, uint32_t number) {
    mcct_cursor_close(r->cursors[number]);
    free(r->cursors[number]);
    r->cursors[number] = NULL;
}

/* ---- the trace ---- */

static bool take(struct replay *r, const struct trace_record *record) {
    switch (record->kind) {
    case TRACE_EVENTS:
        trace_apply(r->cursors[record->thread], record->tokens, record->n);
        return true;
    case TRACE_PROCESS:
        return begin_process(r, record);
    case TRACE_PROCESS_END:
        return end_process(r, record->process);
    case TRACE_THREAD:
        return begin_thread(r, record);
    default: /* THREAD_END: a reader hands out nothing else */
        end_thread(r, record->thread);
        return true;
    }
}

static void sum_times(struct replay *r) {
    uint64_t first = UINT64_MAX, last = 0;
    for (size_t i = 1; i < r->n_processes; i++) {
        const struct trace_about *about = r->processes[i].about;
        uint64_t end = about->since_ns + about->duration_ns;
        first = about->since_ns < first ? about->since_ns : first;
        last = end > last ? end : last;
    }
    if (r->n_processes <= 1)
        return;
    r->out->since_ns = first;
    r->out->duration_ns = last > first ? last - first : 0;
    r->out->period = r->processes[1].about->period;
}

static void clean_up(struct replay *r) {
    for (size_t i = 1; i < r->n_processes; i++)
        mcct_free(r->processes[i].tree); /* with the cursors that are still in it */
    for (size_t i = 1; i < r->n_threads; i++)
        free(r->cursors[i]);
    free(r->processes);
    free(r->cursors);
}

bool replay_trace(struct trace_reader *reader, const struct mcct_params *params,
                  struct replayed *replayed) {
    struct replay r = {.reader = reader, .params = params, .out = replayed};
    struct trace_record record;
    bool fits = true;
    *replayed = (struct replayed){.end = TRACE_READ_RECORD};
    while (fits && (replayed->end = trace_reader_next(reader, &record)) == TRACE_READ_RECORD)
        fits = take(&r, &record);
    for (uint32_t i = 1; i < r.n_processes && fits; i++)
        fits = r.processes[i].tree == NULL || end_process(&r, i);
    if (fits)
        sum_times(&r);
    else
        complain("there is no memory for the trees: --memory-limit makes them smaller");
    clean_up(&r);
    return fits;
}

void replayed_free(struct replayed *replayed) {
    for (uint32_t i = 0; i < replayed->n; i++)
        tree_copy_free(&replayed->parts[i].copy);
    free(replayed->parts);
    *replayed = (struct replayed){0};
}
