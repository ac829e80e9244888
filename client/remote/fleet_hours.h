/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * fleet_hours.h - which hours need not be added up from pushes, as the table `hours` has their
 * sums.
 *
 * A push that was inserted twice is in these sums twice, and one from before there was the table is
 * not in them. So an hour is taken from there when the pushes that went into it are those of
 * `deltas`, by the sum of their hashes; all others, and the ends of the span, are added up from
 * `deltas`.
 */
#ifndef HCCT_FLEET_HOURS_H
#define HCCT_FLEET_HOURS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "client/remote/fleet_query.h"

struct fleet_hour {
    uint64_t hour;         /* since 1970 */
    uint64_t rows, pushes; /* of `deltas`: with those that are there twice, and without */
    uint64_t sent, summed; /* sums of hashes of pushes, of `deltas` and of `hours` */
};

struct fleet_hours {
    struct fleet_hour *list; /* that have pushes, in order */
    uint32_t n, room;
    const struct fleet_choice *choice;
};

/* Asks. Returns an exit status; complained unless HCCT_EXIT_OK. */
int fleet_hours_find(struct fleet_hours *hours, const struct fleet_server *server,
                     const struct fleet_choice *choice);
void fleet_hours_free(struct fleet_hours *hours);

/* Is any hour taken from `hours`? */
bool fleet_hours_any(const struct fleet_hours *hours);
/* Writes " hour IN (...)" for those. */
void fleet_hours_put_sums(FILE *out, const struct fleet_hours *hours);
/* Writes the condition on `time` for all others: " AND (...)", or nothing where that is all. */
void fleet_hours_put_rest(FILE *out, const struct fleet_hours *hours);
/* Nothing but these hours is asked for. */
bool fleet_hours_all(const struct fleet_hours *hours);
/* No push of the others is in `deltas` twice. */
bool fleet_hours_once(const struct fleet_hours *hours);

#endif
