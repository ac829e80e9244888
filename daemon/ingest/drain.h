/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * drain.h - what a process's agent has written is read and applied to its tree, until its end.
 */
#ifndef HCCT_DRAIN_H
#define HCCT_DRAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/ingest/process.h"

/* A module that a process has mapped, as process_drain found it. */
typedef void process_module_seen(void *arg, struct process *process, uint32_t index,
                                 uint32_t module);

/* Reads all rings to their end, learns of new modules, gives the agent more room and its heartbeat.
 * process->undrained says that there is so much to do that some is left for the next time. True:
 * there was something to read. Called by the ingest thread and before a query, with a reference. */
bool process_drain(struct process *process, process_module_seen *seen, void *arg);

/* The same; which sampled blocks there are is seen first (process_see_blocks), so that it is known
 * where they come from when nothing is undrained, and no stack is to be unwound. */
bool process_drain_and_see(struct process *process, process_module_seen *seen, void *arg);

/* process_drain ends early, after the ring that it reads. Any thread. */
void drain_hurry(bool now);

/* The session is over: drains its rings for the last time and gives back all but the tree. Raw
 * stack samples may still come to that (deferred_unwind.h). `over`: so is the program, as far as
 * is known. */
void process_end(struct process *process, bool over);

/* The same, and it is kept among the finished ones. */
void process_finish(struct process *process);

#endif
