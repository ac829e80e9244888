/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * registry.h - all processes that the daemon knows: live, finished, and folded by executable.
 *
 * Thread-safe; no process's lock may be held. A process that registry_* hands out carries a
 * reference: registry_put gives it back.
 */
#ifndef HCCT_REGISTRY_H
#define HCCT_REGISTRY_H

#include <stdbool.h>
#include <stddef.h>

#include "daemon/ingest/process.h"

#define REGISTRY_LIVE_MAX     1024u /* processes profiled at once */
#define REGISTRY_FINISHED_MAX 64u   /* kept one by one; older ones are folded by executable ... */
#define REGISTRY_FINISHED_MORE                                                                     \
    16u /* ... when there are so many more, as a thread is woken for that (finished.h) */
#define REGISTRY_FOLDED_MAX 256u /* executables */

/* Takes over the caller's reference. */
void registry_add(struct process *process);
void registry_put(struct process *process);
/* One reference more, for who has one already. */
void registry_ref(struct process *process);

/* The live process with that pid, or NULL. Numbers of processes are used again: where time has
 * passed it may be another one, and process->number tells which is meant. */
struct process *registry_find_live(pid_t pid);
struct process *registry_find_numbered(uint64_t number);

/* The process with that number and identity that a checkpoint has, and which is still to be found;
 * or NULL. */
struct process *registry_find_waiting(pid_t pid, const struct process_identity *identity);

/* It is not among the processes any more. */
void registry_remove(struct process *process);

/* Processes that a checkpoint has and that are gone by now are finished. */
void registry_give_up(void);

/* How many are live. */
unsigned registry_live(void);

/* All processes of which `filter` (NULL: any) says yes, oldest first, in a malloc'ed array; *n says
 * how many. Each carries a reference: registry_free_list gives them and the array back. Waits for
 * the end of a merge, if one of those is in it. NULL: there is no memory, and *n is 0. */
typedef bool registry_filter(const struct process *process, const void *arg);
struct process **registry_list(registry_filter *filter, const void *arg, size_t *n);
void registry_free_list(struct process **list, size_t n);

/* All that live, in no order; returns how many. Takes no memory, and waits for nobody. */
size_t registry_all_live(struct process *list[REGISTRY_LIVE_MAX]);
void registry_put_all(struct process *const *list, size_t n);

/* The process has ended: it is kept among the finished ones. */
void registry_finished(struct process *process);

/* Folds the oldest finished process, if there are too many, and drops the oldest executable of too
 * many. False: none was to be folded. One thread. */
bool registry_fold(void);

/* Waits until there are too many, or until that moment (CLOCK_MONOTONIC). False: for nothing, as
 * the program ends (registry_wait_stop). */
bool registry_wait_finished(uint64_t until_ns);
void registry_wait_stop(void);

/* Gives back all processes, at the end of the daemon: no reference may be left but the registry's
 * own. */
void registry_clear(void);

/* Weight (N) of profiles that were dropped, as there were too many executables. */
uint64_t registry_dropped(void);

#endif
