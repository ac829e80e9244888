/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * schema.c - the tables in ClickHouse, as hcct push --create makes them.
 *
 * Those that are pushed to are ReplacingMergeTree, with all that tells a row from others in the
 * sorting key: a row that is inserted again takes the place of itself. A push of a process is one
 * row of `deltas`, with its contexts as arrays, so that it is there whole or not at all, however it
 * was interrupted. Older servers have neither LowCardinality nor codecs nor TTL: they get tables
 * without. `hours`, `host_contexts` and `host_hours` have sums, and are filled by the server.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/remote/clickhouse.h"
#include "common/base/memory.h"
#include "common/wire/compiler.h"

#define MODERN 20 /* the first major version with all of that */

struct column {
    const char *name, *type;
    const char *modern; /* the type there; NULL: the same */
};

#define KEY_COLUMNS                                                                                \
    {"time", "DateTime", "DateTime CODEC(DoubleDelta, ZSTD)"},                                     \
        {"service", "String", "LowCardinality(String)"},                                           \
        {"metric", "String", "LowCardinality(String)"},                                            \
        {"host", "String", "LowCardinality(String)"}, {"push", "String", "String CODEC(ZSTD)"},    \
        {"exe", "String", "LowCardinality(String)"}, {"tags", "String", "LowCardinality(String)"}, \
    {                                                                                              \
        "pid", "UInt32", "UInt32 CODEC(ZSTD)"                                                      \
    }

static const struct column stacks[] = {
    {"service", "String", "LowCardinality(String)"},
    {"hash", "UInt64", NULL},
    {"seen", "DateTime", NULL},
    {"functions", "Array(String)", "Array(String) CODEC(ZSTD)"},
    {"system_names", "Array(String)", "Array(String) CODEC(ZSTD)"},
    {"files", "Array(String)", "Array(String) CODEC(ZSTD)"},
    {"lines", "Array(UInt32)", "Array(UInt32) CODEC(ZSTD)"},
    {"modules", "Array(String)", "Array(String) CODEC(ZSTD)"},
    {"build_ids", "Array(String)", "Array(String) CODEC(ZSTD)"},
    {"addresses", "Array(UInt64)", "Array(UInt64) CODEC(ZSTD)"},
    {"kinds", "Array(UInt8)", "Array(UInt8) CODEC(ZSTD)"},
    {NULL, NULL, NULL},
};

static const struct column deltas[] = {
    KEY_COLUMNS,
    {"hashes", "Array(UInt64)", "Array(UInt64) CODEC(ZSTD)"},
    {"weights", "Array(UInt64)", "Array(UInt64) CODEC(ZSTD)"},
    {NULL, NULL, NULL},
};

static const struct column totals[] = {
    KEY_COLUMNS,
    {"unit", "String", "LowCardinality(String)"},
    {"collector", "String", "LowCardinality(String)"},
    {"clock", "String", "LowCardinality(String)"},
    {"span", "UInt64", "UInt64 CODEC(ZSTD)"},
    {"period", "UInt64", "UInt64 CODEC(ZSTD)"},
    {"runs", "UInt32", "UInt32 CODEC(ZSTD)"},
    {"total", "UInt64", "UInt64 CODEC(ZSTD)"},
    {"walks", "UInt64", "UInt64 CODEC(ZSTD)"},
    {"complete", "UInt64", "UInt64 CODEC(ZSTD)"},
    {"lost", "UInt64", "UInt64 CODEC(ZSTD)"},
    {"lost_ns", "UInt64", "UInt64 CODEC(ZSTD)"},
    {"cpu_ns", "UInt64", "UInt64 CODEC(ZSTD)"},
    {"unseen", "UInt64", "UInt64 CODEC(ZSTD)"},
    {"contexts", "UInt64", "UInt64 CODEC(ZSTD)"},
    {"capped", "UInt64", "UInt64 CODEC(ZSTD)"},
    {"chance", "Array(UInt64)", "Array(UInt64) CODEC(ZSTD)"}, /* chance_row.h */
    {"chance_most", "Array(UInt64)", "Array(UInt64) CODEC(ZSTD)"},
    {NULL, NULL, NULL},
};

