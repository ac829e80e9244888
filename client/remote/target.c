/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * target.c - the table of targets, and what they have in common.
 */
#include "client/remote/target.h"

#include <stdio.h>
#include <string.h>

#include "common/wire/tags.h"

const struct target targets[] = {
    {"pyroscope", "Grafana Pyroscope", NULL, pyroscope_send, NULL, NULL},
    {"parca", "Parca", NULL, parca_send, NULL, NULL},
    {"otlp", "a collector of OpenTelemetry", NULL, otlp_send, NULL, NULL},
    {"clickhouse", "ClickHouse, for hcct fleet", clickhouse_create, clickhouse_send,
     clickhouse_has_lost, clickhouse_resend},
    {NULL, NULL, NULL, NULL, NULL, NULL},
};

const struct target *target_find(const char *name) {
    for (const struct target *target = targets; target->name != NULL; target++)
        if (strcmp(target->name, name) == 0)
            return target;
    return NULL;
}

struct push_id_text push_id_text(const struct push *push, uint32_t process) {
    struct push_id_text id;
    size_t used = 0;

    for (unsigned i = 0; i < PUSH_ID_BYTES; i++) {
        unsigned byte = push->id[i];
        if (i >= PUSH_ID_BYTES - 4)
            byte ^= (process >> 8 * (PUSH_ID_BYTES - 1 - i)) & 0xff;
        if (i == 4 || i == 6 || i == 8 || i == 10)
            id.text[used++] = '-';
        used += (size_t)snprintf(id.text + used, sizeof id.text - used, "%02x", byte);
    }
    return id;
}

const char *push_service(const struct push_settings *settings,
                         const struct profile_process *process, char *room) {
    const char *tags = process->tags;
    struct tag tag;
    if (settings->service != NULL)
        return settings->service;
    while (tags_next(&tags, &tag))
        if (tag.key_length == strlen("service") &&
            memcmp(tag.key, "service", tag.key_length) == 0) {
            snprintf(room, TAGS_ROOM, "%.*s", (int)tag.value_length, tag.value);
            return room;
        }
    return profile_process_name(process);
}

bool push_has_news(const struct profile *profile, uint32_t process) {
    const struct profile_process *it = &profile->processes[process];
    bool has_ended = !it->live && it->cpu_ns > 0;
    return it->total > 0 || it->lost > 0 || profile_lost(profile, it) > 0 || has_ended;
}
