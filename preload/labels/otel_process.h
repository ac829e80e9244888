/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * otel_process.h - what OpenTelemetry's process context (OTEP 4719) says of attributes of threads:
 * which numbers they go by (OTEP 4947).
 */
#ifndef HCCT_LABELS_OTEL_PROCESS_H
#define HCCT_LABELS_OTEL_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#define OTEL_KEYS 256u

/* Calls `see` for each attribute's number, with the address of its name and the bytes of that; up
 * to what can't be. False: there is no process context at `at`, or none with attributes of threads
 * in the form that is read here. Any context. */
struct checked;
bool otel_process_read(uint64_t at,
                       void (*see)(void *arg, struct checked *c, unsigned number, uint64_t name,
                                   uint64_t bytes),
                       void *arg);

#endif
