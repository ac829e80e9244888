/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * otel.h - the thread-local variable by which OpenTelemetry's readers find a thread's record.
 */
#ifndef HCCT_TEST_OTEL_H
#define HCCT_TEST_OTEL_H

#include <stdint.h>

struct otel_record {
    uint8_t trace[16], span[8];
    uint8_t valid, flags;
    uint16_t size;
    uint8_t attributes[612];
};

extern __thread const struct otel_record *otel_thread_ctx_v1 __attribute__((visibility("default")));

#endif
