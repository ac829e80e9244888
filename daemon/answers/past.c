/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * past.c - what is younger than an hour, and than this hcctd, is in memory; of what is older there
 * are whole hours.
 */
#include "daemon/answers/past.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/wire/metric.h"
#include "daemon/history/history_add.h"

#define AROUND_S (24 * 3600u) /* with `rest`: so much before and after what is asked for */

/* The first whole second that is not before it. */
static uint64_t until_second(const struct query *query) {
    uint64_t until = query->until_ns != 0 ? query->until_ns : UINT64_MAX;
    return until / CLOCK_SECOND + (until % CLOCK_SECOND != 0);
}

static bool is_part(const struct query *query) {
    return query->since_ns != 0 || query->until_ns != 0;
}

static uint64_t until_of(const struct query *query) {
    return query->until_ns != 0 ? query->until_ns : UINT64_MAX;
}

static bool sees(const void *query, uid_t uid) {
    return query_sees(query, uid);
}

static bool is_asked_for(const struct query *query, const struct history_cell *cell) {
    uint64_t from_s = query->since_ns / CLOCK_SECOND, to_s = until_second(query);
    return (cell->begin_s < to_s && cell->end_s > from_s) != query->rest;
}

/* Cells that the span touches, or lies among; they end before what is in memory begins. */
static void find_cells(struct past *past, const struct query *query) {
    uint64_t from_s = query->since_ns / CLOCK_SECOND, to_s = until_second(query);
    if (query->rest) {
        from_s = from_s > AROUND_S ? from_s - AROUND_S : 0;
        to_s += to_s < UINT64_MAX - AROUND_S ? AROUND_S : 0;
    }
    size_t n, kept = 0;
    past->cells = history_list(from_s, to_s, sees, query, &n);
    for (size_t i = 0; i < n; i++) {
        uint64_t end = windows_time_of_day(past->cells[i].end_s * CLOCK_SECOND);
        if (end > past->part.least_ns)
            past->part.least_ns = end;
        if (is_asked_for(query, &past->cells[i]))
            past->cells[kept++] = past->cells[i];
    }
    past->n = kept;
}

/* Is any of it older than what is in memory? */
static bool reaches_back(const struct query *query) {
    uint64_t now = windows_time(clock_now()), first = windows_begin();
    if (now - first > SUBWINDOWS_SPAN_MAX_NS)
        first = now - SUBWINDOWS_SPAN_MAX_NS;
    return windows_time_of_day(query->since_ns) < first;
}

bool past_is_asked(const struct query *query) {
    return query->window_ns > 0 || is_part(query);
}

bool past_find(const struct query *query, struct past *past, struct query_error *error) {
    uint64_t now = windows_time(clock_now());
    *past = (struct past){.query = query};
    if (is_part(query) && query->window_ns > 0) {
        snprintf(error->text, sizeof error->text,
                 "window= and since= or until= exclude each other: give one of them");
        return false;
    }
    if (query->rest && !is_part(query)) {
        snprintf(error->text, sizeof error->text,
                 "rest=1 is all but a part of the past: say which, by since= and until=");
        return false;
    }
    if (query->since_ns >= until_of(query) ||
        (is_part(query) && windows_time_of_day(query->since_ns) > now)) {
        snprintf(error->text, sizeof error->text,
                 "no time lies between since= and until=: the first must be before the second, and "
                 "in the past");
        return false;
    }
    if (!past_is_asked(query))
        return true;
    past->window = &past->part;
    past->part = subwindows_last(now, query->window_ns);
    if (query->window_ns > 0)
        return true;
    past->part.rest = query->rest;
    past->part.from_ns = windows_time_of_day(query->since_ns);
    if (query->until_ns != 0)
        past->part.to_ns = windows_time_of_day(query->until_ns);
    if (reaches_back(query))
        find_cells(past, query);
    return true;
}

void past_free(struct past *past) {
    free(past->cells);
    past->cells = NULL;
}

bool past_is_empty(const struct past *past) {
    return past->n == 0;
}

bool past_has(const struct query *query) {
    struct past past;
    struct query_error unused;
    bool has = is_part(query) && past_find(query, &past, &unused) && !past_is_empty(&past);
    if (has)
        past_free(&past);
    return has;
}

/* ---- adding up ---- */

/* Of the cells those of the kind that is asked for, which stay in order. */
static size_t choose_kind(const struct query *query, struct history_cell *cells, size_t n) {
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (query->collector == NULL ||
            strcmp(query->collector, metric_kind(cells[i].collector, cells[i].clock)) == 0)
            cells[kept++] = cells[i];
    return kept;
}

/* Of all hours, of whatever kind. */
static struct history_time time_of(const struct past *past) {
    struct history_time time = {.begin_s = past->cells[0].begin_s};
    for (size_t i = 0; i < past->n; i++)
        if (i == 0 || past->cells[i].begin_s != past->cells[i - 1].begin_s)
            time.span_s += past->cells[i].end_s - past->cells[i].begin_s;
    return time;
}

/* Those of the kind, *n of them; the caller's to free. */
static struct history_cell *copy_cells(const struct past *past, size_t *n) {
    struct history_cell *cells = memory_new(past->n, sizeof *cells, "past hours");
    memcpy(cells, past->cells, past->n * sizeof *cells);
    *n = choose_kind(past->query, cells, past->n);
    return cells;
}

/* Processes that are alike are one in days. */
static bool may_read_days(const struct query *query) {
    return query->pid == 0;
}

struct profile *past_add(const struct past *past, struct profile *profile,
                         struct query_error *error) {
    const struct process_choice processes = query_choice(past->query);
    const struct history_choice choice = {process_choice_wants, &processes};
    const struct history_time time = time_of(past);
    size_t n, n_parts;
    struct history_cell *cells = copy_cells(past, &n);
    struct history_part *parts =
        history_read(cells, n, &choice, may_read_days(past->query), &n_parts);
    free(cells);
    return history_add(profile, parts, n_parts, &time, true, error->text, sizeof error->text);
}

/* ---- by a renderer ---- */

/* The number of the cell's log among the files, of which those from `first` on are this order's;
 * it is opened where no earlier cell has it. RENDER_FILES_MAX: it can't be opened, or is one too
 * many, which is *full then. */
static uint32_t file_of(const struct history_cell *cells, size_t i,
                        const struct history_ordered *hours, struct render_files *files,
                        bool *full) {
    for (size_t k = 0; k < i; k++)
        if (history_same_log(&cells[k], &cells[i]))
            return hours[k].file;
    *full |= files->n == RENDER_FILES_MAX;
    int fd = *full ? -1 : history_open_log(&cells[i]);
    if (fd < 0)
        return RENDER_FILES_MAX;
    files->fd[files->n] = fd;
    return files->n++;
}

bool past_order(const struct past *past, FILE *out, struct render_files *files) {
    size_t n;
    struct history_cell *cells = copy_cells(past, &n);
    struct history_ordered *all = memory_new(n, sizeof *all, "past hours");
    struct history_order order = {.time = time_of(past),
                                  .choice = query_choice(past->query),
                                  .days = may_read_days(past->query),
                                  .hours = memory_new(n, sizeof *order.hours, "past hours")};
    bool full = false;
    for (size_t i = 0; i < n; i++) {
        all[i] = (struct history_ordered){{cells[i].begin_s, cells[i].end_s},
                                          file_of(cells, i, all, files, &full)};
        if (all[i].file < RENDER_FILES_MAX)
            order.hours[order.n++] = all[i];
    }
    if (!full)
        history_order_write(&order, out);
    free(order.hours);
    free(all);
    free(cells);
    return !full;
}
