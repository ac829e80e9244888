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
#include "client/remote/chance_row.h"
#include "client/remote/clickhouse.h"
#include "client/remote/fleet_hours.h"
#include "client/remote/fleet_query.h"
#include "client/remote/fleet_split.h"
#include "client/remote/stack_row.h"
#include "common/base/memory.h"
#include "common/base/options.h"
#include "common/profile/bounds.h"
#include "common/wire/metric.h"

/* A service, or a host. */
struct group {
    uint64_t number;  /* in the server */
    uint32_t process; /* of a service */
    uint32_t label;   /* that stands above all frames; 0: none */
};

struct groups {
    struct group *list; /* by number, once they are sorted */
    uint32_t n, room;
};

struct building {
    struct profile *profile;
    uint64_t hosts, first, last;
    const char *metric, *other; /* of all, NULL: none was seen; another one that there is */
    struct groups services, hosts_by_number; /* those are asked for by host only */
    struct fleet_parts parts;                /* where it is by host: of those, in their order */
    const struct fleet_hours *sums;
    uint64_t frameless;
};

static bool is_by(const struct building *b, enum fleet_by by) {
    return b->sums->choice->by == by;
}

/* ---- services and hosts ---- */

static int by_number(const void *a, const void *b) {
    const struct group *one = a, *other = b;
    return (one->number > other->number) - (one->number < other->number);
}

static void add_group(struct groups *groups, struct group group) {
    groups->list = memory_grow(groups->list, groups->n, &groups->room, sizeof group, "groups");
    groups->list[groups->n++] = group;
}

static void sort_groups(struct groups *groups) {
    if (groups->n > 0)
        qsort(groups->list, groups->n, sizeof *groups->list, by_number);
}

/* NULL: it is none. */
static const struct group *find_group(const struct groups *groups, uint64_t number) {
    const struct group key = {.number = number};
    return groups->n > 0 ? bsearch(&key, groups->list, groups->n, sizeof *groups->list, by_number)
                         : NULL;
}

/* "key=value" as a location: a label like those of programs. */
static uint32_t label(struct profile *profile, const char *key, const char *value) {
    size_t bytes = strlen(key) + strlen(value) + 2;
    char *name = memory_new(bytes, 1, "a label");
    snprintf(name, bytes, "%s=%s", key, value);
    struct profile_line line = {.function = profile_add_function(profile, name, name, "", 0)};
    struct profile_location location = {.module = profile_add_module(profile, PROFILE_LABELS, ""),
                                        .is_entry = true,
                                        .n_lines = 1,
                                        .lines = &line};
    free(name);
    return profile_intern_location(profile, &location);
}

static void query_hosts(FILE *out, const struct fleet_server *server, const struct building *b) {
    fputs("SELECT host, cityHash64(host) AS number FROM ", out);
    fleet_hours_put_totals(out, server, b->sums);
    fputs(" GROUP BY host FORMAT JSONEachRow", out);
}

static bool add_host(const struct json_object *row, void *arg) {
    struct building *b = arg;
    add_group(&b->hosts_by_number,
              (struct group){.number = json_in_number(row, "number"),
                             .label = label(b->profile, "host", json_in_text(row, "host"))});
    return true;
}

/* ---- totals ---- */

