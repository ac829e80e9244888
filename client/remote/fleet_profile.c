/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * fleet_profile.c - rows of totals become processes, rows of contexts their trees.
 *
 * The server adds up what each context has been sent with, over all pushes and hosts. What hosts
 * could not tell apart stands in "[~]" contexts, which are added up like all others: what stands
 * there bounds what a context can weigh beyond its count, those that a host had no row for
 * included.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "client/json_in.h"
#include "client/remote/clickhouse.h"
#include "client/remote/fleet_hours.h"
#include "client/remote/fleet_query.h"
#include "client/remote/stack_row.h"
#include "common/base/memory.h"
#include "common/base/options.h"
#include "common/profile/bounds.h"
#include "common/wire/metric.h"

struct service {
    uint64_t number; /* in the server */
    uint32_t process;
};

struct building {
    struct profile *profile;
    uint64_t hosts, first, last;
    const char *metric, *other; /* of all, NULL: none was seen; another one that there is */
    struct service *services;   /* by number, once they are sorted */
    uint32_t n_services, service_room;
    const struct fleet_hours *sums;
    uint64_t frameless;
};

/* ---- totals ---- */

static void query_totals(FILE *out, const struct fleet_server *server, const struct building *b) {
    fputs("SELECT service, cityHash64(service) AS number, metric, any(exe) AS exe, any(unit) AS "
          "unit, any(collector) AS "
          "collector, any(clock) AS clock, max(period) AS period, sum(total) AS total, "
          "sum(walks) AS walks, sum(complete) AS complete, sum(lost) AS lost, "
          "sum(lost_ns) AS lost_ns, sum(cpu_ns) AS cpu_ns, sum(most) AS unseen, "
          "sum(off) AS capped, uniqExact(host) AS hosts, sum(runs) AS runs, min(first) AS first, "
          "max(last) AS last "
          "FROM (SELECT service, metric, host, exe, any(unit) AS unit, "
          "any(collector) AS collector, any(clock) AS clock, max(period) AS period, "
          "sum(total) AS total, sum(walks) AS walks, sum(complete) AS complete, "
          "sum(lost) AS lost, sum(lost_ns) AS lost_ns, sum(cpu_ns) AS cpu_ns, "
          "max(unseen) AS most, max(capped) AS off, max(runs) AS runs, min(first) AS first, "
          "max(last) AS last FROM ",
          out);
    fleet_hours_put_totals(out, server, b->sums);
    fprintf(out, " GROUP BY service, metric, host, exe, tags) GROUP BY service, metric "
                 "FORMAT JSONEachRow");
}

static bool add_service(const struct json_object *row, void *arg) {
    struct building *b = arg;
    struct profile *profile = b->profile;
    struct profile_process process = {
        .exe = json_in_text(row, "exe"),
        .command = json_in_text(row, "service"),
        .collector = json_in_text(row, "collector"),
        .clock = json_in_text(row, "clock"),
        .runs = (uint32_t)json_in_number(row, "runs"),
        .total = json_in_number(row, "total"),
        .walks = json_in_number(row, "walks"),
        .complete = json_in_number(row, "complete"),
        .lost = json_in_number(row, "lost"),
        .lost_ns = json_in_number(row, "lost_ns"),
        .cpu_ns = json_in_number(row, "cpu_ns"),
        .unseen = json_in_number(row, "unseen"),
        .capped = json_in_number(row, "capped"),
    };
    uint64_t known = process.total + process.lost_ns;
    /* rows do not tell how long sampling was paused: no time is said to be missing */
    process.unasked_ns = process.cpu_ns > known ? process.cpu_ns - known : 0;
    const char *metric = profile_word(profile, json_in_text(row, "metric"));
    uint64_t first = json_in_number(row, "first"), last = json_in_number(row, "last"),
             hosts = json_in_number(row, "hosts");

    if (b->metric != NULL && b->metric != metric)
        b->other = b->metric;
    b->metric = profile->type = metric;
    profile->unit = profile_word(profile, json_in_text(row, "unit"));
    profile->period = json_in_number(row, "period");
    uint32_t added = profile_add_process(profile, &process);
    b->services =
        memory_grow(b->services, b->n_services, &b->service_room, sizeof *b->services, "services");
    b->services[b->n_services++] =
        (struct service){.number = json_in_number(row, "number"), .process = added};
    b->hosts = hosts > b->hosts ? hosts : b->hosts;
    b->first = b->first == 0 || first < b->first ? first : b->first;
    b->last = last > b->last ? last : b->last;
    return true;
}

/* ---- contexts ---- */

/* Weights by number of service and context: in an array of a push there are many, and a name beside
 * each would be copied, and hashed, as often. */
