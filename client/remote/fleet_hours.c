/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * fleet_hours.c - numbers of pushes by hour, of both tables.
 */
#include "client/remote/fleet_hours.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "client/json_in.h"
#include "common/base/memory.h"
#include "common/base/options.h"

#define HOUR_S 3600u

/* ---- asking ---- */

static bool note_table(const struct json_object *row, void *arg) {
    *(bool *)arg = json_in_number(row, "result") == 1;
    return true;
}

static bool add_hour(const struct json_object *row, void *arg) {
    struct fleet_hours *hours = arg;
    hours->list =
        memory_grow(hours->list, hours->n, &hours->room, sizeof *hours->list, "hours of pushes");
    hours->list[hours->n++] = (struct fleet_hour){.hour = json_in_number(row, "hour"),
                                                  .rows = json_in_number(row, "n"),
                                                  .pushes = json_in_number(row, "pushes"),
                                                  .sent = json_in_number(row, "sent")};
    return true;
}

static bool note_sum(const struct json_object *row, void *arg) {
    struct fleet_hours *hours = arg;
    for (uint32_t i = 0; i < hours->n; i++)
        if (hours->list[i].hour == json_in_number(row, "hour"))
            hours->list[i].summed = json_in_number(row, "summed");
    return true;
}

static int ask_pushes(struct fleet_hours *hours, const struct fleet_server *server) {
    FILE *query = memory_stream("a query");
    fprintf(query,
            "SELECT intDiv(toUInt32(time), 3600) AS hour, count() AS n, uniqExact(one) AS pushes, "
            "sum(one) AS sent FROM (SELECT time, cityHash64(push) AS one FROM %s.deltas",
            server->database);
    fleet_put_where(query, hours->choice);
    fprintf(query, ") GROUP BY hour ORDER BY hour FORMAT JSONEachRow");
    return fleet_ask_rows(server, query, add_hour, hours);
}

/* There is no such table where an earlier version has made the others. */
static int ask_sums(struct fleet_hours *hours, const struct fleet_server *server) {
    bool there = false;
    FILE *query = memory_stream("a query");
    fprintf(query, "EXISTS TABLE %s.hours FORMAT JSONEachRow", server->database);
    int status = fleet_ask_rows(server, query, note_table, &there);
    if (status != HCCT_EXIT_OK || !there)
        return status;
    query = memory_stream("a query");
    fprintf(query, "SELECT hour, sum(weight) AS summed FROM %s.hours WHERE hash = 0",
            server->database);
    fleet_put_choice(query, hours->choice);
    fprintf(query, " GROUP BY hour FORMAT JSONEachRow");
    return fleet_ask_rows(server, query, note_sum, hours);
}

int fleet_hours_find(struct fleet_hours *hours, const struct fleet_server *server,
                     const struct fleet_choice *choice) {
    *hours = (struct fleet_hours){.choice = choice};
    int status = ask_pushes(hours, server);
    if (status == HCCT_EXIT_OK && choice->host == NULL)
        status = ask_sums(hours, server);
    return status;
}

void fleet_hours_free(struct fleet_hours *hours) {
    free(hours->list);
}

/* ---- conditions ---- */

static bool is_summed(const struct fleet_hours *hours, uint32_t i) {
    const struct fleet_hour *it = &hours->list[i];
    return it->rows == it->pushes && it->summed == it->sent &&
           it->hour * HOUR_S >= hours->choice->from_s &&
           (it->hour + 1) * HOUR_S <= hours->choice->to_s;
}

bool fleet_hours_any(const struct fleet_hours *hours) {
    for (uint32_t i = 0; i < hours->n; i++)
        if (is_summed(hours, i))
            return true;
    return false;
}

bool fleet_hours_all(const struct fleet_hours *hours) {
    for (uint32_t i = 0; i < hours->n; i++)
        if (!is_summed(hours, i))
            return false;
    return true;
}

bool fleet_hours_once(const struct fleet_hours *hours) {
    for (uint32_t i = 0; i < hours->n; i++)
        if (!is_summed(hours, i) && hours->list[i].rows != hours->list[i].pushes)
            return false;
    return true;
}

void fleet_hours_put_sums(FILE *out, const struct fleet_hours *hours) {
    const char *before = " hour IN (";
    for (uint32_t i = 0; i < hours->n; i++) {
        if (!is_summed(hours, i))
            continue;
        fprintf(out, "%s%" PRIu64, before, hours->list[i].hour);
        before = ", ";
    }
    fputc(')', out);
}

/* One condition for each row of hours one after the other. */
void fleet_hours_put_rest(FILE *out, const struct fleet_hours *hours) {
    const char *before = " AND (";
    if (!fleet_hours_any(hours) || fleet_hours_all(hours))
        return;
    for (uint32_t i = 0; i < hours->n; i++) {
        uint64_t begin = hours->list[i].hour;
        if (is_summed(hours, i))
            continue;
        while (i + 1 < hours->n && !is_summed(hours, i + 1))
            i++;
        fprintf(out, "%s(time >= toDateTime(%" PRIu64 ") AND time < toDateTime(%" PRIu64 "))",
                before, begin * HOUR_S, (hours->list[i].hour + 1) * HOUR_S);
        before = " OR ";
    }
    fputc(')', out);
}