static void query_totals(FILE *out, const struct fleet_server *server, const struct building *b) {
    fputs("SELECT service, cityHash64(service) AS number, metric, any(exe) AS exe, any(unit) AS "
          "unit, any(collector) AS "
          "collector, any(clock) AS clock, max(period) AS period, sum(total) AS total, "
          "sum(walks) AS walks, sum(complete) AS complete, sum(lost) AS lost, "
          "sum(lost_ns) AS lost_ns, sum(cpu_ns) AS cpu_ns, sum(most) AS unseen, "
          "sum(off) AS capped, uniqExact(host) AS hosts, sum(runs) AS runs, min(first) AS first, "
          "max(last) AS last, sum(n) AS pushes, sumForEach(sums) AS chance, maxForEach(mosts) AS "
          "chance_most "
          "FROM (SELECT service, metric, host, exe, any(unit) AS unit, "
          "any(collector) AS collector, any(clock) AS clock, max(period) AS period, "
          "sum(total) AS total, sum(walks) AS walks, sum(complete) AS complete, "
          "sum(lost) AS lost, sum(lost_ns) AS lost_ns, sum(cpu_ns) AS cpu_ns, "
          "max(unseen) AS most, max(capped) AS off, max(runs) AS runs, min(first) AS first, "
          "max(last) AS last, sum(pushes) AS n, sumForEach(chance) AS sums, "
          "maxForEach(chance_most) AS mosts FROM ",
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
    /* rows of an earlier version do not tell how long sampling was paused: no time is said to be
     * missing */
    process.unasked_ns = process.cpu_ns > known ? process.cpu_ns - known : 0;
    chance_row_read(row, json_in_number(row, "pushes"), &process);
    const char *metric = profile_word(profile, json_in_text(row, "metric"));
    uint64_t first = json_in_number(row, "first"), last = json_in_number(row, "last"),
             hosts = json_in_number(row, "hosts");

    if (b->metric != NULL && b->metric != metric)
        b->other = b->metric;
    b->metric = profile->type = metric;
    profile->unit = profile_word(profile, json_in_text(row, "unit"));
    profile->period = json_in_number(row, "period");
    uint32_t added = profile_add_process(profile, &process);
    add_group(&b->services,
              (struct group){.number = json_in_number(row, "number"),
                             .process = added,
                             .label = is_by(b, FLEET_BY_SERVICE)
                                          ? label(profile, "service", json_in_text(row, "service"))
                                          : 0});
    b->hosts = hosts > b->hosts ? hosts : b->hosts;
    b->first = b->first == 0 || first < b->first ? first : b->first;
    b->last = last > b->last ? last : b->last;
    return true;
}

/* ---- weights, by number of service and context ---- */

/* In an array of a push, or of a host's hour, there are many: a name beside each would be copied,
 * and hashed, as often. `who` is the host's, where it is asked for by host. */

/* Contexts without labels are number 0, where nothing else of them is shown; one whose frames are
 * lost is none of these. */
static void put_hash(FILE *out, const struct fleet_server *server,
                     const struct fleet_hours *hours) {
    if (hours->choice->labels_only)
        fprintf(out,
                "if(one IN (SELECT hash FROM %s.stacks WHERE NOT has(modules, '" PROFILE_LABELS
                "')), toUInt64(0), one) AS hash",
                server->database);
    else
        fputs("one AS hash", out);
}

/* Begins "SELECT ... FROM (SELECT ...": of rows with arrays. */
static void begin_parts(FILE *out, const struct fleet_server *server,
                        const struct fleet_hours *hours, const char *hashes, const char *weights) {
    bool by_host = hours->choice->by == FLEET_BY_HOST;
    fprintf(out, "SELECT number, %s", by_host ? "who, " : "");
    put_hash(out, server, hours);
    fprintf(out,
            ", sum(weight) AS part FROM (SELECT cityHash64(service) AS number, %s%s AS hashes, "
            "%s AS weights FROM ",
            by_host ? "cityHash64(host) AS who, " : "", hashes, weights);
}

static void end_parts(FILE *out, const struct fleet_hours *hours) {
    fprintf(out, ") ARRAY JOIN hashes AS one, weights AS weight GROUP BY number, %shash",
            hours->choice->by == FLEET_BY_HOST ? "who, " : "");
}

static void put_hours(FILE *out, const struct fleet_server *server,
                      const struct fleet_hours *hours) {
    bool of_hosts = fleet_hours_of_hosts(hours);
    if (of_hosts)
        begin_parts(out, server, hours, "contextMap.hash", "contextMap.weight");
    else
        fputs("SELECT cityHash64(service) AS number, hash, sum(weight) AS part FROM ", out);
    fprintf(out, "%s.%s WHERE", server->database, of_hosts ? "host_contexts" : "hours");
    fleet_hours_put_sums(out, hours, FLEET_CONTEXTS);
    fleet_put_choice(out, hours->choice);
    fleet_put_host(out, hours->choice);
    if (of_hosts)
        end_parts(out, hours);
    else
        fputs(" AND hash != 0 GROUP BY number, hash", out);
}

static void put_pushes(FILE *out, const struct fleet_server *server,
                       const struct fleet_hours *hours) {
    begin_parts(out, server, hours, "hashes", "weights");
    fprintf(out, "%s.deltas", server->database);
    fleet_put_where(out, hours->choice);
    fleet_hours_put_rest(out, hours, FLEET_CONTEXTS);
    fputs(fleet_hours_once(hours) ? "" : FLEET_ONCE, out);
    end_parts(out, hours);
}

/* Of each host as arrays: frames stand in a row but once. A host of which some hours come from
 * sums, others from pushes, stands in them twice. */
static void put_sums(FILE *out, const struct fleet_server *server,
                     const struct fleet_hours *hours) {
    bool any = fleet_hours_any(hours, FLEET_CONTEXTS);
    bool rest = !any || !fleet_hours_all(hours, FLEET_CONTEXTS);
    fprintf(out, "SELECT number, hash, %s FROM (",
            hours->choice->by == FLEET_BY_HOST
                ? "groupArray(who) AS hosts, groupArray(part) AS parts"
                : "sum(part) AS weight");
    if (any)
        put_hours(out, server, hours);
    if (any && rest)
        fputs(" UNION ALL ", out);
    if (rest)
        put_pushes(out, server, hours);
    fputs(") GROUP BY number, hash", out);
}

static void query_contexts(FILE *out, const struct fleet_server *server, const struct building *b) {
    const struct fleet_choice *choice = b->sums->choice;
    fprintf(out,
            "SELECT number, hash, %s, functions, system_names, files, lines, modules, build_ids, "
            "addresses, kinds FROM (",
            is_by(b, FLEET_BY_HOST) ? "hosts, parts" : "weight");
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

/* Of a context, of all that need no frames (n is 0), or of all whose frames are not there any more
 * (NULL): those are not known. */
static uint32_t find_node(struct profile *profile, const struct group *service,
                          const uint32_t *locations, uint32_t n) {
    uint32_t node = profile_root(profile, service->process);
    if (service->label != 0)
        node = profile_add_node(profile, node, service->label, 0, 0);
    if (locations == NULL)
        node = profile_add_node(profile, node, profile_add_pseudo(profile, PROFILE_PRUNED), 0, 0);
    for (uint32_t i = 0; i < n; i++)
        node = profile_add_node(profile, node, locations[i], 0, 0);
    return node;
}

static uint64_t number_at(struct json_object *array, size_t i) {
    return json_object_get_uint64(json_object_array_get_idx(array, i));
}

/* The sum is *weight. False: it is no such row. */
static bool add_parts(struct building *b, const struct json_object *row, uint32_t node,
                      uint64_t *weight) {
    struct json_object *hosts = json_in_array(row, "hosts"), *parts = json_in_array(row, "parts");
    size_t all = hosts != NULL ? json_object_array_length(hosts) : 0;
    if (parts == NULL || json_object_array_length(parts) != all)
        return false;
    for (size_t i = 0; i < all; i++) {
        const struct group *host = find_group(&b->hosts_by_number, number_at(hosts, i));
        if (host == NULL) /* its totals are on their way */
            continue;
        fleet_parts_add(&b->parts,
                        (struct fleet_part){.host = (uint32_t)(host - b->hosts_by_number.list),
                                            .node = node,
                                            .weight = number_at(parts, i)});
        *weight += number_at(parts, i);
    }
    return true;
}

/* NULL: they are lost. */
static uint32_t *read_frames(struct building *b, const struct json_object *row, uint32_t *n) {
    *n = 0;
    if (b->sums->choice->labels_only && json_in_number(row, "hash") == 0)
        return memory_new(1, sizeof(uint32_t), "a stack");
    return stack_row_read(b->profile, row, n);
}

static bool add_context(const struct json_object *row, void *arg) {
    struct building *b = arg;
    const struct group *service = find_group(&b->services, json_in_number(row, "number"));
    uint64_t weight = 0;
    uint32_t n;
    bool ok = true;
    if (service == NULL) /* its totals are on their way */
        return true;
    uint32_t *locations = read_frames(b, row, &n);
    uint32_t node = find_node(b->profile, service, locations, n);
    if (is_by(b, FLEET_BY_HOST))
        ok = add_parts(b, row, node, &weight);
    else
        b->profile->nodes[node].count += weight = json_in_number(row, "weight");
    b->frameless += locations == NULL ? weight : 0;
    free(locations);
    return ok;
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

static void split_by_host(struct building *b) {
    const struct groups *hosts = &b->hosts_by_number;
    uint32_t *labels = memory_new(hosts->n + 1, sizeof *labels, "hosts");
    for (uint32_t i = 0; i < hosts->n; i++)
        labels[i] = hosts->list[i].label;
    struct profile *split = fleet_split(b->profile, &b->parts, labels);
    free(labels);
    profile_free(b->profile);
    b->profile = split;
}

static void finish(struct building *b) {
    char title[100];
    if (b->hosts_by_number.n > 0)
        split_by_host(b);
    struct profile *profile = b->profile;
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
    free(b->services.list);
    free(b->hosts_by_number.list);
    free(b->parts.list);
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
    sort_groups(&b->services);
    if (is_by(b, FLEET_BY_HOST))
        status = ask_rows(server, query_hosts, add_host, b);
    sort_groups(&b->hosts_by_number);
    return status == HCCT_EXIT_OK ? ask_rows(server, query_contexts, add_context, b) : status;
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
