/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * query_threads.c - the list of threads as JSON.
 */
#include "daemon/answers/query_threads.h"

#include <stdlib.h>

#include "common/base/json_out.h"
#include "common/base/memory.h"
#include "common/base/utf8.h"
#include "daemon/ingest/ingest.h"
#include "daemon/ingest/registry.h"
#include "daemon/ingest/threads.h"

static const char *state_word(const struct process_thread *thread) {
    if (thread->broken)
        return "refused";
    if (thread->ended)
        return "ended";
    switch (thread->state) {
    case 'R':
        return "running";
    case 'S':
        return "sleeping";
    case 'D':
        return "waiting";
    case 'T':
    case 't':
        return "stopped";
    default:
        return "unknown";
    }
}

static void describe(struct json_out *json, pid_t pid, const struct process_thread *thread) {
    char name[3 * sizeof thread->name];
    utf8_repair(name, thread->name);
    json_begin(json, '{');
    json_number_member(json, "pid", (uint64_t)pid);
    json_number_member(json, "tid", thread->tid);
    json_string_member(json, "name", name);
    json_string_member(json, "state", state_word(thread));
    json_number_member(json, "cpu_ns", thread->cpu_ns);
    json_number_member(json, "credited_ns", thread->credited_ns);
    json_number_member(json, "walks", thread->walks);
    json_number_member(json, "complete", thread->complete);
    json_number_member(json, "lost", thread->lost);
    json_number_member(json, "agent_ns", thread->handler_ns);
    json_end(json, '}');
}

static void describe_ended(struct json_out *json, const struct process *process,
                           const struct process_threads_ended *ended) {
    json_begin(json, '{');
    json_number_member(json, "pid", (uint64_t)process->pid);
    json_bytes_member(json, "exe", process->exe);
    json_number_member(json, "threads", ended->threads);
    json_number_member(json, "credited_ns", ended->credited_ns);
    json_number_member(json, "walks", ended->walks);
    json_number_member(json, "complete", ended->complete);
    json_number_member(json, "lost", ended->lost);
    json_number_member(json, "agent_ns", ended->handler_ns);
    json_end(json, '}');
}

/* The threads of one process, until the answer is written. */
struct answer_part {
    struct process_thread *threads;
    size_t n;
    struct process_threads_ended ended;
};

static void put_answer(FILE *out, struct process *const *processes, const struct answer_part *part,
                       size_t n) {
    struct json_out json = {.out = out};
    json_begin(&json, '{');
    json_array_member(&json, "threads");
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < part[i].n; k++)
            describe(&json, processes[i]->pid, &part[i].threads[k]);
    json_end(&json, ']');
    json_array_member(&json, "ended");
    for (size_t i = 0; i < n; i++)
        describe_ended(&json, processes[i], &part[i].ended);
    json_end(&json, ']');
    json_end(&json, '}');
    fputc('\n', out);
}

enum query_status query_threads(const struct query *query, FILE *out, struct query_error *error) {
    size_t n;
    struct process **processes = query_processes(query, &n);
    if (processes == NULL)
        return query_no_memory("a list of processes", error);
    n = query_choose(query, processes, n);
    if (n == 0) {
        registry_free_list(processes, n);
        return query_nothing(query, error);
    }
    struct answer_part *parts = calloc(n, sizeof *parts);
    for (size_t i = 0; i < n && parts != NULL; i++) {
        ingest_flush(processes[i]);
        parts[i].threads = process_threads(processes[i], &parts[i].n, &parts[i].ended);
    }
    if (parts != NULL)
        put_answer(out, processes, parts, n);
    for (size_t i = 0; i < n && parts != NULL; i++)
        free(parts[i].threads);
    registry_free_list(processes, n);
    if (parts == NULL)
        return query_no_memory("the answer", error);
    free(parts);
    return QUERY_OK;
}
