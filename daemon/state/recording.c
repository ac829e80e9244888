/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * recording.c - one trace writer for all processes.
 */
#include "daemon/state/recording.h"

#include <inttypes.h>
#include <stdlib.h>

#include "common/base/clock.h"
#include "common/base/options.h"
#include "common/code/frame.h"
#include "common/trace/trace_writer.h"
#include "daemon/answers/process_copies.h"
#include "daemon/ingest/registry.h"

static struct trace_writer *writer; /* written before and after all threads */

bool recording_open(const char *path, char *error, size_t room) {
    writer = trace_writer_open(path, error, room);
    return writer != NULL;
}

/* Threads that were not seen to end have nothing more to tell. */
static void leave_threads(struct process *process) {
    for (uint32_t i = 0; i < WIRE_SLOTS_MAX; i++)
        if (process->readers[i] != NULL)
            process->readers[i]->trace = (struct trace_thread){0};
}

/* Nobody credits anything to the process any more, so nobody else uses its trace. */
static void end(struct process *process) {
    struct profile_process about;
    struct trace_process *trace = process->trace;
    process->trace = NULL;
    if (trace == NULL)
        return;
    process_describe(process, &about);
    pthread_mutex_lock(&process->lock);
    char *call_modules = process_call_modules_locked(process);
    pthread_mutex_unlock(&process->lock);
    about.call_modules = call_modules;
    uint64_t end_ns = process->live ? clock_now() : process->ended_mono_ns;
    trace_process_end(trace, &about, end_ns - process->since_mono_ns);
    free(call_modules);
    leave_threads(process);
}

void recording_begin(struct process *process) {
    struct profile_process about;
    if (writer == NULL || (process->sampling.collector > WIRE_COLLECT_CALLS))
        return; /* a trace has times, or calls */
    process_describe(process, &about);
    uint64_t period = process_period(&process->sampling, process->sampling.rate);
    process->trace = trace_process_begin(writer, &about, process->since_ns, period);
    process->finished = end;
    frame_hold(process->frames); /* for good: the trace goes by these ids */
}

void recording_close(void) {
    struct trace_status status;
    size_t n;
    if (writer == NULL)
        return;
    struct process **list = registry_list(NULL, NULL, &n);
    for (size_t i = 0; i < n; i++)
        process_say_finished(list[i]);
    registry_free_list(list, n);
    if (!trace_writer_close(writer, &status))
        complain("%s; %" PRIu64 " events are not in the trace", status.error, status.lost);
    writer = NULL;
}
