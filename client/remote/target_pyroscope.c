/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * target_pyroscope.c - PushRequest, by the protocol that Pyroscope's own agents speak.
 */
#include <stdlib.h>

#include "client/remote/push.pb-c.h"
#include "client/remote/series.h"

/* Pyroscope refuses what has begun more than an hour ago, by default. */
#define LONGEST_NS (15 * 60 * 1000000000ull)

static const struct push_place place = {"/push.v1.PusherService/Push", "application/proto",
                                        "Pyroscope", &push__push_response__descriptor};

static Push__RawProfileSeries *translate(const struct series *from, struct pool *pool) {
    Push__RawProfileSeries *series = pool_alloc(pool, sizeof *series);
    Push__RawSample *sample = pool_alloc(pool, sizeof *sample);

    push__raw_profile_series__init(series);
    push__raw_sample__init(sample);
    series->labels = pool_alloc(pool, from->n_labels * sizeof *series->labels);
    for (size_t i = 0; i < from->n_labels; i++) {
        Push__LabelPair *pair = pool_alloc(pool, sizeof *pair);

        push__label_pair__init(pair);
        pair->name = (char *)from->labels[i].name;
        pair->value = (char *)from->labels[i].value;
        series->labels[series->n_labels++] = pair;
    }
    sample->raw_profile = (ProtobufCBinaryData){.len = from->bytes, .data = from->pprof};
    sample->id = (char *)from->id;
    series->samples = pool_alloc(pool, sizeof *series->samples);
    series->samples[series->n_samples++] = sample;
    return series;
}

enum transfer_result pyroscope_send(struct transfer *transfer, const struct push_settings *settings,
                                    const struct push *push, char *error, size_t error_bytes) {
    Push__PushRequest request = PUSH__PUSH_REQUEST__INIT;
    struct pool pool = {0};
    struct series *list;
    size_t n = series_make(settings, push, LONGEST_NS, &pool, &list);

    request.series = pool_alloc(&pool, n * sizeof *request.series);
    for (size_t i = 0; i < n; i++)
        request.series[request.n_series++] = translate(&list[i], &pool);
    size_t bytes = push__push_request__get_packed_size(&request);
    uint8_t *body = memory_new(bytes, 1, "a request");
    push__push_request__pack(&request, body);
    enum transfer_result result =
        push_post(transfer, settings, &place, body, bytes, NULL, error, error_bytes);

    free(body);
    free(list);
    pool_free(&pool);
    return result;
}
