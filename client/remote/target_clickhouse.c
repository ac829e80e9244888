/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * target_clickhouse.c - a push as rows: stacks that the server has not had from here, then deltas,
 * then totals. Each insert may be repeated.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "client/remote/clickhouse.h"
#include "client/remote/stack_row.h"
#include "common/base/intern.h"
#include "common/base/json_out.h"
#include "common/base/memory.h"
#include "common/wire/tags.h"

#define STACKS_AGAIN_S 86400 /* for their time of life in the table */

/* Stacks that the server has: by service and hash. One server in a run of this program. */
static struct known {
    struct intern by_hash;
    uint64_t *keys;
    uint32_t n, room;
    time_t since;
} known;

/* In the order in which they are inserted: what refers to rows of another table comes after it. */
enum { STACKS, DELTAS, TOTALS, TABLES };

struct rows {
    const struct push_settings *settings;
    const struct push *push;
    FILE *out[TABLES];
    size_t n[TABLES];
    uint64_t *new_keys; /* that are in `stacks` */
    uint32_t n_new, new_room;
    uint64_t *hash; /* by node */
};

/* ---- stacks ---- */

static bool same_key(const void *entries, uint32_t i, const void *key) {
    return ((const uint64_t *)entries)[i - 1] == *(const uint64_t *)key;
}

static void know(uint64_t key) {
    uint32_t *slot = intern_find(&known.by_hash, seeded_hash(0, key), same_key, known.keys, &key);
    if (*slot != 0)
        return;
    known.keys = memory_grow(known.keys, known.n, &known.room, sizeof *known.keys, "stacks");
    known.keys[known.n++] = key;
    *slot = known.n;
}

static void forget_old(void) {
    if (time(NULL) - known.since < STACKS_AGAIN_S && time(NULL) >= known.since)
        return;
    intern_free(&known.by_hash);
    free(known.keys);
    known = (struct known){.since = time(NULL)};
}

static uint64_t key_of(const char *service, uint64_t hash) {
    return seeded_hash_bytes(hash, service, strlen(service));
}

static void put_stack(struct rows *rows, const char *service, const char *members, uint64_t hash) {
    struct json_out json = {.out = rows->out[STACKS]};
    uint64_t key = key_of(service, hash);
    if (intern_get(&known.by_hash, seeded_hash(0, key), same_key, known.keys, &key) != 0)
        return;
    json_begin(&json, '{');
    json_bytes_member(&json, "service", service);
    json_number_member(&json, "seen", (uint64_t)time(NULL));
    fprintf(rows->out[STACKS], ",\"hash\":\"%" PRIu64 "\",%s}\n", hash, members);
    rows->new_keys =
        memory_grow(rows->new_keys, rows->n_new, &rows->new_room, sizeof *rows->new_keys, "stacks");
    rows->new_keys[rows->n_new++] = key;
    rows->n[STACKS]++;
}

/* ---- rows ---- */

static void put_wide(struct json_out *json, const char *name, uint64_t number) {
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, number);
    json_string_member(json, name, text);
}

static void put_key(struct json_out *json, const struct rows *rows, uint32_t process,
                    const char *service) {
    const struct profile *profile = rows->push->profile;
    const struct profile_process *it = &profile->processes[process];
    uint64_t end = profile->time_ns + profile->duration_ns;
    json_begin(json, '{');
    json_number_member(json, "time", end / 1000000000);
    json_bytes_member(json, "service", service);
    json_bytes_member(json, "metric", profile->type);
    json_bytes_member(json, "host", rows->settings->host);
    json_string_member(json, "push", push_id_text(rows->push, process).text);
    json_bytes_member(json, "exe", it->exe);
    json_bytes_member(json, "tags", it->tags);
    json_number_member(json, "pid", it->pid);
}

static void put_contexts(struct json_out *json, const struct rows *rows, uint32_t process,
                         bool weights) {
    const struct profile *profile = rows->push->profile;
    char text[24];
    json_array_member(json, weights ? "weights" : "hashes");
    for (uint32_t i = 1; i < profile->n_nodes; i++) {
        const struct profile_node *node = &profile->nodes[i];
        if (node->process != process || node->parent == 0 || node->count == 0)
            continue;
        snprintf(text, sizeof text, "%" PRIu64, weights ? node->count : rows->hash[i]);
        json_string(json, text);
    }
    json_end(json, ']');
}

static void put_deltas(struct rows *rows, uint32_t process, const char *service) {
    struct json_out json = {.out = rows->out[DELTAS]};
    put_key(&json, rows, process, service);
    put_contexts(&json, rows, process, false);
    put_contexts(&json, rows, process, true);
    json_end(&json, '}');
    fputc('\n', rows->out[DELTAS]);
    rows->n[DELTAS]++;
}

