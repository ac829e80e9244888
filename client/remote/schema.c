/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * schema.c - the tables in ClickHouse, as hcct push --create makes them.
 *
 * Those that are pushed to are ReplacingMergeTree, with all that tells a row from others in the
 * sorting key: a row that is inserted again takes the place of itself. A push of a process is one
 * row of `deltas`, with its contexts as arrays, so that it is there whole or not at all, however it
 * was interrupted. Older servers have neither LowCardinality nor codecs nor TTL: they get tables
 * without. `hours` alone has sums, and is filled by the server.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/remote/clickhouse.h"
#include "common/base/memory.h"

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

static const struct table {
    const char *name, *engine, *order, *partition, *time;
    unsigned more_days; /* that a row is kept for beyond the others */
    const struct column *columns;
} tables[] = {
    {"stacks", "ReplacingMergeTree(seen)", "(service, hash)", NULL, "seen", 2, stacks},
    {"deltas", "ReplacingMergeTree", "(service, metric, time, host, push)", "toYYYYMM(time)",
     "time", 0, deltas},
    {"totals", "ReplacingMergeTree", "(service, metric, time, host, push)", "toYYYYMM(time)",
     "time", 0, totals},
    {"hours", "SummingMergeTree(weight)", "(service, metric, hour, tags, hash)",
     "toYYYYMM(toDateTime(hour * 3600))", "toDateTime(hour * 3600)", 0, hours},
};

/* What is inserted into `deltas` goes to `hours`, too, in one block with the sum of hashes of
 * pushes.
 */
static const char hours_view[] =
    "CREATE MATERIALIZED VIEW IF NOT EXISTS %s.hours_of_deltas TO %s.hours AS SELECT service, "
    "metric, intDiv(toUInt32(time), 3600) AS hour, tags, hash, sum(one) AS weight FROM %s.deltas "
    "ARRAY JOIN arrayConcat([toUInt64(0)], hashes) AS hash, arrayConcat([cityHash64(push)], "
    "weights) AS "
    "one GROUP BY service, metric, hour, tags, hash";

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
}

/* `number`, if it is not NULL, is what the answer begins with. */
static bool run(struct transfer *transfer, const char *url, const char *text, unsigned *number,
                char *error, size_t error_bytes) {
    struct transfer_answer answer;
    enum transfer_result result =
        clickhouse_run(transfer, url, text, strlen(text), &answer, error, error_bytes);
    if (number != NULL)
        *number = (unsigned)strtoul(answer.body, NULL, 10);
    free(answer.body);
    return result == TRANSFER_DONE;
}

/* The table of an earlier version has no such column. */
static bool add_capped(struct transfer *transfer, const struct push_settings *settings, char *error,
                       size_t error_bytes) {
    char text[400];
    unsigned there;
    snprintf(text, sizeof text,
             "SELECT count() FROM system.columns WHERE database = '%s' AND table = 'totals' AND "
             "name = 'capped'",
             settings->database);
    if (!run(transfer, settings->url, text, &there, error, error_bytes))
        return false;
    snprintf(text, sizeof text, "ALTER TABLE %s.totals ADD COLUMN capped UInt64",
             settings->database);
    return there > 0 || run(transfer, settings->url, text, NULL, error, error_bytes);
}

bool clickhouse_create(struct transfer *transfer, const struct push_settings *settings, char *error,
                       size_t error_bytes) {
    char text[200];
    unsigned version;
    if (!run(transfer, settings->url, "SELECT version()", &version, error, error_bytes))
        return false;
    snprintf(text, sizeof text, "CREATE DATABASE IF NOT EXISTS %s", settings->database);
    if (!run(transfer, settings->url, text, NULL, error, error_bytes))
        return false;
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        FILE *out = memory_stream("a statement");
        put_table(out, &tables[i], settings->database, version >= MODERN, settings->keep_days);
        char *statement = memory_stream_end(out, NULL, "a statement");
        bool done = run(transfer, settings->url, statement, NULL, error, error_bytes);
        free(statement);
        if (!done)
            return false;
    }
    if (!add_capped(transfer, settings, error, error_bytes))
        return false;
    char view[sizeof hours_view + 3 * 100]; /* clickhouse_is_name() */
    snprintf(view, sizeof view, hours_view, settings->database, settings->database,
             settings->database);
    return run(transfer, settings->url, view, NULL, error, error_bytes);
}
