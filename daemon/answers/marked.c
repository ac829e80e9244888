/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * marked.c - all marks that the asker may see and has asked for, by time.
 */
#include "daemon/answers/marked.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/array_grow.h"
#include "common/base/clock.h"
#include "common/base/moment.h"
#include "common/profile/mark_lines.h"
#include "daemon/ingest/marks.h"
#include "daemon/ingest/windows.h"

struct found {
    const struct query *query;
    struct mark *mark;
    size_t n, room;
};

static void take(void *arg, const struct mark *mark) {
    struct found *found = arg;
    if (query_sees(found->query, mark->uid) &&
        query_wants(found->query, mark->pid, mark->exe, mark->command, mark->tags) &&
        array_grow(&found->mark, found->n, &found->room, sizeof *found->mark))
        found->mark[found->n++] = *mark;
}

static int by_time(const void *a, const void *b) {
    const struct mark *x = a, *y = b;
    return x->time_ns < y->time_ns ? -1 : x->time_ns > y->time_ns;
}

/* The caller frees its marks. */
static struct found find(const struct query *query) {
    struct found found = {.query = query};
    marks_each(take, &found);
    if (found.n > 1)
        qsort(found.mark, found.n, sizeof *found.mark, by_time);
    return found;
}

/* ---- a range ---- */

/* The first of that name after `after`. NULL: there is none. */
static const struct mark *first_after(const struct found *found, const char *name, uint64_t after) {
    for (size_t i = 0; i < found->n; i++)
        if (found->mark[i].time_ns > after && strcmp(found->mark[i].name, name) == 0)
            return &found->mark[i];
    return NULL;
}

static const struct mark *last_before(const struct found *found, const char *name,
                                      uint64_t before) {
    for (size_t i = found->n; i-- > 0;)
        if (found->mark[i].time_ns < before && strcmp(found->mark[i].name, name) == 0)
            return &found->mark[i];
    return NULL;
}

static enum query_status there_is_none(const char *name, const char *where,
                                       struct query_error *error) {
    snprintf(error->text, sizeof error->text,
             "there is no mark %.60s%s: hcct list --marks shows those that there are; or "
             "give " MOMENT_FORMS,
             name, where);
    return QUERY_NOT_FOUND;
}

/* From the last one that has the other name behind it, to the first of these. */
static enum query_status resolve_both(struct query *query, const struct found *found,
                                      struct query_error *error) {
    const struct mark *since = last_before(found, query->since_mark, UINT64_MAX), *until = NULL;
    if (since == NULL)
        return there_is_none(query->since_mark, "", error);
    while (since != NULL && (until = first_after(found, query->until_mark, since->time_ns)) == NULL)
        since = last_before(found, query->since_mark, since->time_ns);
    if (since == NULL)
        return there_is_none(query->until_mark, " behind the other one", error);
    query->since_ns = windows_day_of_time(since->time_ns);
    query->until_ns = windows_day_of_time(until->time_ns);
    return QUERY_OK;
}

/* The last one, before a moment where one is given. */
static enum query_status resolve_since(struct query *query, const struct found *found,
                                       struct query_error *error) {
    uint64_t before = query->until_ns != 0 ? windows_time_of_day(query->until_ns) : UINT64_MAX;
    const struct mark *since = last_before(found, query->since_mark, before);
    if (since == NULL)
        return there_is_none(query->since_mark, query->until_ns != 0 ? " before then" : "", error);
    query->since_ns = windows_day_of_time(since->time_ns);
    return QUERY_OK;
}

/* The last one; from a moment on, the first after that. */
static enum query_status resolve_until(struct query *query, const struct found *found,
                                       struct query_error *error) {
    const struct mark *until =
        query->since_ns != 0
            ? first_after(found, query->until_mark, windows_time_of_day(query->since_ns))
            : last_before(found, query->until_mark, UINT64_MAX);
    if (until == NULL)
        return there_is_none(query->until_mark, query->since_ns != 0 ? " after then" : "", error);
    query->until_ns = windows_day_of_time(until->time_ns);
    return QUERY_OK;
}

enum query_status marked_resolve(struct query *query, struct query_error *error) {
    if (query->since_mark == NULL && query->until_mark == NULL)
        return QUERY_OK;
    struct found found = find(query);
    enum query_status status = query->until_mark == NULL   ? resolve_since(query, &found, error)
                               : query->since_mark == NULL ? resolve_until(query, &found, error)
                                                           : resolve_both(query, &found, error);
    free(found.mark);
    return status;
}

/* ---- a list ---- */

static bool is_in_part(const struct query *query, uint64_t day_ns) {
    uint64_t since = query->since_ns;
    if (query->window_ns > 0)
        since = clock_ns(CLOCK_REALTIME) - query->window_ns;
    bool inside = day_ns >= since && (query->until_ns == 0 || day_ns < query->until_ns);
    return inside != query->rest;
}

static void put_line(FILE *out, const struct mark *mark, uint64_t day_ns) {
    struct mark_line line = {.time_ns = day_ns, .pid = (uint32_t)mark->pid};
    snprintf(line.name, sizeof line.name, "%s", mark->name);
    mark_line_put(out, &line);
}

char *marked_lines(const struct query *query) {
    struct found found = find(query);
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    for (size_t i = 0; i < found.n && out != NULL; i++) {
        uint64_t day_ns = windows_day_of_time(found.mark[i].time_ns);
        if (is_in_part(query, day_ns))
            put_line(out, &found.mark[i], day_ns);
    }
    free(found.mark);
    if (out != NULL && fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

void marked_put(struct json_out *json, const struct query *query) {
    struct found found = find(query);
    json_array_member(json, "marks");
    for (size_t i = 0; i < found.n; i++) {
        const struct mark *mark = &found.mark[i];
        json_begin(json, '{');
        json_double_member(json, "time", (double)windows_day_of_time(mark->time_ns) / 1e9);
        json_string_member(json, "name", mark->name);
        json_number_member(json, "pid", (uint64_t)mark->pid);
        json_bytes_member(json, "command", mark->command);
        json_end(json, '}');
    }
    json_end(json, ']');
    free(found.mark);
}
