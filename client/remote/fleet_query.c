/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * fleet_query.c - conditions, requests, rows.
 */
#include "client/remote/fleet_query.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "client/json_in.h"
#include "client/remote/clickhouse.h"
#include "common/base/memory.h"
#include "common/base/options.h"

static void put_equal(FILE *out, const char *column, const char *value) {
    if (value == NULL)
        return;
    fprintf(out, " AND %s = ", column);
    clickhouse_quote(out, value);
}

void fleet_put_where(FILE *out, const struct fleet_choice *choice) {
    fprintf(out, " WHERE time >= now() - %" PRIu64, choice->since_s);
    if (choice->until_s > 0)
        fprintf(out, " AND time < now() - %" PRIu64, choice->until_s);
    put_equal(out, "service", choice->service);
    put_equal(out, "metric", choice->metric);
    put_equal(out, "host", choice->host);
    if (choice->tag != NULL) {
        fprintf(out, " AND has(splitByChar(',', tags), ");
        clickhouse_quote(out, choice->tag);
        fputc(')', out);
    }
}

int fleet_ask(const struct fleet_server *server, FILE *query, struct transfer_answer *answer) {
    char error[512];
    size_t bytes;
    char *text = memory_stream_end(query, &bytes, "a query");
    enum transfer_result result =
        clickhouse_run(server->transfer, server->url, text, bytes, answer, error, sizeof error);
    free(text);
    if (result == TRANSFER_DONE)
        return HCCT_EXIT_OK;
    complain("%s", error);
    return HCCT_EXIT_FAILURE;
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