/* Sums of `deltas` by hour, for questions about many of them (fleet_hours.h); a row whose hash is 0
 * tells which pushes they are of. */
static const struct column hours[] = {
    {"service", "String", "LowCardinality(String)"},
    {"metric", "String", "LowCardinality(String)"},
    {"hour", "UInt32", "UInt32 CODEC(DoubleDelta, ZSTD)"},
    {"tags", "String", "LowCardinality(String)"},
    {"hash", "UInt64", "UInt64 CODEC(ZSTD)"},
    {"weight", "UInt64", "UInt64 CODEC(ZSTD)"},
    {NULL, NULL, NULL},
};

/* The same of each host, a row with arrays for what it has pushed in an hour. Arrays of a name that
 * ends in Map are added up by the first of them when rows are merged. */
static const struct column host_contexts[] = {
    {"service", "String", "LowCardinality(String)"},
    {"metric", "String", "LowCardinality(String)"},
    {"host", "String", "LowCardinality(String)"},
    {"hour", "UInt32", "UInt32 CODEC(DoubleDelta, ZSTD)"},
    {"tags", "String", "LowCardinality(String)"},
    {"ids", "UInt64", NULL}, /* the sum of hashes of pushes */
    {"`contextMap.hash`", "Array(UInt64)", "Array(UInt64) CODEC(ZSTD)"},
    {"`contextMap.weight`", "Array(UInt64)", "Array(UInt64) CODEC(ZSTD)"},
    {NULL, NULL, NULL},
};

/* What `totals` says, by hour and host; ids is the sum of hashes of pushes. */
static const struct column host_hours[] = {
    {"service", "String", "LowCardinality(String)"},
    {"metric", "String", "LowCardinality(String)"},
    {"hour", "UInt32", "UInt32 CODEC(DoubleDelta, ZSTD)"},
    {"host", "String", "LowCardinality(String)"},
    {"exe", "String", "LowCardinality(String)"},
    {"tags", "String", "LowCardinality(String)"},
    {"unit", "String", "LowCardinality(String)"},
    {"collector", "String", "LowCardinality(String)"},
    {"clock", "String", "LowCardinality(String)"},
    {"ids", "AggregateFunction(sum, UInt64)", NULL},
    {"pushes", "AggregateFunction(sum, UInt64)", NULL},
    {"total", "AggregateFunction(sum, UInt64)", NULL},
    {"walks", "AggregateFunction(sum, UInt64)", NULL},
    {"complete", "AggregateFunction(sum, UInt64)", NULL},
    {"lost", "AggregateFunction(sum, UInt64)", NULL},
    {"lost_ns", "AggregateFunction(sum, UInt64)", NULL},
    {"cpu_ns", "AggregateFunction(sum, UInt64)", NULL},
    {"period", "AggregateFunction(max, UInt64)", NULL},
    {"unseen", "AggregateFunction(max, UInt64)", NULL},
    {"capped", "AggregateFunction(max, UInt64)", NULL},
    {"runs", "AggregateFunction(max, UInt32)", NULL},
    {"begin", "AggregateFunction(min, DateTime)", NULL},
    {"end", "AggregateFunction(max, DateTime)", NULL},
    {"chance", "AggregateFunction(sumForEach, Array(Float64))", NULL},
    {"chance_most", "AggregateFunction(maxForEach, Array(UInt64))", NULL},
    {NULL, NULL, NULL},
};

