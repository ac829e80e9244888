/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * fleet_hours.c - numbers of pushes by hour, of pushes and of tables of sums.
 */
#include "client/remote/fleet_hours.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "client/json_in.h"
#include "common/base/memory.h"
#include "common/base/options.h"

#define HOUR_S 3600u
#define TRIES  3

/* ---- which ---- */

/* A push is in `totals` some time after it is in `deltas`: those of this hour are cheap to add up.
 */
static bool is_summed(const struct fleet_hours *hours, uint32_t i, enum fleet_sums sums) {
    const struct fleet_hour *it = &hours->list[i];
    const struct fleet_choice *choice = hours->choice;
    return it->rows == it->pushes && hours->there[sums] && it->summed[sums] == it->sent &&
           it->hour * HOUR_S >= choice->from_s && (it->hour + 1) * HOUR_S <= choice->to_s &&
           (sums != FLEET_TOTALS || (it->hour + 1) * HOUR_S <= choice->now_s);
}

bool fleet_hours_of_hosts(const struct fleet_hours *hours) {
    return hours->choice->host != NULL || hours->choice->by == FLEET_BY_HOST;
}

static const char *table_of_contexts(const struct fleet_hours *hours) {
    return fleet_hours_of_hosts(hours) ? "host_contexts" : "hours";
}

bool fleet_hours_any(const struct fleet_hours *hours, enum fleet_sums sums) {
    for (uint32_t i = 0; i < hours->n; i++)
        if (is_summed(hours, i, sums))
            return true;
    return false;
}

bool fleet_hours_all(const struct fleet_hours *hours, enum fleet_sums sums) {
    for (uint32_t i = 0; i < hours->n; i++)
        if (!is_summed(hours, i, sums))
            return false;
    return true;
}

/* ---- asking ---- */

/* What an earlier version has made lacks some of it. */
static bool note_column(const struct json_object *row, void *arg) {
    struct fleet_hours *hours = arg;
    const char *table = json_in_text(row, "table"), *name = json_in_text(row, "name");
    bool is_chance = strcmp(name, "chance_most") == 0, is_totals = strcmp(table, "totals") == 0;
    hours->has_deltas |= strcmp(table, "deltas") == 0;
    hours->has_capped |= is_totals && !is_chance;
    hours->has_chance |= is_totals && is_chance;
    hours->there[FLEET_CONTEXTS] |= strcmp(table, table_of_contexts(hours)) == 0;
    hours->there[FLEET_TOTALS] |= strcmp(table, "host_hours") == 0;
    return true;
}

static int ask_columns(struct fleet_hours *hours, const struct fleet_server *server) {
    FILE *query = memory_stream("a query");
    fprintf(query,
            "SELECT table, name FROM system.columns WHERE database = '%s' AND ((table = 'totals' "
            "AND name IN ('capped', 'chance_most')) OR (table = 'deltas' AND name = 'push') OR "
            "(table = '%s' AND name = 'hour') OR (table = 'host_hours' AND name = 'chance_most')) "
            "FORMAT JSONEachRow",
            server->database, table_of_contexts(hours));
    int status = fleet_ask_rows(server, query, note_column, hours);
    if (status != HCCT_EXIT_OK || hours->has_deltas)
        return status;
    fleet_fail(server,
               "%s has no tables of hcct push in the database %s that could be read: 'hcct push "
               "--create' makes them",
               server->url, server->database);
    return HCCT_EXIT_FAILURE;
}

static bool add_hour(const struct json_object *row, void *arg) {
    struct fleet_hours *hours = arg;
    struct fleet_hour hour = {.hour = json_in_number(row, "hour"),
                              .rows = json_in_number(row, "n"),
                              .pushes = json_in_number(row, "pushes"),
                              .sent = json_in_number(row, "sent"),
                              .summed = {[FLEET_CONTEXTS] = json_in_number(row, "contexts"),
                                         [FLEET_TOTALS] = json_in_number(row, "totals")}};
    if (hour.rows == 0)
        return true;
    hours->list =
        memory_grow(hours->list, hours->n, &hours->room, sizeof *hours->list, "hours of pushes");
    hours->list[hours->n++] = hour;
    return true;
}

static void put_hours_between(FILE *out, const struct fleet_choice *choice) {
    fprintf(out, " hour >= %" PRIu64, choice->from_s / HOUR_S);
    if (choice->to_s != UINT64_MAX)
        fprintf(out, " AND hour <= %" PRIu64, choice->to_s / HOUR_S);
    fleet_put_choice(out, choice);
}

/* In place of what `deltas` says. */
static void put_none(FILE *out) {
    fputs(" UNION ALL SELECT hour, toUInt64(0) AS n, toUInt64(0) AS pushes, toUInt64(0) AS sent",
          out);
}

