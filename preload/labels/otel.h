/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * otel.h - labels that a program has not set by hcct.h, but publishes for OpenTelemetry's readers:
 * the route, or endpoint, that a thread serves. Never what identifies a single request.
 */
#ifndef HCCT_LABELS_OTEL_H
#define HCCT_LABELS_OTEL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* There is something to read. */
extern _Atomic bool otel_is_there __attribute__((visibility("hidden")));

/* The program gives a mapping a name, by prctl: that of a process context says that it is there, or
 * has changed. Thread context. */
void otel_see_mapping(uint64_t at, uint64_t name);

struct agent_thread;

/* A thread's labels with those that it has in its OpenTelemetry context. Signal context. */
uint64_t otel_add_labels(struct agent_thread *thread, uint64_t labels);

#endif
