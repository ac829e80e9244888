/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * fleet_source.c - hcct top's requests, as questions to ClickHouse.
 */
#include "client/remote/fleet_source.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/json_in.h"
#include "client/remote/span.h"
#include "common/base/memory.h"
#include "common/base/options.h"
#include "common/render/format.h"

/* What people count by; pushes come every 15 seconds. */
static const uint64_t cell_seconds[] = {15,   30,   60,    120,   300,   600,   1200,   1800,
                                        3600, 7200, 14400, 21600, 43200, 86400, 604800, 2678400};

static void fail(struct top_response *response, const struct fleet_server *server, int status) {
    response->outcome = status == HCCT_EXIT_NO_DATA ? TOP_NOT_FOUND : TOP_FAILED;
    snprintf(response->sentence, sizeof response->sentence, "%s", server->error);
}

/* ---- services and metrics ---- */

struct services {
    struct process_list *list;
    uint32_t room;
};

static char *copy_text(const char *text) {
    char *copy = memory_new(strlen(text) + 1, 1, "a service");
    return strcpy(copy, text);
}

/* Each row of the list of services. */
static int ask_list(const struct fleet_server *server, const struct fleet_choice *choice,
                    bool (*use)(const struct json_object *row, void *arg), void *arg) {
    struct transfer_answer answer;
    int status = fleet_ask_list(server, choice, false, &answer);
    if (status == HCCT_EXIT_OK && !fleet_each_row(&answer, use, arg))
        status = fleet_not_understood(server, &answer);
    free(answer.body);
    return status;
}

/* Of a row of the list: a process that has no number. */
static bool add_service(const struct json_object *row, void *arg) {
    struct services *services = arg;
    struct process_list *list = services->list;
    const char *metric = fleet_row_metric(row);
    struct listed_process process = {
        .live = true,
        .on = true,
        .calls = strcmp(metric, "calls") == 0,
        .walks = json_in_number(row, "samples"),
        .lost = json_in_number(row, "lost_samples"),
        .total = json_in_number(row, "weight"),
    };
    if (strlen(metric) >= sizeof process.kind)
        return true;
    strcpy(process.kind, metric);
    process.exe = copy_text(json_in_text(row, "name"));
    process.command = copy_text(process.exe);
    list->item =
        memory_grow(list->item, (uint32_t)list->n, &services->room, sizeof *list->item, "services");
    list->item[list->n++] = process;
    return true;
}

static int ask_services(const struct fleet_server *server, const struct fleet_choice *choice,
                        struct process_list *list) {
    struct services services = {.list = list};
    *list = (struct process_list){0};
    return ask_list(server, choice, add_service, &services);
}

static bool add_kind(const struct json_object *row, void *arg) {
    struct top_kinds *kinds = arg;
    const char *metric = fleet_row_metric(row);
    if (kinds->n < TOP_KINDS_MAX && strlen(metric) < PROCESSES_KIND_ROOM &&
        top_kinds_find(kinds, metric) == kinds->n)
        strcpy(kinds->name[kinds->n++], metric);
    return true;
}

/* Sees what is counted, and takes one of it; the heaviest first, but CPU time before all. */
static int choose_kind(const struct fleet_server *server, const struct fleet_choice *choice,
                       struct top_response *response) {
    struct top_request *request = &response->request;
    struct fleet_choice any = *choice;
    any.metric = NULL;
    int status = ask_list(server, &any, add_kind, &response->kinds);
    const struct top_kinds *kinds = &response->kinds;
    if (status != HCCT_EXIT_OK || kinds->n == 0 || top_kinds_find(kinds, request->kind) < kinds->n)
        return status;
    unsigned cpu = top_kinds_find(kinds, "cpu");
    strcpy(request->kind, kinds->name[cpu < kinds->n ? cpu : 0]);
    return status;
}

/* ---- the time line ---- */

struct cells {
    struct top_strip *strip;
    uint64_t from, width; /* seconds */
};

static bool add_cell(const struct json_object *row, void *arg) {
    const struct cells *cells = arg;
    uint64_t at = json_in_number(row, "cell");
    if (at < cells->strip->n)
        cells->strip->cell[at].load = (double)json_in_number(row, "weight") / (double)cells->width;
    return true;
}

/* The shortest cells of which so many are enough for a span. */
static uint64_t cell_width(uint64_t seconds, unsigned cells) {
    size_t i = 0;
    while (i + 1 < HCCT_ARRAY_LEN(cell_seconds) && seconds / cell_seconds[i] + 2 > cells)
        i++;
    return cell_seconds[i];
}

