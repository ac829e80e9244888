/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * metric.c - the names.
 */
#include "common/wire/metric.h"

#include <stddef.h>
#include <string.h>

#include "common/wire/compiler.h"

static const struct metric metrics[] = {
    {"cpu", WIRE_COLLECT_WALKS, WIRE_CLOCKS},
    {"wait", WIRE_COLLECT_WALKS, WIRE_CLOCK_OFF},
    {"alloc", WIRE_COLLECT_ALLOC, WIRE_CLOCKS},
    {"alloc-objects", WIRE_COLLECT_ALLOC_OBJECTS, WIRE_CLOCKS},
    {"heap", WIRE_COLLECT_HEAP, WIRE_CLOCKS},
    {"heap-objects", WIRE_COLLECT_HEAP_OBJECTS, WIRE_CLOCKS},
    {"lock", WIRE_COLLECT_LOCK, WIRE_CLOCKS},
    {"lock-waits", WIRE_COLLECT_LOCK_WAITS, WIRE_CLOCKS},
};

const struct metric *metric_find(const char *word) {
    for (size_t i = 0; i < HCCT_ARRAY_LEN(metrics); i++)
        if (strcmp(word, metrics[i].name) == 0)
            return &metrics[i];
    return NULL;
}

const char *metric_kind(unsigned collector, unsigned clock) {
    if (collector == WIRE_COLLECT_WALKS && wire_clock_sleeps(clock))
        return clock == WIRE_CLOCK_WALL ? "wall" : "wait";
    return metric_collector(collector);
}

static const char cpu[] = "cpu", walks[] = "walks";

const char *metric_kind_of_word(const char *word) {
    return strcmp(word, cpu) == 0 ? walks : word;
}

const char *metric_word_of_kind(const char *kind) {
    return strcmp(kind, walks) == 0 ? cpu : kind;
}

const char *metric_collector(unsigned collector) {
    if (collector == WIRE_COLLECT_CALLS)
        return "calls";
    for (size_t i = 0; i < HCCT_ARRAY_LEN(metrics); i++)
        if (metrics[i].collector == collector && wire_of_events(collector))
            return metrics[i].name;
    return walks;
}