static const struct table {
    const char *name, *engine, *order, *partition, *time;
    unsigned more_days; /* that a row is kept for beyond the others */
    const struct column *columns;
    unsigned granularity; /* rows that an entry of the index is for; 0: the server's */
} tables[] = {
    {"stacks", "ReplacingMergeTree(seen)", "(service, hash)", NULL, "seen", 2, stacks, 0},
    /* what a host has pushed in an hour stands together, as questions about one host need it; rows
     * are large */
    {"deltas", "ReplacingMergeTree", "(service, metric, toStartOfHour(time), host, time, push)",
     "toYYYYMM(time)", "time", 0, deltas, 1024},
    {"totals", "ReplacingMergeTree", "(service, metric, time, host, push)", "toYYYYMM(time)",
     "time", 0, totals, 0},
    {"hours", "SummingMergeTree(weight)", "(service, metric, hour, tags, hash)",
     "toYYYYMM(toDateTime(hour * 3600))", "toDateTime(hour * 3600)", 0, hours, 0},
    {"host_contexts", "SummingMergeTree", "(service, metric, host, hour, tags)",
     "toYYYYMM(toDateTime(hour * 3600))", "toDateTime(hour * 3600)", 0, host_contexts, 16},
    {"host_hours", "AggregatingMergeTree",
     "(service, metric, hour, host, exe, tags, unit, collector, clock)",
     "toYYYYMM(toDateTime(hour * 3600))", "toDateTime(hour * 3600)", 0, host_hours, 0},
};

/* What is inserted into a table goes to that of its sums, too: of contexts in one block with the
 * sum of hashes of pushes. %1$s is the database. */
static const char *const views[] = {
    "CREATE MATERIALIZED VIEW IF NOT EXISTS %1$s.hours_of_deltas TO %1$s.hours AS SELECT service, "
    "metric, intDiv(toUInt32(time), 3600) AS hour, tags, hash, sum(one) AS weight FROM %1$s.deltas "
    "ARRAY JOIN arrayConcat([toUInt64(0)], hashes) AS hash, arrayConcat([cityHash64(push)], "
    "weights) AS one GROUP BY service, metric, hour, tags, hash",

    "CREATE MATERIALIZED VIEW IF NOT EXISTS %1$s.host_contexts_of_deltas TO %1$s.host_contexts AS "
    "SELECT service, metric, host, intDiv(toUInt32(time), 3600) AS hour, tags, cityHash64(push) AS "
    "ids, hashes AS `contextMap.hash`, weights AS `contextMap.weight` FROM %1$s.deltas",

    "CREATE MATERIALIZED VIEW IF NOT EXISTS %1$s.host_hours_of_totals TO %1$s.host_hours AS SELECT "
    "service, metric, intDiv(toUInt32(time), 3600) AS hour, host, exe, tags, unit, collector, "
    "clock, sumState(cityHash64(push)) AS ids, sumState(toUInt64(1)) AS pushes, "
    "sumState(total) AS total, sumState(walks) AS walks, sumState(complete) AS complete, "
    "sumState(lost) AS lost, sumState(lost_ns) AS lost_ns, sumState(cpu_ns) AS cpu_ns, "
    "maxState(period) AS period, maxState(unseen) AS unseen, maxState(capped) AS capped, "
    "maxState(runs) AS runs, minState(toDateTime(toUInt32(toUInt32(time) - "
    "least(toUInt32(time), intDiv(span, 1000000000))))) AS begin, maxState(time) AS end, "
    "sumForEachState(arrayMap(x -> toFloat64(x), chance)) AS chance, maxForEachState(chance_most) "
    "AS chance_most FROM "
    "%1$s.totals GROUP BY service, metric, hour, host, exe, tags, unit, "
    "collector, clock",
};

static void put_table(FILE *out, const struct table *table, const char *database, bool modern,
                      unsigned keep_days) {
    fprintf(out, "CREATE TABLE IF NOT EXISTS %s.%s (", database, table->name);
    for (const struct column *column = table->columns; column->name != NULL; column++)
        fprintf(out, "%s%s %s", column == table->columns ? "" : ", ", column->name,
                modern && column->modern != NULL ? column->modern : column->type);
    fprintf(out, ") ENGINE = %s", table->engine);
    if (table->partition != NULL)
        fprintf(out, " PARTITION BY %s", table->partition);
    fprintf(out, " ORDER BY %s", table->order);
    if (modern && keep_days > 0)
        fprintf(out, " TTL %s + INTERVAL %u DAY", table->time, keep_days + table->more_days);
    if (table->granularity > 0)
        fprintf(out, " SETTINGS index_granularity = %u", table->granularity);
}

