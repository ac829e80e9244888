/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * launch.h - runs a command as if we were not there, but with the agent in it.
 */
#ifndef HCCT_LAUNCH_H
#define HCCT_LAUNCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct runtime_names;

struct launch {
    char **argv;           /* the command, ended by NULL */
    const char *agent;     /* absolute path */
    const char *socket;    /* absolute path */
    unsigned rate;         /* samples per second of CPU time, 0: the agent's default */
    const char *burst;     /* LENGTH/PERIOD, NULL: none */
    const char *budget;    /* percent.h, NULL: none */
    const char *clock;     /* cpu or wall, NULL: the agent's default */
    const char *collector; /* walks or calls, NULL: the agent's default */
    const char *metric;    /* a list (metric.h), NULL: as the collector says */
    const char *blocks,
        *locks;          /* absolute paths of what stands before malloc, and locks, or NULL */
    const char *every;   /* N or N/routine, NULL: every call */
    const char *credit;  /* last or new, NULL: the agent's default */
    const char *modules; /* whose calls are followed (call_choice.h), NULL: the default */
    const char *tags;    /* tags.h, NULL: none */
    const struct runtime_names *names; /* how it is made to name generated code */
    bool lines;                        /* of innermost frames */
    bool threads;                      /* at the root of contexts */
    bool python;                       /* its functions */
    bool check;                        /* each walk twice */
    pid_t keep;                        /* a child that is not reaped where we are process 1 */
    bool follow;                       /* its children, too */
};

struct launch_end {
    pid_t pid;
    int status;      /* as a shell gives it: the command's own, or 128 + signal */
    int error;       /* errno when it could not be run, 0 otherwise */
    uint64_t cpu_ns; /* user and system, of the command and of what it has waited for */
};

/* From now on signals that would end us are passed on while the command runs, and otherwise call
 * `abandon` (which may do only what a signal handler may) before they end us. Call once. */
void launch_catch_signals(void (*abandon)(void));

/* Starts the command and waits for its end. False: no process could be made; complained. */
bool launch_run(const struct launch *launch, struct launch_end *end);

#endif
