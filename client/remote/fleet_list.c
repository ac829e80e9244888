/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * fleet_list.c - what was pushed, as a table.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "client/json_in.h"
#include "client/remote/fleet_hours.h"
#include "common/base/memory.h"
#include "common/base/options.h"
#include "common/base/utf8.h"
#include "common/render/format_number.h"

#define METRIC_WIDTH 13 /* of alloc-objects */

static FILE *list_query(const struct fleet_server *server, const struct fleet_hours *hours,
                        bool by_host) {
    const char *what = by_host ? "host" : "service";
    FILE *out = memory_stream("a query");
    fprintf(out,
            "SELECT %s AS name, metric, any(unit) AS unit, uniqExact(%s) AS n, sum(total) AS "
            "weight, sum(walks) AS samples, sum(lost) AS lost_samples, sum(pushes) AS pushes, "
            "max(last) AS last FROM ",
            what, by_host ? "service" : "host");
    fleet_hours_put_totals(out, server, hours);
    fprintf(out, " GROUP BY %s, metric ORDER BY weight DESC, name FORMAT JSONEachRow", what);
    return out;
}

struct list {
    bool by_host;
    struct transfer_answer *answer;
};

static int ask_list(const struct fleet_server *server, const struct fleet_hours *hours, void *arg) {
    const struct list *list = arg;
    free(list->answer->body);
    return fleet_ask(server, list_query(server, hours, list->by_host), list->answer);
}

int fleet_ask_list(const struct fleet_server *server, const struct fleet_choice *choice,
                   bool by_host, struct transfer_answer *answer) {
    *answer = (struct transfer_answer){0};
    return fleet_hours_use(server, choice, ask_list, &(struct list){by_host, answer});
}

/* A server may say a time of no year that there is. */
static void say_time(char *text, size_t bytes, uint64_t seconds) {
    time_t time = (time_t)seconds;
    struct tm parts;
    if (localtime_r(&time, &parts) == NULL || strftime(text, bytes, "%F %T", &parts) == 0)
        snprintf(text, bytes, "?");
}

static bool print_row(const struct json_object *row, void *arg) {
    char name[64], metric[METRIC_WIDTH + 1], when[32];
    const struct profile kind = {.type = "", .unit = json_in_text(row, "unit")};
    (void)arg;
    utf8_copy_clean(name, sizeof name, json_in_text(row, "name"));
    utf8_copy_clean(metric, sizeof metric, fleet_row_metric(row));
    say_time(when, sizeof when, json_in_number(row, "last"));
    printf("%-24s %-*s %6" PRIu64 " %16s %12" PRIu64 " %8" PRIu64 " %8" PRIu64 "  %s\n", name,
           METRIC_WIDTH, metric, json_in_number(row, "n"),
           format_weight(&kind, json_in_number(row, "weight")).text, json_in_number(row, "samples"),
           json_in_number(row, "lost_samples"), json_in_number(row, "pushes"), when);
    return true;
}

/* All or nothing of an answer is printed. */
static bool is_row(const struct json_object *row, void *arg) {
    (void)arg;
    return json_object_is_type(row, json_type_object);
}

static void print_table(const struct transfer_answer *answer, bool by_host) {
    printf("%-24s %-*s %6s %16s %12s %8s %8s  %s\n", by_host ? "HOST" : "SERVICE", METRIC_WIDTH,
           "METRIC", by_host ? "SERV." : "HOSTS", "WEIGHT", "SAMPLES", "LOST", "PUSHES", "LAST");
    fleet_each_row(answer, print_row, NULL);
}

int fleet_list(const struct fleet_server *server, const struct fleet_choice *choice, bool by_host,
               bool json) {
    struct transfer_answer answer;
    int status = fleet_ask_list(server, choice, by_host, &answer);
    if (status == HCCT_EXIT_OK && answer.bytes == 0) {
        fleet_fail(server, "nothing was pushed that is asked for");
        status = HCCT_EXIT_NO_DATA;
    } else if (status == HCCT_EXIT_OK && !fleet_each_row(&answer, is_row, NULL)) {
        status = fleet_not_understood(server, &answer);
    } else if (status == HCCT_EXIT_OK && json) {
        fwrite(answer.body, 1, answer.bytes, stdout);
    } else if (status == HCCT_EXIT_OK) {
        print_table(&answer, by_host);
    }
    free(answer.body);
    return status;
}
