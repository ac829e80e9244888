/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * query_pprof.c - copy the trees, wait, copy them again, subtract.
 */
#include "daemon/serve/query_pprof.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/assemble/agent_frames.h"
#include "common/assemble/symbols.h"
#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/code/frame.h"
#include "common/profile/process_fields.h"
#include "common/tree/summary.h"
#include "common/tree/tree_delta.h"
#include "daemon/answers/config.h"
#include "daemon/answers/process_copies.h"
#include "daemon/ingest/ingest.h"
#include "daemon/ingest/registry.h"
#include "daemon/serve/http_wait.h"

/* Processes at one moment. The references keep each process's tree, also of those that end, and
 * the frames of the copies are in use as long as they are: by a hold or, while time passes, as a
 * root. */
struct moment {
    struct frame_root root; /* first: see mark_frames() */
    struct process **process;
    struct assemble_part *part;
    size_t n;
    uint64_t wall_ns, mono_ns;
};

static bool take_part(struct process *process, struct assemble_part *part) {
    ingest_flush(process);
    pthread_mutex_lock(&process->lock);
    struct mcct *tree = process_tree(process);
    mcct_flush(tree); /* as tree_delta() needs it */
    bool copied = tree_copy_take(&part->copy, tree);
    assemble_describe_locked(process, part);
    pthread_mutex_unlock(&process->lock);
    return copied;
}

static void mark_frames(struct frame_root *root) {
    struct moment *m = (struct moment *)(void *)root; /* begins with it */
    for (size_t i = 0; i < m->n; i++)
        for (size_t k = 0; k < m->part[i].copy.n; k++)
            frame_mark(m->part[i].copy.node[k].frame);
}

static void forget(struct moment *m) {
    query_drop_frames(m->process, m->n);
    for (size_t i = 0; m->part != NULL && i < m->n; i++)
        assemble_part_free(&m->part[i]);
    free(m->part);
    registry_free_list(m->process, m->n);
    *m = (struct moment){0};
}

/* `more`: room for so many parts that may be added. False: no memory, and nothing is held. */
static bool take(struct moment *m, const struct query *query, size_t more) {
    *m = (struct moment){.wall_ns = clock_ns(CLOCK_REALTIME), .mono_ns = clock_now()};
    m->process = query_processes(query, &m->n);
    m->n = m->process != NULL ? query_choose(query, m->process, m->n) : 0;
    query_hold_frames(m->process, m->n);
    m->part = calloc(m->n + more + 1, sizeof *m->part);
    bool whole = m->process != NULL && m->part != NULL;
    for (size_t i = 0; i < m->n && whole; i++)
        whole = take_part(m->process[i], &m->part[i]);
    if (!whole)
        forget(m);
    return whole;
}

/* ---- the difference ---- */

static bool subtract(struct assemble_part *end, const struct assemble_part *start, bool steady) {
    process_fields_subtract(&end->process, &start->process);
    return tree_delta(&end->copy, &start->copy, steady);
}

static size_t find(const struct moment *m, const struct process *process) {
    size_t i = 0;
    while (i < m->n && m->process[i] != process)
        i++;
    return i;
}

/* Where the tree of a process that is not listed any more went: into that of its executable. */
static size_t find_folded(const struct moment *m, const struct process *gone) {
    size_t i = 0;
    while (i < m->n && !(m->process[i]->pid == 0 && m->process[i]->uid == gone->uid &&
                         m->process[i]->sampling.collector == gone->sampling.collector &&
                         strcmp(m->process[i]->exe, gone->exe) == 0))
        i++;
    return i;
}

/* `end` becomes what came since `start`; *n is how many parts it has then. */
static bool subtract_all(struct moment *end, const struct moment *start, size_t *n) {
    bool certain = summary_find(config.summary)->certain, whole = true;
    *n = end->n;
    for (size_t i = 0; i < start->n && whole; i++) {
        struct process *process = start->process[i];
        size_t at = find(end, process);
        bool folded = at == end->n || process->pid == 0;
        if (at == end->n)
            at = find_folded(end, process);
        if (at == end->n) { /* it was asked for by its pid, and has none now */
            at = (*n)++;
            whole = take_part(process, &end->part[at]);
            folded = false;
        }
        whole = whole && subtract(&end->part[at], &start->part[i], certain && !folded);
    }
    return whole;
}

static uint64_t period_of(struct process *process) {
    struct process_stats stats;
    process_get_stats(process, &stats);
    return process_period(&process->sampling, stats.rate);
}

