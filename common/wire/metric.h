/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * metric.h - what contexts weigh, as users name it (HCCT_METRICS, --metric).
 */
#ifndef HCCT_METRIC_H
#define HCCT_METRIC_H

#include "common/wire/wire.h"

#define METRICS_EXPECTED "cpu, wait, alloc, alloc-objects, heap, heap-objects, lock or lock-waits"

struct metric {
    const char *name;
    unsigned collector; /* enum wire_collector */
    unsigned clock;     /* enum wire_clock; WIRE_CLOCKS: it has none of its own */
};

/* NULL: there is no such metric. */
const struct metric *metric_find(const char *word);

/* What profiles and lists call a collector: walks, calls, or the metric. */
const char *metric_collector(unsigned collector);

/* What adds up with nothing else: walks (of CPU time, whatever measures it), wall, wait, calls, or
 * the metric of events. */
const char *metric_kind(unsigned collector, unsigned clock);

/* Users say cpu where the kind is walks; all other words are the same. */
const char *metric_kind_of_word(const char *word);
const char *metric_word_of_kind(const char *kind);

#endif
