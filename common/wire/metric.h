/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * metric.h - what contexts weigh, as users name it (HCCT_METRICS, --metric).
 */
#ifndef HCCT_METRIC_H
#define HCCT_METRIC_H

#include "common/wire/wire.h"

#define METRICS_LIST_EXPECTED                                                                      \
    "one or more of cpu, wait, alloc, alloc-objects, heap, heap-objects, lock, lock-waits, "       \
    "lock-held and faults, such as cpu,heap"

struct metric {
    const char *name;
    unsigned collector;      /* enum wire_collector */
    unsigned clock;          /* enum wire_clock; WIRE_CLOCKS: it has none of its own */
    const char *type, *unit; /* of its weights in a profile, in the words of other tools */
};

/* NULL: there is no such metric. */
const struct metric *metric_find(const char *word);

/* Metrics of one run, in the order in which they were asked for. */
struct metric_list {
    const struct metric *metric[WIRE_METRICS_MAX];
    unsigned n;        /* at least 1 */
    unsigned by_ticks; /* the one of time, else that of faults; n: there is none */
};

/* Reads names with commas between them. NULL: these can be counted together; else why not, as a
 * sentence without its end, or METRICS_LIST_EXPECTED. */
const char *metric_list_read(const char *text, struct metric_list *list);

/* The first of the names that is no metric, and how long it is; NULL: all are. */
const char *metric_list_unknown(const char *text, int *length);

/* What profiles and lists call a collector: walks, calls, or the metric. */
const char *metric_collector(unsigned collector);

/* What adds up with nothing else: walks (of CPU time, whatever measures it), wall, wait, calls, or
 * the metric of events. */
const char *metric_kind(unsigned collector, unsigned clock);

/* The type of a profile (profile.h) that a metric's has, and back. A word that is no metric stands
 * for itself. */
const char *metric_type_of_word(const char *word);
const char *metric_word_of_type(const char *type);

/* Users say cpu where the kind is walks; all other words are the same. */
const char *metric_kind_of_word(const char *word);
const char *metric_word_of_kind(const char *kind);

/* Whether its samples stand for time. */
bool metric_kind_is_time(const char *kind);

#endif
