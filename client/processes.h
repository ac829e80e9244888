/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * processes.h - the daemon's list of processes, as a table.
 */
#ifndef HCCT_PROCESSES_H
#define HCCT_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "client/ask.h"

#define PROCESSES_KIND_ROOM 24u

struct listed_process {
    char *exe, *command;
    uint32_t pid; /* 0: finished processes of one executable, merged */
    bool live;
    bool waiting; /* known from before hcctd was restarted, and not heard of yet */
    bool on;      /* is sampled: live, and not stopped */
    bool calls;   /* are counted, instead of samples */
    char kind[PROCESSES_KIND_ROOM]; /* what contexts weigh (metric_kind()); "": not said */
    uint64_t cpu_ns, walks, contexts, bytes, lost;
    uint64_t lost_ns;             /* what that weighs, in units of its metric, if it is known */
    uint64_t total;               /* N: nanoseconds, or calls */
    uint64_t confined;            /* threads that forbade themselves system calls */
    uint64_t no_room, no_room_ns; /* threads that could not be sampled, and their CPU time */
};

struct process_list {
    struct listed_process *item;
    size_t n;
};

/* Asks the daemon at `path`. Returns an exit status; complained unless HCCT_EXIT_OK. The caller
 * frees the list. */
int processes_ask(const char *path, struct process_list *list);
/* The same for the processes of a query of /v1/processes. */
int processes_ask_for(const char *path, const struct query *query, struct process_list *list);
/* Reads the daemon's JSON; false: it is not what /v1/processes answers. */
bool processes_parse(const char *json, size_t bytes, struct process_list *list);
void processes_free(struct process_list *list);

/* Which process `who` (a pid, or the name of a command) means, by the list of the daemon at `path`:
 * *pid, or when only finished ones have the name, *pid is 0 and *exe (the caller frees it) says
 * which. Returns an exit status; complained unless HCCT_EXIT_OK. */
int processes_find(const char *path, const char *who, uint32_t *pid, char **exe);
/* The query is for that process only; `who`: NULL, for all. The status is that of the above. */
int processes_query(struct query *query, const char *path, const char *who);

#endif
