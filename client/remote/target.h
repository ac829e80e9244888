/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * target.h - where profiles are sent to: one entry for each kind of server.
 */
#ifndef HCCT_TARGET_H
#define HCCT_TARGET_H

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "client/remote/transfer.h"
#include "common/profile/profile.h"

#define PUSH_ID_BYTES 16

struct push_settings {
    const char *url;
    const char *service;  /* of all processes; NULL: each has its own */
    const char *host;     /* never NULL */
    const char *tenant;   /* NULL: none */
    const char *database; /* of ClickHouse */
    unsigned keep_days;   /* for how long its tables keep what comes; 0: for ever */
};

/* What came between two moments. */
struct push {
    uint8_t id[PUSH_ID_BYTES]; /* the same whenever it is sent */
    const struct profile *profile;
};

struct target {
    const char *name, *help;
    /* Makes what the target needs before it can take pushes; NULL: nothing. False: `error` says why
     * it can't. */
    bool (*create)(struct transfer *transfer, const struct push_settings *settings, char *error,
                   size_t error_bytes);
    enum transfer_result (*send)(struct transfer *transfer, const struct push_settings *settings,
                                 const struct push *push, char *error, size_t error_bytes);
    /* Has the target lost what it has had of contexts, beside their weights? Then resend() gets
     * each profile that they are in. NULL: it keeps none. */
    bool (*has_lost)(struct transfer *transfer, const struct push_settings *settings);
    void (*resend)(struct transfer *transfer, const struct push_settings *settings,
                   const struct profile *const *profiles, size_t n);
};

extern const struct target targets[]; /* ended by an entry without a name */

const struct target *target_find(const char *name); /* NULL: there is none */

/* "0f3c...-...": that of a process's part of a push, as text. */
struct push_id_text {
    char text[2 * PUSH_ID_BYTES + 5];
};
struct push_id_text push_id_text(const struct push *push, uint32_t process);

/* What a process is called: as the settings say, as its tag "service" says, or its command. Valid
 * as long as `room`, of TAGS_ROOM bytes, and the profile. */
const char *push_service(const struct push_settings *settings,
                         const struct profile_process *process, char *room);

/* Is there anything to be said of that process? Also of what was lost alone, and of CPU time that
 * had no sample, when it is over. */
bool push_has_news(const struct profile *profile, uint32_t process);

/* Where a protocol over HTTP takes pushes, and how it answers. */
struct push_place {
    const char *path;                         /* below the URL */
    const char *type;                         /* of the body */
    const char *server;                       /* for sentences: "Parca" */
    const ProtobufCMessageDescriptor *answer; /* NULL: JSON alone */
};

/* POSTs the body. TRANSFER_LATER, too, where the answer is neither nothing, nor the place's
 * message, nor an empty object of JSON: proxies and other servers may say of all that it went well.
 * As transfer_post; `answer` is NULL where nobody wants to see it. */
enum transfer_result push_post(struct transfer *transfer, const struct push_settings *settings,
                               const struct push_place *place, const void *body, size_t bytes,
                               struct transfer_answer *answer, char *error, size_t error_bytes);

bool clickhouse_create(struct transfer *transfer, const struct push_settings *settings, char *error,
                       size_t error_bytes);
enum transfer_result clickhouse_send(struct transfer *transfer,
                                     const struct push_settings *settings, const struct push *push,
                                     char *error, size_t error_bytes);
bool clickhouse_has_lost(struct transfer *transfer, const struct push_settings *settings);
void clickhouse_resend(struct transfer *transfer, const struct push_settings *settings,
                       const struct profile *const *profiles, size_t n);
enum transfer_result pyroscope_send(struct transfer *transfer, const struct push_settings *settings,
                                    const struct push *push, char *error, size_t error_bytes);
enum transfer_result parca_send(struct transfer *transfer, const struct push_settings *settings,
                                const struct push *push, char *error, size_t error_bytes);
enum transfer_result otlp_send(struct transfer *transfer, const struct push_settings *settings,
                               const struct push *push, char *error, size_t error_bytes);

#endif
