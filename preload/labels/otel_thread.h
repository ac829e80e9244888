/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * otel_thread.h - where OpenTelemetry's SDKs keep what a thread is at work for: the thread-local
 * pointer otel_thread_ctx_v1 (OTEP 4947), in whatever object has it.
 */
#ifndef HCCT_LABELS_OTEL_THREAD_H
#define HCCT_LABELS_OTEL_THREAD_H

#include <stdbool.h>
#include <stdint.h>

struct checked;

struct otel_variable {
    bool is_static;  /* at the same distance from each thread's own block */
    uint64_t offset; /* from that, or in the module's block of the thread */
    uint64_t module; /* number of that, by the loader */
};

/* False: no object has it. Takes the loader's lock, and has the loader make the calling thread's
 * block, as the program's own first use of the variable does. Thread context. */
bool otel_variable_find(struct otel_variable *found);

/* What it points to in the thread whose own block is there; 0: nothing. Signal context. */
uint64_t otel_variable_read(const struct otel_variable *variable, struct checked *c,
                            uint64_t thread);

#endif
