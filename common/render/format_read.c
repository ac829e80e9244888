/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * format_read.c - which of the formats that are read it is.
 */
#include <stdlib.h>
#include <string.h>

#include "common/base/gzip.h"
#include "common/render/format.h"
#include "common/render/pprof_message.h"
#include "common/wire/metric.h"

#define WIRE_BYTES 2 /* the wire type of messages and strings */

/* The next number of a message; false: it ends before. */
static bool next_number(const uint8_t **at, const uint8_t *end, uint64_t *number) {
    *number = 0;
    for (unsigned shift = 0; *at < end && shift < 64; shift += 7) {
        uint8_t byte = *(*at)++;
        *number |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return true;
    }
    return false;
}

/* Profiles of OpenTelemetry have fields 1 and 2 and no others, all of them messages; those of pprof
 * have strings in field 6 as well. */
static bool is_otlp(const uint8_t *at, size_t bytes) {
    const uint8_t *end = at + bytes;
    bool dictionary = false;
    uint64_t tag, length;
    while (at < end) {
        if (!next_number(&at, end, &tag) || tag % 8 != WIRE_BYTES || tag / 8 > 2 ||
            !next_number(&at, end, &length) || length > (uint64_t)(end - at))
            return false;
        dictionary |= tag / 8 == 2;
        at += length;
    }
    return dictionary;
}

/* Profiles of OpenTelemetry have one metric here. */
static struct profile *read_otlp_metric(const void *data, size_t bytes, const char *metric,
                                        char *error, size_t error_bytes) {
    struct profile *profile = read_otlp(data, bytes, error, error_bytes);
    if (profile == NULL || metric == NULL ||
        strcmp(metric_type_of_word(metric), profile->type) == 0)
        return profile;
    snprintf(error, error_bytes, "it has no metric '%s', or no sample of it: it has %s", metric,
             metric_word_of_type(profile->type));
    profile_free(profile);
    return NULL;
}

static struct profile *read_either(const void *data, size_t bytes, const char *metric, char *error,
                                   size_t error_bytes) {
    return is_otlp(data, bytes) ? read_otlp_metric(data, bytes, metric, error, error_bytes)
                                : read_pprof_metric(data, bytes, metric, error, error_bytes);
}

struct profile *format_read_metric(const void *data, size_t bytes, const char *metric, char *error,
                                   size_t error_bytes) {
    struct profile *profile;
    size_t plain_bytes;
    uint8_t *plain;
    if (!gzip_is(data, bytes))
        return read_either(data, bytes, metric, error, error_bytes);
    plain = gzip_unpack(data, bytes, PPROF_MAX_PLAIN_BYTES, &plain_bytes, error, error_bytes);
    if (plain == NULL)
        return NULL;
    profile = read_either(plain, plain_bytes, metric, error, error_bytes);
    free(plain);
    return profile;
}

struct profile *format_read(const void *data, size_t bytes, char *error, size_t error_bytes) {
    return format_read_metric(data, bytes, NULL, error, error_bytes);
}
