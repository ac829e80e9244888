/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * process_stats.c - sums, number by number as the lists have them.
 */
#include "daemon/ingest/process_stats.h"

static void add_deferred(struct deferred_counts *sum, const struct deferred_counts *more) {
    sum->credited += more->credited;
#define ADD(member) sum->member += more->member;
    DEFERRED_COUNTERS(ADD)
#undef ADD
}

void process_stats_add(struct process_stats *sum, const struct process_stats *more) {
    for (int i = 0; i < WIRE_COUNTERS; i++)
        sum->counter[i] += more->counter[i];
    sum->cpu_ns += more->cpu_ns;
    sum->threads += more->threads;
    sum->broken += more->broken;
#define ADD(member, ...) sum->member += more->member;
    PROCESS_COUNTERS(ADD)
    RESTART_COUNTERS(ADD)
#undef ADD
    add_deferred(&sum->deferred, &more->deferred);
    draws_add_all(&sum->draws, &more->draws);
    scatter_add_sums(&sum->scatter, &more->scatter);
    sum->reading_ns += more->reading_ns;
    burst_sums_add_all(&sum->bursts, &more->bursts);
}

void process_stats_add_slot(struct process_stats *sum, const struct wire_slot *slot) {
    for (int i = 0; i < WIRE_COUNTERS; i++)
        sum->counter[i] += atomic_load_explicit(&slot->counter[i], memory_order_relaxed);
}

void process_stats_add_session(struct process_stats *sum, struct wire_session *session,
                               uint32_t place) {
    sum->counter[WIRE_LOST_NS] += atomic_load(&session->lost_ns[place % WIRE_METRICS_MAX]);
    sum->counter[WIRE_LOST] += atomic_load(&session->lost);
#define ADD_AGENT(member) sum->member += atomic_load(&session->member);
#define ADD_DAEMON(member)
#define ADD(member, by, ...) ADD_##by(member)
    PROCESS_COUNTERS(ADD)
#undef ADD
#undef ADD_DAEMON
#undef ADD_AGENT
}
