/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * fleet_hours.h - which hours need not be added up from pushes, as there are tables of their sums:
 * `hours` of contexts, `host_contexts` of those of each host, `host_hours` of totals.
 *
 * A push that was inserted twice is in these sums twice, and one from before there was the table is
 * not in them. So an hour is taken from there when the pushes that went into it are those of
 * `deltas`, by the sum of their hashes; all others, and the ends of the span, are added up from
 * pushes.
 */
#ifndef HCCT_FLEET_HOURS_H
#define HCCT_FLEET_HOURS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "client/remote/fleet_query.h"

enum fleet_sums { FLEET_CONTEXTS, FLEET_TOTALS, FLEET_SUMS };

struct fleet_hour {
    uint64_t hour;               /* since 1970 */
    uint64_t rows, pushes;       /* of `deltas`: with those that are there twice, and without */
    uint64_t sent;               /* sum of hashes of pushes, of `deltas` */
    uint64_t summed[FLEET_SUMS]; /* of each table of sums */
};

struct fleet_hours {
    struct fleet_hour *list; /* that have pushes, in order */
    uint32_t n, room;
    const struct fleet_choice *choice;
    bool there[FLEET_SUMS]; /* the tables have these sums */
    bool has_deltas;        /* there are tables at all */
    bool has_capped;        /* `totals` has that column */
    bool has_chance;        /* and those of chance_row.h */
};

/* Finds them, and calls use(), which may be called again: when a push came a second time meanwhile,
 * and what was read has it twice. Returns an exit status; server->error says why unless
 * HCCT_EXIT_OK. */
int fleet_hours_use(const struct fleet_server *server, const struct fleet_choice *choice,
                    int (*use)(const struct fleet_server *server, const struct fleet_hours *hours,
                               void *arg),
                    void *arg);

/* Contexts are asked for by host, or of one: their sums are in `host_contexts`. */
bool fleet_hours_of_hosts(const struct fleet_hours *hours);
/* Is any hour taken from these sums? */
bool fleet_hours_any(const struct fleet_hours *hours, enum fleet_sums sums);
/* Writes " hour IN (...)" for those. */
void fleet_hours_put_sums(FILE *out, const struct fleet_hours *hours, enum fleet_sums sums);
/* Writes the condition on `time` for all others: " AND (...)", or nothing where that is all. */
void fleet_hours_put_rest(FILE *out, const struct fleet_hours *hours, enum fleet_sums sums);
/* Nothing but these hours is asked for. */
bool fleet_hours_all(const struct fleet_hours *hours, enum fleet_sums sums);
/* No push that is not in the sums of contexts is in `deltas` twice. */
bool fleet_hours_once(const struct fleet_hours *hours);

/* Writes "(SELECT ...)" for what `totals` says of the choice: a row or some for each service,
 * metric, host, exe and tags, with unit, collector, clock; sums: total, walks, complete, lost,
 * lost_ns, cpu_ns, pushes, chance; the greatest period, unseen, capped, runs, chance_most; first
 * and last, in seconds. */
void fleet_hours_put_totals(FILE *out, const struct fleet_server *server,
                            const struct fleet_hours *hours);

#endif
