/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * otel_library.c - a tracer's native part, which is opened.
 */
#include "tests/targets/otel.h"

__thread const struct otel_record *otel_thread_ctx_v1;

void otel_attach(const struct otel_record *record);
void otel_attach(const struct otel_record *record) {
    otel_thread_ctx_v1 = record;
}
