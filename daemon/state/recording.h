/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * recording.h - the trace that hcctd keeps (--trace): which processes are in it, and its end.
 */
#ifndef HCCT_RECORDING_H
#define HCCT_RECORDING_H

#include <stdbool.h>
#include <stddef.h>

#include "daemon/ingest/process.h"

/* Begins the file, before the first process. False: it can't be; `error` is a sentence. */
bool recording_open(const char *path, char *error, size_t room);

/* A process that has just been made, before anything is read from it. Nothing happens when no trace
 * is kept. Any thread. */
void recording_begin(struct process *process);

/* Completes the file, when nothing is read any more; says on stderr what is missing in it. */
void recording_close(void);

#endif
