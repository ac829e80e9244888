/*
 * query_threads.c - the list of threads as JSON.
 */
#include "daemon/query_threads.h"

#include <json-c/json.h>
#include <stdlib.h>

#include "daemon/ingest/ingest.h"
#include "daemon/ingest/registry.h"
#include "daemon/ingest/threads.h"
#include "daemon/report/utf8.h"

static void add(struct json_object *object, const char *name, uint64_t value) {
    json_object_object_add(object, name, json_object_new_uint64(value));
}

static void add_text(struct json_object *object, const char *name, const char *value) {
    json_object_object_add(object, name, json_object_new_string(value));
}

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

static struct json_object *describe(pid_t pid, const struct process_thread *thread) {
    struct json_object *o = json_object_new_object();
    char name[3 * sizeof thread->name];
    utf8_repair(name, thread->name);
    add(o, "pid", (uint64_t)pid);
    add(o, "tid", thread->tid);
    add_text(o, "name", name);
    add_text(o, "state", state_word(thread));
    add(o, "cpu_ns", thread->cpu_ns);
    add(o, "credited_ns", thread->credited_ns);
    add(o, "walks", thread->walks);
    add(o, "complete", thread->complete);
    add(o, "lost", thread->lost);
    add(o, "agent_ns", thread->handler_ns);
    return o;
}

static struct json_object *describe_ended(const struct process *process,
                                          const struct process_threads_ended *ended) {
    struct json_object *o = json_object_new_object();
    add(o, "pid", (uint64_t)process->pid);
    add_text(o, "exe", process->exe);
    add(o, "threads", ended->threads);
    add(o, "credited_ns", ended->credited_ns);
    add(o, "walks", ended->walks);
    add(o, "complete", ended->complete);
    add(o, "lost", ended->lost);
    add(o, "agent_ns", ended->handler_ns);
    return o;
}

static void describe_process(struct process *process, struct json_object *threads,
                             struct json_object *gone) {
    struct process_threads_ended ended;
    size_t n;
    ingest_settle(process);
    struct process_thread *list = process_threads(process, &n, &ended);
    for (size_t i = 0; i < n; i++)
        json_object_array_add(threads, describe(process->pid, &list[i]));
    json_object_array_add(gone, describe_ended(process, &ended));
    free(list);
}

enum query_status query_threads(const struct query *query, FILE *out, struct query_error *error) {
    size_t n;
    struct process **processes = query_processes(query, &n);
    if (n == 0) {
        registry_free_list(processes, n);
        return query_nothing(query, error);
    }
    struct json_object *answer = json_object_new_object();
    struct json_object *threads = json_object_new_array(), *ended = json_object_new_array();
    for (size_t i = 0; i < n; i++)
        describe_process(processes[i], threads, ended);
    json_object_object_add(answer, "threads", threads);
    json_object_object_add(answer, "ended", ended);
    fprintf(out, "%s\n", json_object_to_json_string_ext(answer, JSON_C_TO_STRING_PRETTY));
    json_object_put(answer);
    registry_free_list(processes, n);
    return QUERY_OK;
}
