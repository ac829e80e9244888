/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * snapshot_report.c - written by the daemon, or by a renderer; several metrics are written one
 * after the other, and joined.
 */
#include "daemon/state/snapshot_report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/render/pprof_join.h"
#include "daemon/ingest/process.h"
#include "daemon/render/renderer.h"

/* Of several metrics the first is the last order, and shown first. */
static enum query_status render_to(const struct query *query, struct process *const *processes,
                                   size_t n, struct rendering *rendering, FILE *out,
                                   struct query_error *error) {
    enum query_status status = QUERY_OK;
    struct query to_render = *query;
    to_render.to_render = &rendering->files;
    while (n-- > 0 && status == QUERY_OK)
        status = query_write(&to_render, &processes[n], 1, rendering->order, error);
    if (!rendering_order_done(rendering) && status == QUERY_OK)
        return query_no_memory("a report", error);
    if (status == QUERY_OK)
        status = (enum query_status)rendering_run(rendering, -1, error->text, sizeof error->text);
    if (status == QUERY_OK && !rendering_copy(rendering, out)) {
        snprintf(error->text, sizeof error->text, "a report can't be written: %s", strerror(errno));
        return QUERY_FAILED;
    }
    return status;
}

static enum query_status write_rendered(const struct query *query, struct process *const *processes,
                                        size_t n, FILE *out, struct query_error *error) {
    struct rendering rendering;
    if (!rendering_open(&rendering))
        return query_no_memory("a report", error);
    enum query_status status = render_to(query, processes, n, &rendering, out, error);
    rendering_close(&rendering);
    return status;
}

/* Of one metric, or a page of n. */
static enum query_status write_alone(const struct query *query, struct process *const *processes,
                                     size_t n, FILE *out, struct query_error *error) {
    struct query of_process = *query;
    of_process.pid = processes[0]->pid;
    of_process.beside = true;
    return query_needs_renderer(&of_process) ? write_rendered(&of_process, processes, n, out, error)
                                             : query_write(&of_process, processes, 1, out, error);
}

/* ---- several metrics ---- */

struct joining {
    struct pprof_part part[WIRE_METRICS_MAX];
    char *text[WIRE_METRICS_MAX];
    size_t n;
    FILE *out;
    struct query_error *error;
    bool joined;
};

static void join(void *arg) {
    struct joining *j = arg;
    j->joined = pprof_join(j->out, j->part, j->n, j->error->text, sizeof j->error->text);
}

static enum query_status write_part(const struct query *query, struct process *process,
                                    struct joining *j) {
    size_t bytes;
    FILE *stream = open_memstream(&j->text[j->n], &bytes);
    if (stream == NULL)
        return query_no_memory("a report", j->error);
    enum query_status status = write_alone(query, &process, 1, stream, j->error);
    if (fclose(stream) != 0 && status == QUERY_OK)
        status = query_no_memory("a report", j->error);
    j->part[j->n] = (struct pprof_part){j->text[j->n], bytes};
    j->n++;
    return status;
}

static enum query_status write_joined(const struct query *query, struct process *const *processes,
                                      size_t n, FILE *out, struct query_error *error) {
    struct joining j = {.out = out, .error = error};
    enum query_status status = QUERY_OK;
    const char *what;
    for (size_t i = 0; i < n && status == QUERY_OK; i++)
        status = write_part(query, processes[i], &j);
    if (status == QUERY_OK && !memory_try(join, &j, &what))
        status = query_no_memory(what, error);
    else if (status == QUERY_OK && !j.joined)
        status = QUERY_FAILED;
    for (size_t i = 0; i < j.n; i++)
        free(j.text[i]);
    return status;
}

static bool is_joined(const struct query *query) {
    return query->format->write == write_pprof;
}

static bool has_room_for_all(const struct query *query) {
    return is_joined(query) || query->format->write == write_html;
}

static bool is_metric_of(const struct process *process, const struct process *other) {
    return process->live && other->live && process->pid == other->pid &&
           process->sampling.place != other->sampling.place;
}

static int by_place(const void *a, const void *b) {
    uint32_t i = (*(struct process *const *)a)->sampling.place,
             k = (*(struct process *const *)b)->sampling.place;
    return (i > k) - (i < k);
}

size_t snapshot_report_metrics(const struct query *query, struct process **processes, size_t n) {
    size_t metrics = 1;
    while (has_room_for_all(query) && metrics < n && metrics < WIRE_METRICS_MAX &&
           is_metric_of(processes[metrics], processes[0]))
        metrics++;
    qsort(processes, metrics, sizeof *processes, by_place);
    return metrics;
}

enum query_status snapshot_report_write(const struct query *query, struct process *const *processes,
                                        size_t n, FILE *out, struct query_error *error) {
    return n > 1 && is_joined(query) ? write_joined(query, processes, n, out, error)
                                     : write_alone(query, processes, n, out, error);
}
