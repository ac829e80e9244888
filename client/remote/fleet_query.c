/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * fleet_query.c - conditions, requests, rows.
 */
#include "client/remote/fleet_query.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "client/json_in.h"
#include "client/remote/clickhouse.h"
#include "common/base/memory.h"
#include "common/base/options.h"
#include "common/base/utf8.h"
#include "common/wire/metric.h"

#define HOUR_S             3600u
#define WHOLE_HOURS_FROM_S (6 * HOUR_S)

static void put_equal(FILE *out, const char *column, const char *value) {
    if (value == NULL)
        return;
    fprintf(out, " AND %s = ", column);
    clickhouse_quote(out, value);
}

void fleet_put_choice(FILE *out, const struct fleet_choice *choice) {
    put_equal(out, "service", choice->service);
    put_equal(out, "metric", choice->metric != NULL ? metric_type_of_word(choice->metric) : NULL);
    if (choice->tag != NULL) {
        fprintf(out, " AND has(splitByChar(',', tags), ");
        clickhouse_quote(out, choice->tag);
        fputc(')', out);
    }
}

void fleet_put_host(FILE *out, const struct fleet_choice *choice) {
    put_equal(out, "host", choice->host);
}

void fleet_put_time(FILE *out, uint64_t from_s, uint64_t to_s) {
    fprintf(out,
            "time >= toDateTime(%" PRIu64 ") AND toStartOfHour(time) >= "
            "toStartOfHour(toDateTime(%" PRIu64 "))",
            from_s, from_s);
    if (to_s != UINT64_MAX)
        fprintf(out,
                " AND time < toDateTime(%" PRIu64 ") AND toStartOfHour(time) <= "
                "toStartOfHour(toDateTime(%" PRIu64 "))",
                to_s, to_s);
}

void fleet_put_where(FILE *out, const struct fleet_choice *choice) {
    fputs(" WHERE ", out);
    fleet_put_time(out, choice->from_s, choice->to_s);
    fleet_put_choice(out, choice);
    fleet_put_host(out, choice);
}

struct moment {
    uint64_t now_s;
    unsigned version;
};

static bool note_now(const struct json_object *row, void *arg) {
    struct moment *moment = arg;
    moment->now_s = json_in_number(row, "now");
    moment->version = clickhouse_version(json_in_text(row, "version"));
    return moment->now_s > 0;
}

int fleet_set_span(const struct fleet_server *server, struct fleet_choice *choice) {
    struct moment moment = {0};
    FILE *query = memory_stream("a query");
    fputs("SELECT version() AS version, toUInt32(now()) AS now FORMAT JSONEachRow", query);
    int status = fleet_ask_rows(server, query, note_now, &moment);
    uint64_t now = moment.now_s;
    clickhouse_be_exact(server->transfer, moment.version);
    if (status == HCCT_EXIT_OK && now == 0) {
        fleet_fail(server, "%s does not answer as ClickHouse does", server->url);
        status = HCCT_EXIT_FAILURE;
    }
    choice->now_s = now;
    choice->from_s = now > choice->since_s ? now - choice->since_s : 0;
    choice->to_s =
        choice->until_s > 0 && now > choice->until_s ? now - choice->until_s : UINT64_MAX;
    if (choice->since_s - choice->until_s >= WHOLE_HOURS_FROM_S) {
        choice->from_s -= choice->from_s % HOUR_S;
        choice->to_s -= choice->to_s != UINT64_MAX ? choice->to_s % HOUR_S : 0;
    }
    return status;
}

void fleet_fail(const struct fleet_server *server, const char *format, ...) {
    va_list list;
    va_start(list, format);
    vsnprintf(server->error, FLEET_ERROR_ROOM, format, list);
    va_end(list);
}

/* A server that fails in the midst of an answer says so behind the rows that it has sent. */
int fleet_not_understood(const struct fleet_server *server, const struct transfer_answer *answer) {
    const char *said = strstr(answer->body, "Code: ");
    char line[FLEET_ERROR_ROOM / 2] = "";
    if (said != NULL)
        utf8_copy_clean(line, sizeof line, said);
    fleet_fail(server, "the answer of %s can't be understood%s%s", server->url,
               line[0] != '\0' ? ": " : "", line);
    return HCCT_EXIT_FAILURE;
}

int fleet_ask(const struct fleet_server *server, FILE *query, struct transfer_answer *answer) {
    size_t bytes;
    char *text = memory_stream_end(query, &bytes, "a query");
    enum transfer_result result = clickhouse_run(server->transfer, server->url, text, bytes, answer,
                                                 server->error, FLEET_ERROR_ROOM);
    free(text);
    return result == TRANSFER_DONE ? HCCT_EXIT_OK : HCCT_EXIT_FAILURE;
}

int fleet_ask_rows(const struct fleet_server *server, FILE *query,
                   bool (*use)(const struct json_object *row, void *arg), void *arg) {
    struct transfer_answer answer;
    int status = fleet_ask(server, query, &answer);
    if (status == HCCT_EXIT_OK && !fleet_each_row(&answer, use, arg))
        status = fleet_not_understood(server, &answer);
    free(answer.body);
    return status;
}

const char *fleet_row_metric(const struct json_object *row) {
    return metric_word_of_type(json_in_text(row, "metric"));
}

bool fleet_each_row(const struct transfer_answer *answer,
                    bool (*use)(const struct json_object *row, void *arg), void *arg) {
    bool ok = true;
    for (const char *line = answer->body; *line != '\0' && ok;) {
        size_t n = strcspn(line, "\n");
        struct json_object *row = json_in(line, n);
        ok = row != NULL && use(row, arg);
        json_object_put(row);
        line += n + (line[n] == '\n');
    }
    return ok;
}
