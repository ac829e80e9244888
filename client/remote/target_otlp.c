/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * target_otlp.c - a request of OpenTelemetry's protocol, whose body is like a file of it.
 */
#include <stdio.h>
#include <stdlib.h>

#include "client/remote/push.pb-c.h"
#include "client/remote/target.h"
#include "common/base/memory.h"
#include "common/render/write_otlp.h"

static const struct push_place place = {"/v1development/profiles", "application/x-protobuf",
                                        "a collector of OpenTelemetry",
                                        &push__export_response__descriptor};

/* A collector may take a request and say that it has left out some of it. */
static enum transfer_result judge(const struct transfer_answer *answer, char *error,
                                  size_t error_bytes) {
    Push__ExportResponse *response =
        push__export_response__unpack(NULL, answer->bytes, (const uint8_t *)answer->body);
    long rejected = response != NULL && response->partial_success != NULL
                        ? (long)response->partial_success->rejected_profiles
                        : 0;

    if (rejected > 0)
        snprintf(error, error_bytes, "the collector has left out %ld profiles: %.200s", rejected,
                 response->partial_success->error_message);
    if (response != NULL)
        push__export_response__free_unpacked(response, NULL);
    return rejected > 0 ? TRANSFER_REFUSED : TRANSFER_DONE;
}

enum transfer_result otlp_send(struct transfer *transfer, const struct push_settings *settings,
                               const struct push *push, char *error, size_t error_bytes) {
    struct otlp_attribute attributes[] = {{"host.name", settings->host},
                                          {"service.name", settings->service}};
    struct otlp_about about = {.attributes = attributes,
                               .n_attributes = settings->service != NULL ? 2 : 1,
                               .id = push->id};
    struct transfer_answer answer;
    FILE *out = memory_stream("a request");
    size_t bytes;
    write_otlp_about(out, push->profile, &format_default_options, &about);
    char *body = memory_stream_end(out, &bytes, "a request");
    enum transfer_result result =
        push_post(transfer, settings, &place, body, bytes, &answer, error, error_bytes);

    if (result == TRANSFER_DONE)
        result = judge(&answer, error, error_bytes);
    free(answer.body);
    free(body);
    return result;
}