static void put_sums(FILE *out, const struct fleet_server *server,
                     const struct fleet_hours *hours) {
    bool any = fleet_hours_any(hours, FLEET_CONTEXTS);
    bool rest = !any || !fleet_hours_all(hours, FLEET_CONTEXTS);
    fputs("SELECT number, hash, sum(part) AS weight FROM (", out);
    if (any) {
        fprintf(out,
                "SELECT cityHash64(service) AS number, hash, sum(weight) AS part FROM %s.hours "
                "WHERE",
                server->database);
        fleet_hours_put_sums(out, hours, FLEET_CONTEXTS);
        fleet_put_choice(out, hours->choice);
        fputs(" AND hash != 0 GROUP BY number, hash", out);
    }
    if (any && rest)
        fputs(" UNION ALL ", out);
    if (rest) {
        fprintf(out,
                "SELECT number, hash, sum(one) AS part FROM (SELECT cityHash64(service) AS number, "
                "hashes, weights FROM %s.deltas",
                server->database);
        fleet_put_where(out, hours->choice);
        fleet_hours_put_rest(out, hours, FLEET_CONTEXTS);
        fputs(fleet_hours_once(hours) ? "" : FLEET_ONCE, out);
        fputs(") ARRAY JOIN hashes AS hash, weights AS one GROUP BY number, hash", out);
    }
    fputs(") GROUP BY number, hash", out);
}

static void query_contexts(FILE *out, const struct fleet_server *server, const struct building *b) {
    const struct fleet_choice *choice = b->sums->choice;
    fputs("SELECT number, weight, functions, system_names, files, lines, modules, build_ids, "
          "addresses, kinds FROM (",
          out);
    put_sums(out, server, b->sums);
    fprintf(out,
            ") AS sums ANY LEFT JOIN (SELECT cityHash64(service) AS number, hash, functions, "
            "system_names, files, lines, modules, build_ids, addresses, kinds FROM %s.stacks",
            server->database);
    if (choice->service != NULL) {
        fputs(" WHERE service = ", out);
        clickhouse_quote(out, choice->service);
    }
    fputs(") AS frames USING (number, hash) FORMAT JSONEachRow", out);
}

static int by_number(const void *a, const void *b) {
    const struct service *one = a, *other = b;
    return (one->number > other->number) - (one->number < other->number);
}

static uint32_t process_of(const struct building *b, uint64_t number) {
    const struct service key = {.number = number};
    const struct service *found =
        bsearch(&key, b->services, b->n_services, sizeof *b->services, by_number);
    return found != NULL ? found->process : 0;
}

/* A context whose frames are not there any more is one of those that are not known. */
static bool add_context(const struct json_object *row, void *arg) {
    struct building *b = arg;
    struct profile *profile = b->profile;
    uint32_t process = process_of(b, json_in_number(row, "number"));
    uint64_t weight = json_in_number(row, "weight");
    if (process == 0) /* its totals are on their way */
        return true;
    uint32_t node = stack_row_read(profile, process, row);
    if (node == 0) {
        node = profile_add_node(profile, profile_root(profile, process),
                                profile_add_pseudo(profile, PROFILE_PRUNED), 0, 0);
        b->frameless += weight;
    }
    profile->nodes[node].count += weight;
    return true;
}

/* ---- the whole ---- */

static int ask_rows(const struct fleet_server *server,
                    void (*put)(FILE *out, const struct fleet_server *server,
                                const struct building *b),
                    bool (*use)(const struct json_object *row, void *arg), struct building *b) {
    FILE *query = memory_stream("a query");
    put(query, server, b);
    return fleet_ask_rows(server, query, use, b);
}

static void finish(struct building *b) {
    struct profile *profile = b->profile;
    char title[100];
    for (uint32_t i = 1; i < profile->n_processes; i++)
        profile->processes[i].total = 0;
    for (uint32_t i = 1; i < profile->n_nodes; i++)
        profile->processes[profile->nodes[i].process].total += profile->nodes[i].count;
    profile->time_ns = b->first * 1000000000;
    profile->duration_ns = (b->last - b->first) * 1000000000;
    snprintf(title, sizeof title, "%" PRIu64 " host%s", b->hosts, b->hosts == 1 ? "" : "s");
    profile->title = profile_string(profile, title);
    bounds_set_errors(profile);
}

static void forget(struct building *b) {
    free(b->services);
    profile_free(b->profile);
    *b = (struct building){0};
}

static int build(const struct fleet_server *server, const struct fleet_hours *hours, void *arg) {
    struct building *b = arg;
    forget(b);
    *b = (struct building){.profile = profile_new(), .sums = hours};
    int status = ask_rows(server, query_totals, add_service, b);
    if (status == HCCT_EXIT_OK && b->metric == NULL) {
        fleet_fail(server, "nothing was pushed that is asked for: 'hcct fleet list' has what was");
        status = HCCT_EXIT_NO_DATA;
    } else if (status == HCCT_EXIT_OK && b->other != NULL) {
        fleet_fail(server, "%s and %s can't be added up: ask for one of them, with --metric",
                   metric_word_of_type(b->other), metric_word_of_type(b->metric));
        status = HCCT_EXIT_USAGE;
    }
    if (status != HCCT_EXIT_OK)
        return status;
    qsort(b->services, b->n_services, sizeof *b->services, by_number);
    return ask_rows(server, query_contexts, add_context, b);
}

int fleet_profile(const struct fleet_server *server, const struct fleet_choice *choice,
                  struct profile **profile, uint64_t *frameless) {
    struct building b = {0};
    int status = fleet_hours_use(server, choice, build, &b);
    if (status == HCCT_EXIT_OK) {
        finish(&b);
        *profile = b.profile;
        if (frameless != NULL)
            *frameless = b.frameless;
        b.profile = NULL;
    }
    forget(&b);
    return status;
}
