/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * target_clickhouse.c - a push as rows: stacks that the server has not had from here, then deltas,
 * then totals. Each insert may be repeated.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "client/remote/chance_row.h"
#include "client/remote/clickhouse.h"
#include "client/remote/sent_stacks.h"
#include "client/remote/stack_row.h"
#include "common/base/json_out.h"
#include "common/base/memory.h"
#include "common/wire/tags.h"

/* In the order in which they are inserted: what refers to rows of another table comes after it. */
enum { STACKS, DELTAS, TOTALS, TABLES };

static bool takes_chance; /* `totals` has columns for it, which an earlier version's has not */

struct rows {
    const struct push_settings *settings;
    const struct push *push;
    FILE *out[TABLES];
    size_t n[TABLES];
    uint64_t *hash; /* by node */
};

/* ---- stacks ---- */

static void put_stack(struct rows *rows, const char *service, const char *members, uint64_t hash) {
    struct json_out json = {.out = rows->out[STACKS]};
    if (!sent_stacks_add(service, hash))
        return;
    json_begin(&json, '{');
    json_bytes_member(&json, "service", service);
    json_number_member(&json, "seen", (uint64_t)time(NULL));
    fprintf(rows->out[STACKS], ",\"hash\":\"%" PRIu64 "\",%s}\n", hash, members);
    rows->n[STACKS]++;
}

/* Those of a process that have a weight; their hashes are noted. */
static void put_stacks(struct rows *rows, const struct profile *profile, uint32_t process,
                       const char *service) {
    for (uint32_t i = 1; i < profile->n_nodes; i++) {
        const struct profile_node *node = &profile->nodes[i];
        if (node->process != process || node->parent == 0 || node->count == 0)
            continue;
        char *members = stack_row_write(profile, i, &rows->hash[i]);
        put_stack(rows, service, members, rows->hash[i]);
        free(members);
    }
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

static void put_wide_array(struct json_out *json, const char *name, const uint64_t *numbers,
                           size_t n) {
    char text[24];
    json_array_member(json, name);
    for (size_t i = 0; i < n; i++) {
        snprintf(text, sizeof text, "%" PRIu64, numbers[i]);
        json_string(json, text);
    }
    json_end(json, ']');
}

static void put_chance(struct json_out *json, const struct profile_process *process) {
    uint64_t sums[CHANCE_SUMS], most[CHANCE_MOST];
    chance_row_make(process, sums, most);
    put_wide_array(json, "chance", sums, CHANCE_SUMS);
    put_wide_array(json, "chance_most", most, CHANCE_MOST);
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
    if (takes_chance)
        put_chance(&json, it);
    json_end(&json, '}');
    fputc('\n', rows->out[TOTALS]);
    rows->n[TOTALS]++;
}

static void put_process(struct rows *rows, uint32_t process) {
    char room[TAGS_ROOM];
    const char *service =
        push_service(rows->settings, &rows->push->profile->processes[process], room);
    put_stacks(rows, rows->push->profile, process, service);
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

/* False: it can't be asked. */
static bool find_columns(struct transfer *transfer, const struct push_settings *settings,
                         char *error, size_t error_bytes) {
    char text[300];
    unsigned n;
    snprintf(text, sizeof text,
             "SELECT count() FROM system.columns WHERE database = '%s' AND table = 'totals' AND "
             "name = 'chance_most'",
             settings->database);
    if (!clickhouse_ask_number(transfer, settings->url, text, &n, error, error_bytes))
        return false;
    takes_chance = n > 0;
    return true;
}

/* False: nobody answers. Who must not ask may push all the same. */
static bool find_version(struct transfer *transfer, const struct push_settings *settings,
                         char *error, size_t error_bytes) {
    static bool is_known;
    static const char text[] = "SELECT version()";
    struct transfer_answer answer;
    if (is_known)
        return true;
    clickhouse_be_exact(transfer, 0);
    enum transfer_result result =
        clickhouse_run(transfer, settings->url, text, strlen(text), &answer, error, error_bytes);
    if (result == TRANSFER_DONE) {
        clickhouse_be_exact(transfer, clickhouse_version(answer.body));
        is_known = find_columns(transfer, settings, error, error_bytes);
    }
    free(answer.body);
    return is_known || answer.status != 0;
}

enum transfer_result clickhouse_send(struct transfer *transfer,
                                     const struct push_settings *settings, const struct push *push,
                                     char *error, size_t error_bytes) {
    const struct profile *profile = push->profile;
    struct rows rows = {.settings = settings, .push = push};
    if (!find_version(transfer, settings, error, error_bytes))
        return TRANSFER_LATER;
    rows.hash = memory_new(profile->n_nodes, sizeof *rows.hash, "contexts");
    sent_stacks_forget_old();
    begin_inserts(&rows);
    for (uint32_t i = 1; i < profile->n_processes; i++)
        if (push_has_news(profile, i))
            put_process(&rows, i);
    enum transfer_result result = insert_all(transfer, &rows, error, error_bytes);
    sent_stacks_taken(result == TRANSFER_DONE, false);
    free(rows.hash);
    return result;
}

bool clickhouse_has_lost(struct transfer *transfer, const struct push_settings *settings) {
    return sent_stacks_lost(transfer, settings);
}

void clickhouse_resend(struct transfer *transfer, const struct push_settings *settings,
                       const struct profile *const *profiles, size_t n) {
    struct rows rows = {.settings = settings};
    char error[300], room[TAGS_ROOM];
    begin_inserts(&rows);
    for (size_t k = 0; k < n; k++) {
        const struct profile *profile = profiles[k];
        rows.hash = memory_new(profile->n_nodes, sizeof *rows.hash, "contexts");
        for (uint32_t i = 1; i < profile->n_processes; i++)
            put_stacks(&rows, profile, i, push_service(settings, &profile->processes[i], room));
        free(rows.hash);
    }
    enum transfer_result result = insert_all(transfer, &rows, error, sizeof error);
    sent_stacks_taken(result == TRANSFER_DONE, true);
}