/* Cells of equal length, from the beginning of the choice to its end. */
static void ask_strip(const struct fleet_server *server, const struct fleet_choice *choice,
                      struct top_response *response) {
    unsigned columns = response->request.columns;
    struct top_strip *strip = &response->strip;
    uint64_t end = choice->to_s != UINT64_MAX ? choice->to_s : choice->now_s;
    columns = columns < TOP_STRIP_MAX ? columns : TOP_STRIP_MAX;
    if (columns < 20 || end <= choice->from_s)
        return;
    struct cells cells = {.strip = strip, .width = cell_width(end - choice->from_s, columns - 10)};
    cells.from = choice->from_s / cells.width * cells.width;
    strip->now = (double)end;
    for (uint64_t at = cells.from; at < end && strip->n < TOP_STRIP_MAX; at += cells.width)
        strip->cell[strip->n++] = (struct top_cell_of_time){
            .since = (double)at,
            .until = (double)(at + cells.width < end ? at + cells.width : end)};
    FILE *query = memory_stream("a query");
    fprintf(query,
            "SELECT intDiv(toUInt32(time) - %" PRIu64 ", %" PRIu64 ") AS cell, sum(total) AS "
            "weight FROM %s.totals FINAL",
            cells.from, cells.width, server->database);
    fleet_put_where(query, choice);
    fputs(" GROUP BY cell FORMAT JSONEachRow", query);
    if (fleet_ask_rows(server, query, add_cell, &cells) != HCCT_EXIT_OK)
        *strip = (struct top_strip){0}; /* what it is about is shown without it */
}

/* ---- contexts ---- */

/* A copy for who wants one, as hcctd would have sent it. */
static struct top_copy copy_of(const struct profile *profile) {
    struct top_copy copy;
    FILE *out = memory_stream("a copy");
    write_pprof(out, profile, &format_default_options);
    copy.data = memory_stream_end(out, &copy.bytes, "a copy");
    return copy;
}

static int ask_recent(const struct fleet_server *server, const struct fleet_choice *choice,
                      const struct top_request *request, struct profile **recent) {
    struct fleet_choice part = *choice;
    uint64_t end = choice->to_s != UINT64_MAX ? choice->to_s : choice->now_s;
    if (request->range.until > 0) {
        part.from_s = (uint64_t)request->range.since;
        part.to_s = (uint64_t)request->range.until;
    } else if (span_parse(request->window, &part.since_s)) {
        part.from_s = end > part.since_s ? end - part.since_s : 0;
    }
    int status = fleet_profile(server, &part, recent, NULL);
    if (status == HCCT_EXIT_OK)
        (*recent)->window_ns =
            ((part.to_s != UINT64_MAX ? part.to_s : end) - part.from_s) * 1000000000;
    return status;
}

static int ask_profiles(const struct fleet_server *server, const struct fleet_choice *choice,
                        struct top_response *response) {
    const struct top_request *request = &response->request;
    struct profile *total = NULL, *recent = NULL;
    int status = fleet_profile(server, choice, &total, NULL);
    if (status == HCCT_EXIT_OK)
        ask_strip(server, choice, response);
    if (status == HCCT_EXIT_OK && (request->window != NULL || request->range.until > 0)) {
        status = ask_recent(server, choice, request, &recent);
        if (status == HCCT_EXIT_NO_DATA) /* nobody has pushed lately */
            status = HCCT_EXIT_OK;
    }
    if (status == HCCT_EXIT_OK) {
        response->copy[TOP_TOTAL] = copy_of(total);
        if (recent != NULL)
            response->copy[TOP_RECENT] = copy_of(recent);
        response->model = top_model_make(total, recent, request->by, &request->steps, request->n);
    }
    profile_free(total);
    profile_free(recent);
    return status;
}

/* ---- the whole ---- */

static void answer(const struct top_source *source, const struct top_request *request,
                   struct top_response *response) {
    const struct fleet_source *it = (const struct fleet_source *)source;
    struct fleet_choice choice = it->choice;
    int status = fleet_set_span(&it->server, &choice);
    if (request->what == TOP_REQUEST_THREADS) {
        response->outcome = TOP_NOT_FOUND;
        snprintf(response->sentence, sizeof response->sentence, "what is pushed has no threads");
        return;
    }
    if (status == HCCT_EXIT_OK && request->what == TOP_REQUEST_PROCESSES) {
        status = ask_services(&it->server, &choice, &response->processes);
    } else if (status == HCCT_EXIT_OK) {
        if (request->exe[0] != '\0')
            choice.service = request->exe;
        if (request->choose)
            status = choose_kind(&it->server, &choice, response);
        if (response->request.kind[0] != '\0')
            choice.metric = response->request.kind;
        if (status == HCCT_EXIT_OK)
            status = ask_profiles(&it->server, &choice, response);
    }
    if (status != HCCT_EXIT_OK)
        fail(response, &it->server, status);
}

void fleet_source_make(struct fleet_source *source, const struct fleet_server *server,
                       const struct fleet_choice *choice) {
    *source = (struct fleet_source){
        .source = {"ClickHouse", answer}, .server = *server, .choice = *choice};
}