static bool run(struct transfer *transfer, const char *url, const char *text, char *error,
                size_t error_bytes) {
    return clickhouse_do(transfer, url, text, strlen(text), error, error_bytes) == TRANSFER_DONE;
}

/* What tables of an earlier version lack, the oldest first. */
static const struct addition {
    const char *table, *column, *type;
    const char *view; /* that fills it, and is made again; NULL */
} additions[] = {
    {"totals", "capped", "UInt64", NULL},
    {"totals", "chance", "Array(UInt64)", NULL},
    {"totals", "chance_most", "Array(UInt64)", NULL},
    {"host_hours", "chance", "AggregateFunction(sumForEach, Array(Float64))",
     "host_hours_of_totals"},
    {"host_hours", "chance_most", "AggregateFunction(maxForEach, Array(UInt64))",
     "host_hours_of_totals"},
};

/* The view goes first: who is interrupted finds that the column is missing, or that the view is. */
static bool add_column(struct transfer *transfer, const struct push_settings *settings,
                       const struct addition *addition, char *error, size_t error_bytes) {
    char text[400];
    unsigned there;
    snprintf(text, sizeof text,
             "SELECT count() FROM system.columns WHERE database = '%s' AND table = '%s' AND "
             "name = '%s'",
             settings->database, addition->table, addition->column);
    if (!clickhouse_ask_number(transfer, settings->url, text, &there, error, error_bytes))
        return false;
    if (there > 0)
        return true;
    snprintf(text, sizeof text, "DROP TABLE IF EXISTS %s.%s", settings->database,
             addition->view != NULL ? addition->view : "");
    if (addition->view != NULL && !run(transfer, settings->url, text, error, error_bytes))
        return false;
    snprintf(text, sizeof text, "ALTER TABLE %s.%s ADD COLUMN %s %s", settings->database,
             addition->table, addition->column, addition->type);
    return run(transfer, settings->url, text, error, error_bytes);
}

static bool make_views(struct transfer *transfer, const struct push_settings *settings, char *error,
                       size_t error_bytes) {
    bool done = true;
    for (size_t i = 0; i < HCCT_ARRAY_LEN(views) && done; i++) {
        FILE *out = memory_stream("a statement");
        fprintf(out, views[i], settings->database);
        char *statement = memory_stream_end(out, NULL, "a statement");
        done = run(transfer, settings->url, statement, error, error_bytes);
        free(statement);
    }
    return done;
}

bool clickhouse_create(struct transfer *transfer, const struct push_settings *settings, char *error,
                       size_t error_bytes) {
    char text[200];
    unsigned version;
    if (!clickhouse_ask_number(transfer, settings->url, "SELECT version()", &version, error,
                               error_bytes))
        return false;
    snprintf(text, sizeof text, "CREATE DATABASE IF NOT EXISTS %s", settings->database);
    if (!run(transfer, settings->url, text, error, error_bytes))
        return false;
    for (size_t i = 0; i < HCCT_ARRAY_LEN(tables); i++) {
        FILE *out = memory_stream("a statement");
        put_table(out, &tables[i], settings->database, version >= MODERN, settings->keep_days);
        char *statement = memory_stream_end(out, NULL, "a statement");
        bool done = run(transfer, settings->url, statement, error, error_bytes);
        free(statement);
        if (!done)
            return false;
    }
    for (size_t i = 0; i < HCCT_ARRAY_LEN(additions); i++)
        if (!add_column(transfer, settings, &additions[i], error, error_bytes))
            return false;
    return make_views(transfer, settings, error, error_bytes);
}
