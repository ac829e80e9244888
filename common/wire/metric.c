/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * metric.c - the names.
 */
#include "common/wire/metric.h"

#include <stddef.h>
#include <string.h>

#include "common/wire/compiler.h"
#include "common/wire/wire.h"

static const struct {
    const char *name;
    unsigned collector;
} metrics[] = {
    {"cpu", WIRE_COLLECT_WALKS}, /* the only one whose collector has a name of its own */
    {"alloc", WIRE_COLLECT_ALLOC}, {"alloc-objects", WIRE_COLLECT_ALLOC_OBJECTS},
    {"heap", WIRE_COLLECT_HEAP},   {"heap-objects", WIRE_COLLECT_HEAP_OBJECTS},
    {"lock", WIRE_COLLECT_LOCK},   {"lock-waits", WIRE_COLLECT_LOCK_WAITS},
};

bool metric_parse(const char *word, unsigned *collector) {
    for (size_t i = 0; i < HCCT_ARRAY_LEN(metrics); i++)
        if (strcmp(word, metrics[i].name) == 0) {
            *collector = metrics[i].collector;
            return true;
        }
    return false;
}

const char *metric_collector(unsigned collector) {
    if (collector == WIRE_COLLECT_CALLS)
        return "calls";
    for (size_t i = 1; i < HCCT_ARRAY_LEN(metrics); i++)
        if (metrics[i].collector == collector)
            return metrics[i].name;
    return "walks";
}