static void put_sums_of_hours(FILE *query, const struct fleet_hours *hours,
                              const struct fleet_server *server) {
    if (hours->there[FLEET_CONTEXTS]) {
        put_none(query);
        bool of_hosts = fleet_hours_of_hosts(hours);
        fprintf(query, ", sum(%s) AS contexts, toUInt64(0) AS totals FROM %s.%s WHERE",
                of_hosts ? "ids" : "weight", server->database, table_of_contexts(hours));
        put_hours_between(query, hours->choice);
        fleet_put_host(query, hours->choice);
        fputs(of_hosts ? " GROUP BY hour" : " AND hash = 0 GROUP BY hour", query);
    }
    if (hours->there[FLEET_TOTALS]) {
        put_none(query);
        fprintf(query,
                ", toUInt64(0) AS contexts, sumMerge(ids) AS totals FROM %s.host_hours WHERE",
                server->database);
        put_hours_between(query, hours->choice);
        fleet_put_host(query, hours->choice);
        fputs(" GROUP BY hour", query);
    }
}

/* One question: pushes come meanwhile, and what they are compared with is to be of the same moment.
 */
static int ask_pushes(struct fleet_hours *hours, const struct fleet_server *server) {
    FILE *query = memory_stream("a query");
    fprintf(query,
            "SELECT hour, sum(n) AS n, sum(pushes) AS pushes, sum(sent) AS sent, "
            "sum(contexts) AS contexts, sum(totals) AS totals FROM (SELECT "
            "intDiv(toUInt32(time), 3600) AS hour, count() AS n, uniqExact(one) AS pushes, "
            "sum(one) AS sent, toUInt64(0) AS contexts, toUInt64(0) AS totals FROM "
            "(SELECT time, cityHash64(push) AS one FROM %s.deltas",
            server->database);
    fleet_put_where(query, hours->choice);
    fputs(") GROUP BY hour", query);
    put_sums_of_hours(query, hours, server);
    fprintf(query, ") GROUP BY hour ORDER BY hour FORMAT JSONEachRow");
    hours->n = 0;
    return fleet_ask_rows(server, query, add_hour, hours);
}

/* Asks about these hours alone, until their sums of contexts are trusted, or a few times: a push is
 * in `deltas` a moment before it is in sums. */
static int ask_hours(struct fleet_hours *part, const struct fleet_hours *hours,
                     const struct fleet_server *server, struct fleet_choice *choice, uint64_t first,
                     uint64_t last) {
    int status = HCCT_EXIT_OK;
    *part = (struct fleet_hours){.choice = choice};
    memcpy(part->there, hours->there, sizeof part->there);
    *choice = *hours->choice;
    choice->from_s = first * HOUR_S;
    choice->to_s = (last + 1) * HOUR_S;
    for (int tries = 0; tries < TRIES && status == HCCT_EXIT_OK; tries++) {
        status = ask_pushes(part, server);
        if (fleet_hours_all(part, FLEET_CONTEXTS))
            break;
    }
    return status;
}

/* The hour that is not over yet once more, where it looks as if a push had come just then. */
static int ask_last_again(struct fleet_hours *hours, const struct fleet_server *server) {
    struct fleet_choice choice;
    struct fleet_hours part;
    if (hours->n == 0 || !hours->there[FLEET_CONTEXTS] || fleet_hours_all(hours, FLEET_CONTEXTS))
        return HCCT_EXIT_OK;
    struct fleet_hour *last = &hours->list[hours->n - 1];
    if (is_summed(hours, hours->n - 1, FLEET_CONTEXTS) || last->rows != last->pushes ||
        (last->hour + 1) * HOUR_S <= hours->choice->now_s)
        return HCCT_EXIT_OK;
    int status = ask_hours(&part, hours, server, &choice, last->hour, last->hour);
    if (part.n == 1)
        *last = part.list[0];
    free(part.list);
    return status;
}

static int find(struct fleet_hours *hours, const struct fleet_server *server,
                const struct fleet_choice *choice) {
    *hours = (struct fleet_hours){.choice = choice};
    int status = ask_columns(hours, server);
    if (status == HCCT_EXIT_OK)
        status = ask_pushes(hours, server);
    return status == HCCT_EXIT_OK ? ask_last_again(hours, server) : status;
}

/* ---- using ---- */

/* Hours whose sums are others now. */
struct changes {
    const struct fleet_hours *hours;
    uint64_t first, last; /* none: first > last */
};

