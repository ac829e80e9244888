/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * fleet_query.h - what is asked of the tables that hcct push fills.
 */
#ifndef HCCT_FLEET_QUERY_H
#define HCCT_FLEET_QUERY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "client/remote/transfer.h"
#include "common/profile/profile.h"
#include "common/wire/compiler.h"

/* What stands above all frames, as a label such as "host=web7". */
enum fleet_by { FLEET_BY_NOTHING, FLEET_BY_SERVICE, FLEET_BY_HOST };

/* Which pushes; NULL: any. */
struct fleet_choice {
    enum fleet_by by;
    bool labels_only; /* by host: of contexts only labels are shown. Those that have none are one,
                       * which the server adds up */
    const char *service, *host, *tag;
    const char *metric;        /* as users name it, which the tables do by the profile's type */
    uint64_t since_s, until_s; /* before now; until_s 0: up to now */
    uint64_t from_s, to_s;     /* the same since 1970, by the server's clock (fleet_set_span);
                                * to_s UINT64_MAX: whenever it came */
    uint64_t now_s;            /* what the server's clock said then */
};

#define FLEET_ERROR_ROOM 600

struct fleet_server {
    struct transfer *transfer;
    const char *url, *database;
    char *error; /* FLEET_ERROR_ROOM bytes: why the last function that failed did */
};

/* What follows returns an exit status; unless that is HCCT_EXIT_OK, server->error is a sentence. */

hcct_printf(2, 3) void fleet_fail(const struct fleet_server *server, const char *format, ...);
/* What the server has answered is not what was asked for: HCCT_EXIT_FAILURE. */
int fleet_not_understood(const struct fleet_server *server, const struct transfer_answer *answer);

/* Asks the server what time it is, so that all that is asked of a choice is of one span. One of six
 * hours or more begins and ends with an hour, before what was asked for: sums by hour answer then
 * (fleet_hours.h), where a part of an hour would cost more than all others. */
int fleet_set_span(const struct fleet_server *server, struct fleet_choice *choice);

/* Writes a condition: a time since 1970, before another unless that is UINT64_MAX. `deltas` are
 * sorted by hours, which older servers do not see from times. */
void fleet_put_time(FILE *out, uint64_t from_s, uint64_t to_s);

/* Writes " WHERE ..." for them, whose span is set. */
void fleet_put_where(FILE *out, const struct fleet_choice *choice);
/* The part of it that has no time and no host: " AND ..."; and that of the host. */
void fleet_put_choice(FILE *out, const struct fleet_choice *choice);
void fleet_put_host(FILE *out, const struct fleet_choice *choice);

/* Behind that: what is there twice counts once. FINAL says the same, for five times as much. */
#define FLEET_ONCE " LIMIT 1 BY service, metric, time, host, push"

/* Runs a query whose stream was begun by memory_stream(), and ends the stream. The answer's body is
 * the caller's to free in any case. */
int fleet_ask(const struct fleet_server *server, FILE *query, struct transfer_answer *answer);

struct json_object;

/* What users call the metric of a row. */
const char *fleet_row_metric(const struct json_object *row);

/* Calls use(row, arg) for each line of JSONEachRow; false: a line is none, or `use` said so. */
bool fleet_each_row(const struct transfer_answer *answer,
                    bool (*use)(const struct json_object *row, void *arg), void *arg);

/* Both: each row of what is answered to a query. */
int fleet_ask_rows(const struct fleet_server *server, FILE *query,
                   bool (*use)(const struct json_object *row, void *arg), void *arg);

/* The sum of all pushes of a choice whose span is set, a process for each service, with its bounds
 * over all hosts. HCCT_EXIT_NO_DATA: there are none. HCCT_EXIT_USAGE: they count different things.
 * `frameless` (or NULL): the weight of contexts whose frames the server has lost; it stands in [~]
 * frames. */
int fleet_profile(const struct fleet_server *server, const struct fleet_choice *choice,
                  struct profile **profile, uint64_t *frameless);

/* A row for each service (or host) and metric, the heaviest first: name, metric, unit, n (hosts,
 * or services), weight, samples, lost_samples, pushes, last (seconds since 1970). The answer's body
 * is the caller's to free in any case. */
int fleet_ask_list(const struct fleet_server *server, const struct fleet_choice *choice,
                   bool by_host, struct transfer_answer *answer);
/* Prints them. */
int fleet_list(const struct fleet_server *server, const struct fleet_choice *choice, bool by_host,
               bool json);

#endif
