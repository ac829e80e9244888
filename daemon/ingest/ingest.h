/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * ingest.h - the thread that empties all rings, over and over, and notices the end of processes.
 */
#ifndef HCCT_INGEST_H
#define HCCT_INGEST_H

#include <stdbool.h>

#include "daemon/ingest/process.h"

bool ingest_start(void);
/* hcctd ends: agents hear of it at once, and write no more; what they have written is still read.
 * The main thread, when no process is adopted any more. */
void ingest_say_goodbye(void);
/* Ends the thread, after a last reading of all rings. The same. */
void ingest_stop(void);

/* A process has come, once for each of its n metrics, at most WIRE_METRICS_MAX: they belong to the
 * registry from now on, and their end will be noticed. `again`: its program has had another
 * session; what is known of that is its own. Any thread. */
void ingest_adopt(struct process *const *processes, size_t n, bool again);

/* Reads the rings of the process, or of all when it is NULL, now: what was published before the
 * call is in the tree after it, raw stack samples too unless that takes seconds. Any thread but the
 * ingest thread. */
void ingest_flush(struct process *process);

#endif
