/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * metric.h - what contexts weigh, as users name it (HCCT_METRICS, --metric).
 */
#ifndef HCCT_METRIC_H
#define HCCT_METRIC_H

#include <stdbool.h>

#define METRICS_EXPECTED "cpu, alloc, alloc-objects, heap, heap-objects, lock or lock-waits"

/* The collector (enum wire_collector) of that metric; "cpu" is of walks. False: there is none, and
 * nothing is done. */
bool metric_parse(const char *word, unsigned *collector);

/* What profiles and lists call a collector: walks, calls, or the metric. */
const char *metric_collector(unsigned collector);

#endif
