/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * fleet_totals.c - what is said of all of a push, from sums by hour and from pushes.
 */
#include "client/remote/fleet_hours.h"

/* Which of them belong together; a process says the same of these all its life. */
#define LABELS "service, metric, host, exe, tags, "
#define WORDS  "unit, collector, clock"
#define COUNTS                                                                                     \
    "total, walks, complete, lost, lost_ns, cpu_ns, pushes, period, unseen, capped, runs, "        \
    "chance, chance_most, "
#define MOMENTS "begin AS first, toUInt64(end) AS last"

static void put_sums(FILE *out, const struct fleet_server *server,
                     const struct fleet_hours *hours) {
    fprintf(out,
            "SELECT " LABELS WORDS
            ", sumMerge(total) AS total, sumMerge(walks) AS walks, sumMerge(complete) AS complete, "
            "sumMerge(lost) AS lost, sumMerge(lost_ns) AS lost_ns, sumMerge(cpu_ns) AS cpu_ns, "
            "sumMerge(pushes) AS pushes, maxMerge(period) AS period, maxMerge(unseen) AS unseen, "
            "maxMerge(capped) AS capped, maxMerge(runs) AS runs, sumForEachMerge(chance) AS "
            "chance, maxForEachMerge(chance_most) AS chance_most, "
            "toUInt64(minMerge(begin)) AS begin, maxMerge(end) AS end FROM %s.host_hours WHERE",
            server->database);
    fleet_hours_put_sums(out, hours, FLEET_TOTALS);
    fleet_put_choice(out, hours->choice);
    fleet_put_host(out, hours->choice);
    fputs(" GROUP BY " LABELS WORDS, out);
}

static void put_rest(FILE *out, const struct fleet_server *server,
                     const struct fleet_hours *hours) {
    fprintf(out,
            "SELECT " LABELS "any(unit) AS unit, any(collector) AS collector, any(clock) AS clock, "
            "sum(total) AS total, sum(walks) AS walks, sum(complete) AS complete, "
            "sum(lost) AS lost, sum(lost_ns) AS lost_ns, sum(cpu_ns) AS cpu_ns, count() AS pushes, "
            "max(period) AS period, max(unseen) AS unseen, max(capped) AS capped, max(runs) AS "
            "runs, sumForEach(arrayMap(x -> toFloat64(x), chances)) AS chance, "
            "maxForEach(mosts) AS chance_most, toUInt64(min(toUInt32(time) - least(toUInt32(time), "
            "intDiv(span, 1000000000)))) "
            "AS begin, max(time) AS end FROM (SELECT " LABELS WORDS
            ", total, walks, complete, lost, lost_ns, cpu_ns, period, unseen, "
            "%s, %s, runs, span, time FROM %s.totals",
            hours->has_capped ? "capped" : "toUInt64(0) AS capped",
            hours->has_chance ? "chance AS chances, chance_most AS mosts"
                              : "emptyArrayUInt64() AS chances, emptyArrayUInt64() AS mosts",
            server->database);
    fleet_put_where(out, hours->choice);
    fleet_hours_put_rest(out, hours, FLEET_TOTALS);
    fputs(FLEET_ONCE ") GROUP BY service, metric, host, exe, tags", out);
}

void fleet_hours_put_totals(FILE *out, const struct fleet_server *server,
                            const struct fleet_hours *hours) {
    bool any = fleet_hours_any(hours, FLEET_TOTALS);
    fputs("(SELECT " LABELS WORDS ", " COUNTS MOMENTS " FROM (", out);
    if (any)
        put_sums(out, server, hours);
    if (any && !fleet_hours_all(hours, FLEET_TOTALS))
        fputs(" UNION ALL ", out);
    if (!any || !fleet_hours_all(hours, FLEET_TOTALS))
        put_rest(out, server, hours);
    fputs("))", out);
}
