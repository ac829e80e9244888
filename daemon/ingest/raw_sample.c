/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * raw_sample.c - memory of raw stack samples, counted.
 */
#include "daemon/ingest/raw_sample.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

static _Atomic uint64_t on_their_way; /* bytes */

struct raw_sample *raw_sample_new(const struct raw_stack *sizes) {
    uint64_t bytes = offsetof(struct raw_sample, stack) + raw_stack_bytes(sizes);
    struct raw_sample *raw = NULL;
    if (atomic_fetch_add(&on_their_way, bytes) + bytes <= DEFERRED_BYTES_MAX)
        raw = malloc(bytes);
    if (raw == NULL) {
        atomic_fetch_sub(&on_their_way, bytes);
        return NULL;
    }
    *raw = (struct raw_sample){.bytes = bytes, .stack = *sizes};
    return raw;
}

void raw_sample_free(struct raw_sample *raw) {
    atomic_fetch_sub(&on_their_way, raw->bytes);
    free(raw);
}

void raw_sample_list_add(struct raw_sample_list *list, struct raw_sample *raw) {
    raw->next = NULL;
    if (list->first == NULL)
        list->first = raw;
    else
        list->last->next = raw;
    list->last = raw;
}

struct raw_sample *raw_sample_list_take(struct raw_sample_list *list) {
    struct raw_sample *raw = list->first;
    if (raw != NULL)
        list->first = raw->next;
    return raw;
}
