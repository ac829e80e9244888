/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * control.c - from parameters to the session page, which the agent reads.
 */
#include "daemon/answers/control.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/json_out.h"
#include "common/wire/burst.h"
#include "common/wire/wire.h"
#include "daemon/ingest/registry.h"

#define RATE_MAX 10000u

/* ---- parameters ---- */

static bool set_state(struct control *c, const char *value) {
    c->has_state = true;
    c->on = strcmp(value, "on") == 0;
    return c->on || strcmp(value, "off") == 0;
}

static bool set_rate(struct control *c, const char *value) {
    char *end;
    unsigned long n = strtoul(value, &end, 10);
    bool digits = value[0] >= '0' && value[0] <= '9' && *end == '\0';
    c->has_rate = true;
    c->rate = n <= RATE_MAX ? (uint32_t)n : 0;
    return digits && c->rate >= 1;
}

static bool set_burst(struct control *c, const char *value) {
    c->has_burst = true;
    c->burst_length_ns = c->burst_period_ns = 0;
    return strcmp(value, "none") == 0 ||
           burst_parse(value, &c->burst_length_ns, &c->burst_period_ns);
}

static const struct {
    const char *name;
    bool (*set)(struct control *control, const char *value);
    const char *values;
} parameters[] = {
    {"state", set_state, "on or off"},
    {"rate", set_rate, "samples per second of CPU time, from 1 to 10000"},
    {"burst", set_burst, "LENGTH/PERIOD such as 2ms/20ms (100us to 10s), or none"},
};

bool control_set(struct control *control, const char *name, const char *value,
                 enum query_status *status, struct query_error *error) {
    for (size_t i = 0; i < sizeof parameters / sizeof parameters[0]; i++) {
        if (strcmp(name, parameters[i].name) != 0)
            continue;
        *status = QUERY_OK;
        if (value == NULL || !parameters[i].set(control, value)) {
            snprintf(error->text, sizeof error->text, "%s=%.80s is not possible: give %s", name,
                     value != NULL ? value : "", parameters[i].values);
            *status = QUERY_BAD;
        }
        return true;
    }
    return false;
}

/* ---- may it be? ---- */

/* Nothing in the way of these changes; else why they can't be. */
static bool is_possible(const struct process *process, const struct control *c,
                        struct query_error *error) {
    const struct session_sampling *sampling = &process->sampling;
    bool burst = c->has_burst && c->burst_length_ns != 0;
    if (sampling->collector == WIRE_COLLECT_CALLS)
        snprintf(error->text, sizeof error->text,
                 "calls of process %d are counted, each as it comes: it has no state, rate or "
                 "burst that could be changed while it runs",
                 (int)process->pid);
    else if (wire_of_events(sampling->collector) && (c->has_burst || c->has_rate))
        snprintf(error->text, sizeof error->text,
                 "%s of process %d are sampled, not time: it has no rate or burst, only a state "
                 "that can be changed",
                 wire_of_blocks(sampling->collector) ? "allocations" : "waits for locks",
                 (int)process->pid);
    else if (burst && sampling->clock != WIRE_CLOCK_CPU)
        snprintf(error->text, sizeof error->text,
                 "process %d is sampled by the wall clock, which has no bursts: only its rate and "
                 "state can be changed",
                 (int)process->pid);
    else
        return true;
    return false;
}

static enum query_status judge(const struct query *query, const struct control *c,
                               const struct process *process, struct query_error *error) {
    if (process != NULL)
        return is_possible(process, c, error) ? QUERY_OK : QUERY_BAD;
    snprintf(error->text, sizeof error->text,
             "no live process %d of yours is profiled: 'hcct list' shows which are",
             (int)query->pid);
    return QUERY_NOT_FOUND;
}

static enum query_status bad(struct query_error *error, const char *sentence) {
    snprintf(error->text, sizeof error->text, "%s", sentence);
    return QUERY_BAD;
}

/* ---- doing it ---- */

static void change(struct wire_session *session, const struct control *c) {
    if (c->has_rate)
        atomic_store(&session->rate, c->rate);
    if (c->has_burst) { /* in an order in which a burst is never longer than its period */
        atomic_store(&session->burst_length_ns, 0);
        atomic_store(&session->burst_period_ns, c->burst_period_ns);
        atomic_store(&session->burst_length_ns, c->burst_length_ns);
    }
    if (c->has_state && c->on)
        atomic_fetch_or(&session->control, WIRE_CONTROL_ON);
    else if (c->has_state)
        atomic_fetch_and(&session->control, ~WIRE_CONTROL_ON);
}

static void describe(const struct process *process, const struct process_stats *stats, FILE *out) {
    struct json_out json = {.out = out};
    json_begin(&json, '{');
    json_number_member(&json, "pid", (uint64_t)process->pid);
    json_bytes_member(&json, "command", process_command(process));
    json_string_member(&json, "sampling", stats->off ? "off" : "on");
    json_number_member(&json, "rate", stats->rate);
    json_number_member(&json, "burst_length_ns", stats->burst_length_ns);
    json_number_member(&json, "burst_period_ns", stats->burst_period_ns);
    json_end(&json, '}');
    fputc('\n', out);
}

static struct process *first_live(struct process *const *processes, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (processes[i]->live)
            return processes[i];
    return NULL;
}

enum query_status control_apply(const struct query *query, const struct control *control, FILE *out,
                                struct query_error *error) {
    struct process_stats stats;
    size_t n;
    if (query->pid == 0)
        return bad(error, "say which process: pid=");
    if (!control->has_state && !control->has_rate && !control->has_burst)
        return bad(error, "say what to change: state=, rate= or burst=");
    struct process **processes = query_processes(query, &n);
    if (processes == NULL)
        return query_no_memory("a list of processes", error);
    struct process *process = first_live(processes, n);
    enum query_status status = judge(query, control, process, error);
    if (status == QUERY_OK) {
        pthread_mutex_lock(&process->lock);
        if (process->live) { /* else it has just ended */
            change(process->memory.session, control);
            process->ended.rate_changes += control->has_rate || control->has_burst;
        }
        pthread_mutex_unlock(&process->lock);
        process_get_stats(process, &stats);
        describe(process, &stats, out);
    }
    registry_free_list(processes, n);
    return status;
}
