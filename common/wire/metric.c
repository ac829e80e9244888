/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * metric.c - the names.
 */
#include "common/wire/metric.h"

#include <stddef.h>
#include <string.h>

#include "common/wire/compiler.h"

static const struct metric metrics[] = {
    {"cpu", WIRE_COLLECT_WALKS, WIRE_CLOCKS, "cpu", "nanoseconds"},
    {"wait", WIRE_COLLECT_WALKS, WIRE_CLOCK_OFF, "wait", "nanoseconds"},
    {"alloc", WIRE_COLLECT_ALLOC, WIRE_CLOCKS, "alloc_space", "bytes"},
    {"alloc-objects", WIRE_COLLECT_ALLOC_OBJECTS, WIRE_CLOCKS, "alloc_objects", "count"},
    {"heap", WIRE_COLLECT_HEAP, WIRE_CLOCKS, "inuse_space", "bytes"},
    {"heap-objects", WIRE_COLLECT_HEAP_OBJECTS, WIRE_CLOCKS, "inuse_objects", "count"},
    {"lock", WIRE_COLLECT_LOCK, WIRE_CLOCKS, "delay", "nanoseconds"},
    {"lock-waits", WIRE_COLLECT_LOCK_WAITS, WIRE_CLOCKS, "contentions", "count"},
    {"lock-held", WIRE_COLLECT_LOCK_HELD, WIRE_CLOCKS, "held_delay", "nanoseconds"},
    {"faults", WIRE_COLLECT_FAULTS, WIRE_CLOCKS, "faults", "count"},
};

const struct metric *metric_find(const char *word) {
    for (size_t i = 0; i < HCCT_ARRAY_LEN(metrics); i++)
        if (strcmp(word, metrics[i].name) == 0)
            return &metrics[i];
    return NULL;
}

/* A name that ends at `end`. */
static const struct metric *find_part(const char *word, const char *end) {
    for (size_t i = 0; i < HCCT_ARRAY_LEN(metrics); i++)
        if (strlen(metrics[i].name) == (size_t)(end - word) &&
            strncmp(word, metrics[i].name, (size_t)(end - word)) == 0)
            return &metrics[i];
    return NULL;
}

static const char *end_of_part(const char *word) {
    const char *comma = strchr(word, ',');
    return comma != NULL ? comma : word + strlen(word);
}

const char *metric_list_unknown(const char *text, int *length) {
    for (const char *word = text, *end;; word = end + 1) {
        end = end_of_part(word);
        *length = (int)(end - word);
        if (find_part(word, end) == NULL)
            return word;
        if (*end == '\0')
            return NULL;
    }
}

static bool is_of_time(uint32_t collector) {
    return collector == WIRE_COLLECT_WALKS;
}

static bool is_of_faults(uint32_t collector) {
    return collector == WIRE_COLLECT_FAULTS;
}

static bool samples_sleep(const struct metric_list *list) {
    for (unsigned i = 0; i < list->n; i++)
        if (list->metric[i]->clock == WIRE_CLOCK_OFF)
            return true;
    return false;
}

/* What the list has of a kind, of which there may be one. */
static unsigned count(const struct metric_list *list, bool (*kind)(uint32_t)) {
    unsigned n = 0;
    for (unsigned i = 0; i < list->n; i++)
        n += kind(list->metric[i]->collector);
    return n;
}

static const char *contradiction(const struct metric_list *list) {
    for (unsigned i = 0; i < list->n; i++)
        for (unsigned k = 0; k < i; k++)
            if (list->metric[i] == list->metric[k])
                return "a metric is named twice";
    if (count(list, is_of_time) > 1)
        return "cpu and wait are by one timer: only one of them can be in a run";
    if (samples_sleep(list) && count(list, is_of_faults) > 0)
        return "faults are counted at samples of CPU time, of which wait has none";
    if (count(list, wire_of_heap) > 1)
        return "heap and heap-objects are one table of blocks: only one of them can be in a run";
    return NULL;
}

const char *metric_list_read(const char *text, struct metric_list *list) {
    *list = (struct metric_list){.n = 0};
    for (const char *word = text, *end;; word = end + 1) {
        end = end_of_part(word);
        const struct metric *metric = find_part(word, end);
        if (metric == NULL)
            return METRICS_LIST_EXPECTED;
        if (list->n == WIRE_METRICS_MAX)
            return "at most seven metrics can be in a run";
        list->metric[list->n++] = metric;
        if (*end == '\0')
            break;
    }
    list->by_ticks = list->n;
    for (unsigned i = 0; i < list->n;
         i++) /* faults have ticks of their own where there is no time */
        if (is_of_time(list->metric[i]->collector) ||
            (is_of_faults(list->metric[i]->collector) && list->by_ticks == list->n))
            list->by_ticks = i;
    return contradiction(list);
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

bool metric_kind_is_time(const char *kind) {
    return strcmp(kind, metric_kind(WIRE_COLLECT_WALKS, WIRE_CLOCK_CPU)) == 0 ||
           strcmp(kind, metric_kind(WIRE_COLLECT_WALKS, WIRE_CLOCK_WALL)) == 0 ||
           strcmp(kind, metric_kind(WIRE_COLLECT_WALKS, WIRE_CLOCK_OFF)) == 0;
}

const char *metric_type_of_word(const char *word) {
    const struct metric *metric = metric_find(word);
    return metric != NULL ? metric->type : word;
}

const char *metric_word_of_type(const char *type) {
    for (size_t i = 0; i < HCCT_ARRAY_LEN(metrics); i++)
        if (strcmp(metrics[i].type, type) == 0)
            return metrics[i].name;
    return type;
}

const char *metric_collector(unsigned collector) {
    if (collector == WIRE_COLLECT_CALLS)
        return "calls";
    for (size_t i = 0; i < HCCT_ARRAY_LEN(metrics); i++)
        if (metrics[i].collector == collector && collector > WIRE_COLLECT_CALLS)
            return metrics[i].name;
    return walks;
}