static bool note_change(const struct json_object *row, void *arg) {
    struct changes *changes = arg;
    const struct fleet_hours *hours = changes->hours;
    uint64_t hour = json_in_number(row, "hour");
    for (uint32_t i = 0; i < hours->n; i++) {
        const struct fleet_hour *it = &hours->list[i];
        if (it->hour != hour || (it->summed[FLEET_CONTEXTS] == json_in_number(row, "contexts") &&
                                 it->summed[FLEET_TOTALS] == json_in_number(row, "totals")))
            continue;
        changes->first = hour < changes->first ? hour : changes->first;
        changes->last = hour > changes->last ? hour : changes->last;
    }
    return true;
}

static int ask_changes(struct changes *changes, const struct fleet_server *server) {
    FILE *query = memory_stream("a query");
    fputs("SELECT hour, sum(contexts) AS contexts, sum(totals) AS totals FROM (SELECT toUInt32(0) "
          "AS hour, toUInt64(0) AS n, toUInt64(0) AS pushes, toUInt64(0) AS sent, toUInt64(0) AS "
          "contexts, toUInt64(0) AS totals",
          query);
    put_sums_of_hours(query, changes->hours, server);
    fputs(") GROUP BY hour FORMAT JSONEachRow", query);
    return fleet_ask_rows(server, query, note_change, changes);
}

static bool still_summed(const struct fleet_hours *now, uint64_t hour, enum fleet_sums sums) {
    for (uint32_t i = 0; i < now->n; i++)
        if (now->list[i].hour == hour)
            return is_summed(now, i, sums);
    return false;
}

/* Sums never lose a push. So those that are of pushes that are there once now, were so before. */
static int see_if_held(const struct fleet_hours *hours, const struct fleet_server *server,
                       bool *held) {
    struct changes changes = {.hours = hours, .first = UINT64_MAX};
    struct fleet_choice choice;
    struct fleet_hours now;
    int status = ask_changes(&changes, server);
    *held = true;
    if (status != HCCT_EXIT_OK || changes.first > changes.last)
        return status;
    status = ask_hours(&now, hours, server, &choice, changes.first, changes.last);
    for (uint32_t i = 0; i < hours->n && status == HCCT_EXIT_OK; i++)
        for (enum fleet_sums sums = 0; sums < FLEET_SUMS; sums++)
            if (hours->list[i].hour >= changes.first && hours->list[i].hour <= changes.last &&
                is_summed(hours, i, sums) && !still_summed(&now, hours->list[i].hour, sums))
                *held = false;
    free(now.list);
    return status;
}

int fleet_hours_use(const struct fleet_server *server, const struct fleet_choice *choice,
                    int (*use)(const struct fleet_server *server, const struct fleet_hours *hours,
                               void *arg),
                    void *arg) {
    for (int tries = 0; tries < TRIES; tries++) {
        struct fleet_hours hours;
        bool held = true;
        int status = find(&hours, server, choice);
        if (status == HCCT_EXIT_OK)
            status = use(server, &hours, arg);
        if (status == HCCT_EXIT_OK &&
            (fleet_hours_any(&hours, FLEET_CONTEXTS) || fleet_hours_any(&hours, FLEET_TOTALS)))
            status = see_if_held(&hours, server, &held);
        free(hours.list);
        if (held)
            return status;
    }
    fleet_fail(server, "pushes come again and again while %s is asked: try again", server->url);
    return HCCT_EXIT_FAILURE;
}

/* ---- conditions ---- */

bool fleet_hours_once(const struct fleet_hours *hours) {
    for (uint32_t i = 0; i < hours->n; i++)
        if (!is_summed(hours, i, FLEET_CONTEXTS) && hours->list[i].rows != hours->list[i].pushes)
            return false;
    return true;
}

void fleet_hours_put_sums(FILE *out, const struct fleet_hours *hours, enum fleet_sums sums) {
    const char *before = " hour IN (";
    for (uint32_t i = 0; i < hours->n; i++) {
        if (!is_summed(hours, i, sums))
            continue;
        fprintf(out, "%s%" PRIu64, before, hours->list[i].hour);
        before = ", ";
    }
    fputc(')', out);
}

/* One condition for each row of hours one after the other. */
void fleet_hours_put_rest(FILE *out, const struct fleet_hours *hours, enum fleet_sums sums) {
    const char *before = " AND (";
    if (!fleet_hours_any(hours, sums) || fleet_hours_all(hours, sums))
        return;
    for (uint32_t i = 0; i < hours->n; i++) {
        uint64_t begin = hours->list[i].hour;
        if (is_summed(hours, i, sums))
            continue;
        while (i + 1 < hours->n && !is_summed(hours, i + 1, sums))
            i++;
        fprintf(out, "%s(", before);
        fleet_put_time(out, begin * HOUR_S, (hours->list[i].hour + 1) * HOUR_S);
        fputc(')', out);
        before = " OR ";
    }
    fputc(')', out);
}
