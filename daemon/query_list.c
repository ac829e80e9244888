/*
 * query_list.c - the list of processes as JSON.
 */
#include <json-c/json.h>
#include <unistd.h>

#include "daemon/config.h"
#include "daemon/ingest/ingest.h"
#include "daemon/ingest/registry.h"
#include "daemon/query.h"

static void add(struct json_object *object, const char *name, uint64_t value) {
    json_object_object_add(object, name, json_object_new_uint64(value));
}

static void add_text(struct json_object *object, const char *name, const char *value) {
    json_object_object_add(object, name, json_object_new_string(value));
}

static void add_fraction(struct json_object *object, const char *name, double value) {
    json_object_object_add(object, name, json_object_new_double(value));
}

static struct json_object *describe(struct process *p) {
    struct json_object *o = json_object_new_object();
    struct process_stats stats;
    struct mcct_stats tree;
    ingest_settle(p);
    process_get_stats(p, &stats);
    pthread_mutex_lock(&p->lock);
    mcct_stats(p->tree, &tree);
    pthread_mutex_unlock(&p->lock);
    add(o, "pid", (uint64_t)p->pid);
    add_text(o, "exe", p->exe);
    add_text(o, "command", p->command);
    add_text(o, "state", p->live ? "live" : p->waiting ? "waiting" : "finished");
    add(o, "since", p->since_ns / 1000000000u);
    add(o, "runs", p->runs);
    add(o, "threads", stats.threads);
    add(o, "cpu_ns", stats.cpu_ns);
    bool calls = p->sampling.collector == WIRE_COLLECT_CALLS;
    add_text(o, "collector", calls ? "calls" : "walks");
    add(o, calls ? "calls" : "total_ns", tree.total);
    add(o, "walks", stats.counter[WIRE_WALKS] + stats.ships.credited);
    add(o, "complete", stats.counter[WIRE_COMPLETE] + stats.ships.complete);
    add(o, "shipped", stats.ships.credited);
    add(o, "refused", stats.ships.refused);
    add(o, "lost", stats.counter[WIRE_LOST]);
    add(o, "agent_ns", stats.counter[WIRE_HANDLER_NS]);
    add(o, "contexts", tree.nodes - 1);
    add(o, "monitored", tree.monitored);
    add(o, calls ? "unseen_calls" : "unseen_ns", tree.unseen);
    add(o, "bytes", tree.bytes);
    add_text(o, "sampling", p->live && !stats.off ? "on" : "off");
    add(o, "rate", stats.rate);
    add(o, "signal", stats.signal);
    add(o, "threads_without_slot", stats.slots_missing);
    add(o, "threads_without_timer", stats.timers_missing);
    add(o, "threads_without_perf", stats.perf_refused);
    add(o, "threads_without_fine_timer", stats.fine_refused);
    add(o, "broken_rings", stats.broken);
    add(o, "restarts", stats.restarts);
    add(o, "gap_ns", stats.gap_ns);
    return o;
}

static struct json_object *describe_daemon(void) {
    struct json_object *o = json_object_new_object();
    add_text(o, "version", HCCT_VERSION);
    add(o, "pid", (uint64_t)getpid());
    add_fraction(o, "phi", config.phi);
    add_fraction(o, "epsilon", config.epsilon);
    add_text(o, "summary", config.summary);
    add(o, "dropped_ns", registry_dropped());
    return o;
}

enum query_status query_list(const struct query *query, FILE *out) {
    size_t n;
    struct process **processes = query_processes(query, &n);
    struct json_object *answer = json_object_new_object();
    struct json_object *list = json_object_new_array();
    for (size_t i = 0; i < n; i++)
        json_object_array_add(list, describe(processes[i]));
    json_object_object_add(answer, "daemon", describe_daemon());
    json_object_object_add(answer, "processes", list);
    fprintf(out, "%s\n", json_object_to_json_string_ext(answer, JSON_C_TO_STRING_PRETTY));
    json_object_put(answer);
    registry_free_list(processes, n);
    return QUERY_OK;
}
