/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * otel_message.h - protobuf messages of pairs and texts, as a process context of OpenTelemetry is.
 */
#ifndef HCCT_TEST_OTEL_MESSAGE_H
#define HCCT_TEST_OTEL_MESSAGE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct message {
    uint8_t bytes[1024];
    size_t n;
};

static void put_part(struct message *message, unsigned field, const void *part, size_t n) {
    message->bytes[message->n++] = (uint8_t)(field << 3 | 2);
    if (n > 127)
        message->bytes[message->n++] = (uint8_t)(n | 128);
    message->bytes[message->n++] = (uint8_t)(n > 127 ? n >> 7 : n);
    memcpy(message->bytes + message->n, part, n);
    message->n += n;
}

static void put_pair(struct message *to, const char *key, const struct message *value) {
    struct message pair = {.n = 0};
    put_part(&pair, 1, key, strlen(key));
    put_part(&pair, 2, value->bytes, value->n);
    put_part(to, 2, pair.bytes, pair.n);
}

static struct message text_of(const char *text) {
    struct message value = {.n = 0};
    put_part(&value, 1, text, strlen(text));
    return value;
}

#endif
