/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * target_parca.c - WriteRawRequest as JSON, which is what Parca takes over HTTP.
 */
#include <stdlib.h>

#include "client/remote/series.h"
#include "common/base/json_out.h"

static const struct push_place place = {"/api/profiles/writeraw", "application/json", "Parca",
                                        NULL};

/* free() gives it back. */
static char *base64(const uint8_t *data, size_t bytes) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char *text = memory_new((bytes + 2) / 3 * 4 + 1, 1, "a request"), *at = text;
    for (size_t i = 0; i < bytes; i += 3) {
        size_t n = bytes - i < 3 ? bytes - i : 3;
        uint32_t word = (uint32_t)data[i] << 16 | (n > 1 ? (uint32_t)data[i + 1] << 8 : 0) |
                        (n > 2 ? data[i + 2] : 0);
        for (size_t k = 0; k < 4; k++)
            *at++ = k <= n ? digits[word >> (18 - 6 * k) & 63] : '=';
    }
    return text;
}

static void put_series(struct json_out *json, const struct series *series) {
    char *text = base64(series->pprof, series->bytes);
    json_begin(json, '{');
    json_object_member(json, "labels");
    json_array_member(json, "labels");
    for (size_t i = 0; i < series->n_labels; i++) {
        json_begin(json, '{');
        json_string_member(json, "name", series->labels[i].name);
        json_bytes_member(json, "value", series->labels[i].value);
        json_end(json, '}');
    }
    json_end(json, ']');
    json_end(json, '}');
    json_array_member(json, "samples");
    json_begin(json, '{');
    json_string_member(json, "rawProfile", text);
    json_end(json, '}');
    json_end(json, ']');
    json_end(json, '}');
    free(text);
}

enum transfer_result parca_send(struct transfer *transfer, const struct push_settings *settings,
                                const struct push *push, char *error, size_t error_bytes) {
    struct pool pool = {0};
    struct series *list;
    size_t n = series_make(settings, push, 0, &pool, &list), bytes;
    FILE *out = memory_stream("a request");
    struct json_out json = {.out = out};
    json_begin(&json, '{');
    json_string_member(&json, "tenant", settings->tenant != NULL ? settings->tenant : "");
    json_array_member(&json, "series");
    for (size_t i = 0; i < n; i++)
        put_series(&json, &list[i]);
    json_end(&json, ']');
    json_bool_member(&json, "normalized", false);
    json_end(&json, '}');
    char *body = memory_stream_end(out, &bytes, "a request");
    enum transfer_result result =
        push_post(transfer, settings, &place, body, bytes, NULL, error, error_bytes);

    free(body);
    free(list);
    pool_free(&pool);
    return result;
}
