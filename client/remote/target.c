/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * target.c - the table of targets, and what they have in common.
 */
#include "client/remote/target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/wire/tags.h"

#define JSON_SPACE " \t\r\n"

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

static bool is_message(const struct transfer_answer *answer,
                       const ProtobufCMessageDescriptor *message) {
    ProtobufCMessage *read =
        protobuf_c_message_unpack(message, NULL, answer->bytes, (const uint8_t *)answer->body);
    if (read != NULL)
        protobuf_c_message_free_unpacked(read, NULL);
    return read != NULL;
}

/* Words are fields of protobuf, too, by chance: so only where the server says that it is that. */
static bool is_said_to_be_message(const struct transfer_answer *answer) {
    return answer->type != NULL && strcasestr(answer->type, "proto") != NULL;
}

/* As an object of JSON that has members may say that something went wrong. */
static bool is_empty_object(const struct transfer_answer *answer) {
    const char *at = answer->body + strspn(answer->body, JSON_SPACE);
    if (*at != '{')
        return false;
    at += 1 + strspn(at + 1, JSON_SPACE);
    return *at == '}' && at[1 + strspn(at + 1, JSON_SPACE)] == '\0';
}

static bool is_answer(const struct transfer_answer *answer,
                      const ProtobufCMessageDescriptor *message) {
    if (answer->bytes == 0)
        return true;
    return message != NULL && is_said_to_be_message(answer) ? is_message(answer, message)
                                                            : is_empty_object(answer);
}

enum transfer_result push_post(struct transfer *transfer, const struct push_settings *settings,
                               const struct push_place *place, const void *body, size_t bytes,
                               struct transfer_answer *answer, char *error, size_t error_bytes) {
    struct transfer_answer own;
    struct transfer_answer *it = answer != NULL ? answer : &own;
    enum transfer_result result = transfer_post_below(
        transfer, settings->url, place->path, place->type, body, bytes, it, error, error_bytes);
    if (result == TRANSFER_DONE && !is_answer(it, place->answer)) {
        snprintf(
            error, error_bytes,
            "%s%s answers with status %ld, and then not as %s does: is that the right address?",
            settings->url, place->path, it->status, place->server);
        result = TRANSFER_LATER;
    }
    if (answer == NULL)
        free(own.body);
    return result;
}

bool push_has_news(const struct profile *profile, uint32_t process) {
    const struct profile_process *it = &profile->processes[process];
    bool has_ended = !it->live && it->cpu_ns > 0;
    return it->total > 0 || it->lost > 0 || profile_lost(profile, it) > 0 || has_ended;
}
