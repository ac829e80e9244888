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
#include "common/profile/merge.h"
#include "common/wire/metric.h"

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

static bool wanted(const void *query, const struct profile_process *process) {
    return query_wants(query, (pid_t)process->pid, process->exe, process->command, process->tags);
}

static bool has_weight(const struct profile *profile) {
    for (uint32_t i = 1; i < profile->n_processes; i++)
        if (profile->processes[i].total > 0)
            return true;
    return false;
}

/* Of the cells those of the kind that is asked for, which stay in order. */
static size_t choose_kind(const struct query *query, struct history_cell *cells, size_t n) {
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (query->collector == NULL ||
            strcmp(query->collector, metric_kind(cells[i].collector, cells[i].clock)) == 0)
            cells[kept++] = cells[i];
    return kept;
}

/* So much time is in it, from here on. */
static void describe(struct profile *sum, const struct past *past, const struct profile *live) {
    uint64_t window = live != NULL ? live->window_ns : 0, begin = past->cells[0].begin_s;
    for (size_t i = 0; i < past->n; i++)
        if (i == 0 || past->cells[i].begin_s != past->cells[i - 1].begin_s)
            window += (past->cells[i].end_s - past->cells[i].begin_s) * CLOCK_SECOND;
    sum->time_ns = begin * CLOCK_SECOND;
    sum->window_ns = sum->duration_ns = window;
    sum->is_past = true;
}

/* What is in memory, and parts from files. One alone is the sum by itself. */
static struct profile *add_up(struct profile *live, const struct history_part *parts, size_t n,
                              struct query_error *error) {
    if (n == 1 && live == NULL) {
        merge_finish(parts[0].profile, parts[0].trees);
        return parts[0].profile;
    }
    struct merge_part *all = memory_new(n + 1, sizeof *all, "past hours");
    size_t n_all = 0, bad;
    if (live != NULL)
        all[n_all++].profile = live;
    for (size_t i = 0; i < n; i++)
        all[n_all++] = (struct merge_part){parts[i].profile, parts[i].trees};
    struct profile *sum = merge_parts(all, n_all, &bad, error->text, sizeof error->text);
    free(all);
    return sum;
}

struct profile *past_add(const struct past *past, struct profile *profile,
                         struct query_error *error) {
    const struct query *query = past->query;
    const struct history_choice choice = {wanted, query};
    struct history_cell *cells = memory_new(past->n, sizeof *cells, "past hours");
    bool live = has_weight(profile);
    size_t n_parts;
    memcpy(cells, past->cells, past->n * sizeof *cells);
    size_t n = choose_kind(query, cells, past->n);
    struct history_part *parts = history_read(cells, n, &choice, query->pid == 0, &n_parts);
    struct profile *sum =
        n_parts == 0 ? profile : add_up(live ? profile : NULL, parts, n_parts, error);
    if (sum != NULL)
        describe(sum, past, live ? profile : NULL);
    for (size_t i = 0; i < n_parts; i++) {
        if (parts[i].profile != sum)
            profile_free(parts[i].profile);
        free(parts[i].trees);
    }
    if (sum != profile)
        profile_free(profile);
    free(parts);
    free(cells);
    return sum;
}
