/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * query_list.c - the list of processes as JSON.
 */
#include <unistd.h>

#include "common/base/json_out.h"
#include "common/wire/compiler.h"
#include "common/wire/metric.h"
#include "common/wire/wire.h"
#include "daemon/answers/config.h"
#include "daemon/answers/query.h"
#include "daemon/ingest/ingest.h"
#include "daemon/ingest/registry.h"

static void put_counters(struct json_out *json, const struct process_stats *stats) {
    const struct {
        const char *name;
        uint64_t number;
    } counters[] = {
#define LISTED(member, by, shown, name, ...) {name, stats->member},
        PROCESS_COUNTERS(LISTED)
#undef LISTED
    };
    for (size_t i = 0; i < HCCT_ARRAY_LEN(counters); i++)
        if (counters[i].name[0] != '\0')
            json_number_member(json, counters[i].name, counters[i].number);
}

/* What weights are called. */
static const struct unit {
    const char *total, *unseen;
} times = {"total_ns", "unseen_ns"}, calls = {"calls", "unseen_calls"},
  bytes = {"total_bytes", "unseen_bytes"}, objects = {"total_objects", "unseen_objects"},
  waits = {"total_waits", "unseen_waits"}, faults = {"total_faults", "unseen_faults"};

static const struct unit *unit_of(uint32_t collector) {
    if (wire_of_blocks(collector))
        return wire_of_numbers(collector) ? &objects : &bytes;
    if (wire_of_locks(collector))
        return wire_of_numbers(collector) ? &waits : &times;
    if (collector == WIRE_COLLECT_FAULTS)
        return &faults;
    return collector == WIRE_COLLECT_CALLS ? &calls : &times;
}

static void describe(struct json_out *json, struct process *p) {
    struct process_stats stats;
    struct mcct_stats tree;
    ingest_flush(p);
    pthread_mutex_lock(&p->lock);
    process_stats_locked(p, &stats);
    mcct_stats(process_tree(p), &tree);
    pthread_mutex_unlock(&p->lock);
    json_begin(json, '{');
    json_number_member(json, "pid", (uint64_t)p->pid);
    json_bytes_member(json, "exe", p->exe);
    json_bytes_member(json, "command", process_command(p));
    json_known_member(json, "tags", process_tags(p));
    json_string_member(json, "state", p->live ? "live" : p->waiting ? "waiting" : "finished");
    json_number_member(json, "since", p->since_ns / 1000000000u);
    json_number_member(json, "runs", p->runs);
    json_number_member(json, "threads", stats.threads);
    json_number_member(json, "cpu_ns", stats.cpu_ns);
    const struct unit *unit = unit_of(p->sampling.collector);
    json_string_member(json, "collector", metric_collector(p->sampling.collector));
    json_string_member(json, "kind", metric_kind(p->sampling.collector, p->sampling.clock));
    json_bool_member(json, "windows", process_keeps_windows(p->sampling.collector));
    json_number_member(json, unit->total, tree.total);
    json_number_member(json, "walks", stats.counter[WIRE_WALKS] + stats.deferred.credited);
    json_number_member(json, "complete", stats.counter[WIRE_COMPLETE] + stats.deferred.complete);
    json_number_member(json, "shipped", stats.deferred.credited);
    json_number_member(json, "refused", stats.deferred.refused);
    json_number_member(json, "lost", stats.counter[WIRE_LOST]);
    json_number_member(json, "lost_ns", stats.counter[WIRE_LOST_NS]);
    json_number_member(json, "skipped", stats.counter[WIRE_SKIPPED]);
    json_number_member(json, "agent_ns", stats.counter[WIRE_HANDLER_NS]);
    json_number_member(json, "contexts", tree.nodes - 1);
    json_number_member(json, "monitored", tree.monitored);
    json_number_member(json, unit->unseen, tree.unseen);
    json_number_member(json, "bytes", tree.bytes);
    json_string_member(json, "sampling", p->live && !stats.off ? "on" : "off");
    json_number_member(json, "rate", stats.rate);
    json_number_member(json, "signal", stats.signal);
    put_counters(json, &stats);
    json_number_member(json, "broken_rings", stats.broken);
    json_number_member(json, "restarts", stats.restarts);
    json_number_member(json, "gap_ns", stats.gap_ns);
    json_number_member(json, "gap_children_ns", stats.gap_children_ns);
    json_end(json, '}');
}

static void describe_daemon(struct json_out *json) {
    json_object_member(json, "daemon");
    json_string_member(json, "version", HCCT_VERSION);
    json_number_member(json, "pid", (uint64_t)getpid());
    json_number_member(json, "instance", config.instance);
    json_bool_member(json, "restored", config.restored);
    json_double_member(json, "phi", config.phi);
    json_double_member(json, "epsilon", config.epsilon);
    json_string_member(json, "summary", config.summary);
    json_number_member(json, "dropped_ns", registry_dropped());
    json_end(json, '}');
}

enum query_status query_list(const struct query *query, FILE *out, struct query_error *error) {
    size_t n;
    struct process **processes = query_processes(query, &n);
    if (processes == NULL)
        return query_no_memory("a list of processes", error);
    struct json_out json = {.out = out};
    json_begin(&json, '{');
    describe_daemon(&json);
    json_array_member(&json, "processes");
    for (size_t i = 0; i < n; i++)
        describe(&json, processes[i]);
    json_end(&json, ']');
    json_end(&json, '}');
    fputc('\n', out);
    registry_free_list(processes, n);
    return QUERY_OK;
}
