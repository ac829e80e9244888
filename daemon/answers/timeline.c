/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * timeline.c - sub-windows of all processes that are asked for, added up by their beginnings; and
 * the names of files of past hours.
 */
#include "daemon/answers/timeline.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/json_out.h"
#include "common/wire/metric.h"
#include "daemon/history/history.h"
#include "daemon/answers/marked.h"
#include "daemon/ingest/registry.h"
#include "daemon/ingest/windows.h"

#define HOUR_S 3600u

struct level {
    uint64_t width_ns;
    uint64_t last;                      /* index of the cell that is now */
    unsigned n;                         /* cells that are kept */
    uint64_t weight[SUBWINDOWS_COARSE]; /* the last one is now */
};

struct line {
    struct level level[2];
};

static void add(void *arg, const struct subwindows_cell *cell) {
    struct line *line = arg;
    for (int i = 0; i < 2; i++) {
        struct level *level = &line->level[i];
        uint64_t index = cell->begin_ns / level->width_ns;
        if (cell->width_ns == level->width_ns && index <= level->last &&
            level->last - index < level->n)
            level->weight[level->n - 1 - (level->last - index)] += cell->weight;
    }
}

/* Weight by time: how many processors were at work, or threads, with the wall clock. */
static void put_cell(struct json_out *json, double begin_s, double end_s, uint64_t weight) {
    json_begin(json, '{');
    json_double_member(json, "since", begin_s);
    json_double_member(json, "until", end_s);
    json_number_member(json, "weight", weight);
    json_double_member(json, "load",
                       end_s > begin_s ? (double)weight / 1e9 / (end_s - begin_s) : 0);
    json_end(json, '}');
}

static void begin_level(struct json_out *json, double seconds) {
    json_begin(json, '{');
    json_double_member(json, "seconds", seconds);
    json_array_member(json, "cells");
}

static void end_level(struct json_out *json) {
    json_end(json, ']');
    json_end(json, '}');
}

static void put_level(struct json_out *json, const struct level *level, uint64_t now) {
    begin_level(json, (double)level->width_ns / 1e9);
    for (unsigned i = 0; i < level->n; i++) {
        uint64_t begin = (level->last - (level->n - 1 - i)) * level->width_ns;
        uint64_t end = begin + level->width_ns < now ? begin + level->width_ns : now;
        if (level->weight[i] > 0)
            put_cell(json, (double)windows_day_of_time(begin) / 1e9,
                     (double)windows_day_of_time(end) / 1e9, level->weight[i]);
    }
    end_level(json);
}

static bool sees(const void *query, uid_t uid) {
    return query_sees(query, uid);
}

/* Does what has these weights belong to the line? Without a kind asked for, it is about samples of
 * stacks, whatever clock they were taken by. */
static bool is_asked_for(const struct query *query, unsigned collector, unsigned clock) {
    if (query->collector == NULL)
        return collector == WIRE_COLLECT_WALKS;
    return strcmp(query->collector, metric_kind(collector, clock)) == 0;
}

/* Cells of several users, or of several hcctds in one hour, are one. */
static void put_hours(struct json_out *json, const struct query *query) {
    size_t n;
    struct history_cell *cell = history_list(0, UINT64_MAX, sees, query, &n);
    begin_level(json, HOUR_S);
    for (size_t i = 0; i < n;) {
        uint64_t hour = cell[i].begin_s / HOUR_S, end = 0, weight = 0, begin = cell[i].begin_s;
        for (; i < n && cell[i].begin_s / HOUR_S == hour; i++) {
            weight += is_asked_for(query, cell[i].collector, cell[i].clock) ? cell[i].weight : 0;
            end = cell[i].end_s > end ? cell[i].end_s : end;
        }
        if (weight > 0)
            put_cell(json, (double)begin, (double)end, weight);
    }
    end_level(json);
    free(cell);
}

/* Marks that found no place. */
static uint64_t marks_lost(struct process **processes, size_t n) {
    uint64_t lost = 0;
    for (size_t i = 0; i < n; i++) {
        struct process_stats stats;
        pthread_mutex_lock(&processes[i]->lock);
        process_stats_locked(processes[i], &stats);
        pthread_mutex_unlock(&processes[i]->lock);
        lost += stats.marks_lost;
    }
    return lost;
}

enum query_status timeline_write(const struct query *query, FILE *out, struct query_error *error) {
    size_t n;
    struct process **processes = query_processes(query, &n);
    if (processes == NULL)
        return query_no_memory("a list of processes", error);
    uint64_t mono = clock_now(), now = windows_time(mono);
    struct line line = {
        .level = {{SUBWINDOWS_FINE_NS, now / SUBWINDOWS_FINE_NS, SUBWINDOWS_FINE, {0}},
                  {SUBWINDOWS_COARSE_NS, now / SUBWINDOWS_COARSE_NS, SUBWINDOWS_COARSE, {0}}}};
    for (size_t i = 0; i < n; i++)
        if (process_keeps_windows(processes[i]->sampling.collector) &&
            is_asked_for(query, processes[i]->sampling.collector, processes[i]->sampling.clock))
            windows_each_cell(processes[i], mono, add, &line);
    uint64_t lost = marks_lost(processes, n);
    registry_free_list(processes, n);
    struct json_out json = {.out = out};
    json_begin(&json, '{');
    json_double_member(&json, "now", (double)windows_day_of_time(now) / 1e9);
    json_array_member(&json, "levels");
    for (int i = 0; i < 2; i++)
        put_level(&json, &line.level[i], now);
    if (query->pid == 0 && query->exe == NULL && query->tag == NULL)
        put_hours(&json, query);
    json_end(&json, ']');
    marked_put(&json, query);
    json_number_member(&json, "marks_lost", lost);
    json_end(&json, '}');
    fputc('\n', out);
    return QUERY_OK;
}