/* The answer, of parts from which the start is subtracted. */
struct difference {
    const struct query *query;
    const struct moment *start;
    struct moment *end;
    size_t n;
    FILE *out;
    bool written;
};

static void write_parts(void *arg) {
    struct difference *d = arg;
    const struct assemble_params params = {
        .phi = d->query->phi, .epsilon = config.epsilon, .summary = config.summary};
    uint32_t *module_of;
    struct profile *profile = assemble_trees(d->end->part, d->n, &params, &module_of);
    profile->period = period_of(d->start->process[0]);
    profile->time_ns = d->start->wall_ns;
    profile->duration_ns = d->end->mono_ns - d->start->mono_ns;
    symbolize(profile, module_of, config.symbols, SYMBOL_COMPLETE);
    free(module_of);
    profile = agent_frames_hide(profile);
    d->written = write_pprof(d->out, profile, &d->query->options);
    profile_free(profile);
}

static enum query_status write_difference(const struct query *query, const struct moment *start,
                                          struct moment *end, FILE *out,
                                          struct query_error *error) {
    struct difference d = {.query = query, .start = start, .end = end, .out = out};
    const char *what = "the difference of two profiles";
    bool whole = subtract_all(end, start, &d.n) && memory_try(write_parts, &d, &what) && d.written;
    for (size_t i = end->n; i < d.n; i++)
        assemble_part_free(&end->part[i]);
    return whole ? QUERY_OK : query_no_memory(what, error);
}

/* Nothing is held while time passes. */
static enum http_waited wait_for(struct moment *start, uid_t asker, int fd, unsigned seconds) {
    start->root.mark = mark_frames;
    frame_root_add(&start->root);
    query_drop_frames(start->process, start->n);
    enum http_waited waited = http_wait(asker, fd, seconds);
    query_hold_frames(start->process, start->n);
    frame_root_remove(&start->root);
    return waited;
}

static enum query_status wait_and_write(const struct query *query, unsigned seconds, int fd,
                                        struct moment *start, FILE *out,
                                        struct query_error *error) {
    struct moment end;
    enum http_waited waited = wait_for(start, query->asker, fd, seconds);
    if (waited == HTTP_NO_THREAD)
        return query_no_memory("a thread that waits", error);
    if (waited != HTTP_WAITED) {
        snprintf(error->text, sizeof error->text,
                 "hcctd ends: there is no profile of %u seconds any more", seconds);
        return QUERY_UNAVAILABLE;
    }
    if (!take(&end, query, start->n))
        return query_no_memory("copies of the trees", error);
    enum query_status status = write_difference(query, start, &end, out, error);
    forget(&end);
    return status;
}

enum query_status query_pprof(const struct query *query, unsigned seconds, int fd, FILE *out,
                              struct query_error *error) {
    struct moment start;
    enum query_status status = QUERY_FAILED;
    if (!take(&start, query, 0))
        return query_no_memory("copies of the trees", error);
    if (start.n == 0)
        status = query_nothing(query, error);
    else if (!query_have_one_unit(start.process, start.n, error))
        status = QUERY_BAD;
    else
        status = wait_and_write(query, seconds, fd, &start, out, error);
    forget(&start);
    return status;
}

/* ---- what stands beside it ---- */

enum query_status query_pprof_index(FILE *out) {
    fputs("/debug/pprof/\n\n"
          "profile?seconds=N  what was added in the next N seconds (30), as pprof; pid=, exe=\n"
          "cmdline?pid=       the command line, words ended by NULs\n"
          "symbol             none: profiles carry their symbols\n\n"
          "/v1/hot?format=pprof is the profile since the start.\n",
          out);
    return QUERY_OK;
}

enum query_status query_pprof_cmdline(const struct query *query, FILE *out,
                                      struct query_error *error) {
    char path[64] = "/proc/self/cmdline", block[4096];
    size_t n = 1, bytes;
    if (query->pid != 0) {
        struct process **processes = query_processes(query, &n);
        if (processes == NULL)
            return query_no_memory("a list of processes", error);
        bool live = n > 0 && processes[0]->live;
        registry_free_list(processes, n);
        n = live;
        snprintf(path, sizeof path, "/proc/%d/cmdline", (int)query->pid);
    }
    FILE *in = n > 0 ? fopen(path, "re") : NULL;
    if (in == NULL)
        return query_nothing(query, error);
    while ((bytes = fread(block, 1, sizeof block, in)) > 0)
        fwrite(block, 1, bytes, out);
    fclose(in);
    return QUERY_OK;
}

enum query_status query_pprof_symbol(FILE *out) {
    fputs("num_symbols: 0\n", out);
    return QUERY_OK;
}
