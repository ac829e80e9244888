/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * read_pprof.c - a file of profile.proto, gzipped or not, as a profile. The data may be anything:
 * what it becomes has a largest size.
 */
#include <stdio.h>
#include <stdlib.h>

#include "common/base/gzip.h"
#include "common/render/format.h"
#include "common/render/pprof_message.h"

#define MAX_PARSED_BYTES ((size_t)2 << 30)

static void *budget_alloc(void *data, size_t bytes) {
    struct pprof_budget *budget = data;
    if (bytes > budget->left) {
        budget->exceeded = true;
        return NULL;
    }
    budget->left -= bytes;
    return malloc(bytes);
}

static void budget_free(void *data, void *memory) {
    (void)data;
    free(memory);
}

void pprof_budget_init(struct pprof_budget *budget) {
    *budget = (struct pprof_budget){
        .allocator = {.alloc = budget_alloc, .free = budget_free, .allocator_data = budget},
        .left = MAX_PARSED_BYTES};
}

static struct profile *read_plain(const uint8_t *data, size_t bytes, const char *metric,
                                  char *error, size_t error_bytes) {
    struct pprof_budget budget;
    Perftools__Profiles__Profile *message;
    struct profile *profile;
    pprof_budget_init(&budget);
    message = perftools__profiles__profile__unpack(&budget.allocator, bytes, data);
    if (message == NULL) {
        snprintf(error, error_bytes, "%s",
                 budget.exceeded ? "it is larger than any profile may be"
                                 : "it is not a pprof profile, or it is damaged or cut off");
        return NULL;
    }
    profile = pprof_message_read(message, metric, error, error_bytes);
    perftools__profiles__profile__free_unpacked(message, &budget.allocator);
    return profile;
}

struct profile *read_pprof_metric(const void *data, size_t bytes, const char *metric, char *error,
                                  size_t error_bytes) {
    struct profile *profile;
    size_t plain_bytes;
    uint8_t *plain;
    if (bytes == 0) {
        snprintf(error, error_bytes, "it is empty");
        return NULL;
    }
    if (!gzip_is(data, bytes))
        return read_plain(data, bytes, metric, error, error_bytes);
    plain = gzip_unpack(data, bytes, PPROF_MAX_PLAIN_BYTES, &plain_bytes, error, error_bytes);
    if (plain == NULL)
        return NULL;
    profile = read_plain(plain, plain_bytes, metric, error, error_bytes);
    free(plain);
    return profile;
}

struct profile *read_pprof(const void *data, size_t bytes, char *error, size_t error_bytes) {
    return read_pprof_metric(data, bytes, NULL, error, error_bytes);
}