/* Time that hcctd knows of, and that is in no context: also what one that was killed took with it.
 */
static uint64_t lost_time(const struct profile *profile, const struct profile_process *process) {
    bool is_time = !profile_of_calls(profile) && !profile_of_faults(profile);
    return is_time ? profile_lost(profile, process) : process->lost_ns;
}

static void put_totals(struct rows *rows, uint32_t process, const char *service) {
    const struct profile *profile = rows->push->profile;
    const struct profile_process *it = &profile->processes[process];
    struct json_out json = {.out = rows->out[TOTALS]};
    put_key(&json, rows, process, service);
    json_bytes_member(&json, "unit", profile->unit);
    json_bytes_member(&json, "collector", it->collector);
    json_bytes_member(&json, "clock", it->clock);
    put_wide(&json, "span", profile->duration_ns);
    put_wide(&json, "period", profile->period);
    json_number_member(&json, "runs", it->runs > 0 ? it->runs : 1);
    put_wide(&json, "total", it->total);
    put_wide(&json, "walks", it->walks);
    put_wide(&json, "complete", it->complete);
    put_wide(&json, "lost", it->lost);
    put_wide(&json, "lost_ns", lost_time(profile, it));
    put_wide(&json, "cpu_ns", it->cpu_ns);
    put_wide(&json, "unseen", it->unseen);
    put_wide(&json, "contexts", it->contexts);
    if (it->capped > 0) /* the tables of an earlier version have no such column */
        put_wide(&json, "capped", it->capped);
    json_end(&json, '}');
    fputc('\n', rows->out[TOTALS]);
    rows->n[TOTALS]++;
}

static void put_process(struct rows *rows, uint32_t process) {
    const struct profile *profile = rows->push->profile;
    char room[TAGS_ROOM];
    const char *service = push_service(rows->settings, &profile->processes[process], room);
    for (uint32_t i = 1; i < profile->n_nodes; i++) {
        const struct profile_node *node = &profile->nodes[i];
        if (node->process != process || node->parent == 0 || node->count == 0)
            continue;
        char *members = stack_row_write(profile, i, &rows->hash[i]);
        put_stack(rows, service, members, rows->hash[i]);
        free(members);
    }
    put_deltas(rows, process, service);
    put_totals(rows, process, service);
}

/* ---- inserts ---- */

static void begin_inserts(struct rows *rows) {
    static const char *const tables[TABLES] = {"stacks", "deltas", "totals"};
    for (int table = 0; table < TABLES; table++) {
        rows->out[table] = memory_stream("rows");
        fprintf(rows->out[table], "INSERT INTO %s.%s FORMAT JSONEachRow\n",
                rows->settings->database, tables[table]);
    }
}

/* Whatever the server says against a row now, it may take it when its tables are as they should be:
 * nothing is refused for ever. */
static enum transfer_result insert(struct transfer *transfer, const struct rows *rows,
                                   const char *text, size_t bytes, char *error,
                                   size_t error_bytes) {
    enum transfer_result result =
        clickhouse_do(transfer, rows->settings->url, text, bytes, error, error_bytes);
    return result == TRANSFER_DONE ? TRANSFER_DONE : TRANSFER_LATER;
}

static enum transfer_result insert_all(struct transfer *transfer, struct rows *rows, char *error,
                                       size_t error_bytes) {
    enum transfer_result result = TRANSFER_DONE;
    char *text[TABLES];
    size_t bytes[TABLES];
    for (int table = TABLES - 1; table >= 0; table--)
        text[table] = memory_stream_end(rows->out[table], &bytes[table], "rows");
    for (int table = 0; table < TABLES && result == TRANSFER_DONE; table++)
        if (rows->n[table] > 0)
            result = insert(transfer, rows, text[table], bytes[table], error, error_bytes);
    for (int table = 0; table < TABLES; table++)
        free(text[table]);
    return result;
}

enum transfer_result clickhouse_send(struct transfer *transfer,
                                     const struct push_settings *settings, const struct push *push,
                                     char *error, size_t error_bytes) {
    const struct profile *profile = push->profile;
    struct rows rows = {
        .settings = settings,
        .push = push,
        .hash = memory_new(profile->n_nodes, sizeof *rows.hash, "contexts"),
    };

    forget_old();
    begin_inserts(&rows);
    for (uint32_t i = 1; i < profile->n_processes; i++)
        if (profile->processes[i].total > 0 || profile->processes[i].lost > 0)
            put_process(&rows, i);
    enum transfer_result result = insert_all(transfer, &rows, error, error_bytes);
    for (uint32_t i = 0; i < rows.n_new && result == TRANSFER_DONE; i++)
        know(rows.new_keys[i]);
    free(rows.new_keys);
    free(rows.hash);
    return result;
}
