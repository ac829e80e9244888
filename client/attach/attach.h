/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * attach.h - a running process gets the agent, and is left by it: with the sentences that people
 * read.
 */
#ifndef HCCT_ATTACH_H
#define HCCT_ATTACH_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct metric_list;

struct attach {
    pid_t pid;
    const char *agent_path, *socket; /* absolute */
    const char *socket_seen;         /* its path for the process; NULL: to be found */
    const char *tags;                /* NULL: none */
    unsigned rate;                   /* at most ATTACH_RATE_MOST */
    unsigned clock;                  /* enum wire_clock: CPU or WALL */
    bool lines;
    bool threads;
    bool python;
    const struct metric_list *metrics;
    bool leaves;    /* the agent leaves when its daemon has gone */
    double seconds; /* to find a moment at which it is safe */
};

/* What came of it, beside its success. */
struct attached {
    unsigned sampled, threads;            /* that have a timer, of those that are there */
    unsigned closed, timerless, roomless; /* of the others: see enum wire_attach_fate */
    bool events;       /* allocations or locks are sampled, also of those that are closed */
    bool own_malloc;   /* its executable has one */
    bool asleep;       /* it may not ask where its threads sleep, and some were not woken */
    double stopped_ms; /* so long was one of them held at most */
};

#define ATTACH_RATE_MOST 10000

/* As often as the kernel's clock ticks: up to this rate, by CPU time, nothing is put before
 * functions of libc. */
unsigned attach_rate_usual(void);

/* The process may map so much and no more (RLIMIT_AS). */
bool attach_is_limited(pid_t pid);
/* Filters of its own, or of its container, look at its system calls (seccomp). */
bool attach_is_filtered(pid_t pid);

/* Why some threads are not sampled, as a sentence. False: all are. */
bool attach_says_missing(const struct attached *attached, char *text, size_t bytes);

/* Some of these metrics are sampled by ticks, and not by events of the program. */
bool attach_has_ticks(const struct metric_list *metrics);
/* What an agent that came late can't see of these metrics in that process, as a sentence without a
 * full stop; NULL: nothing that a user would miss. */
const char *attach_says_unseen(const struct attach *attach, const struct attached *attached);

/* False: complained, and the process goes on as it was. */
bool attach_begin(const struct attach *attach, struct attached *attached);
/* The same; `pid`: of a process that attach_begin was for, at any time. HCCT_EXIT_OK, or what hcct
 * is to exit with: HCCT_EXIT_NO_DATA where it is not attached to any more. */
int attach_end(pid_t pid, double seconds);
/* The agent of attach_begin is in it. */
bool attach_is_there(pid_t pid);

#endif
