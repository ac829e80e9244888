/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * threads.h - the daemon's list of threads (GET /v1/threads), as a table.
 */
#ifndef HCCT_TOP_THREADS_H
#define HCCT_TOP_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct top_thread {
    uint32_t pid, tid;
    char *name, *state;
    uint64_t credited_ns, walks, complete, lost, agent_ns;
    double recent; /* CPUs in use since the list before; < 0: not known */
};

struct top_threads {
    struct top_thread *item; /* busiest first */
    size_t n;
    uint64_t ended, ended_ns; /* threads that are gone, and the time credited to them */
    uint64_t credited_ns;     /* by all, these too */
    uint64_t at_ns;           /* CLOCK_MONOTONIC, when it was asked for */
};

/* Reads the daemon's JSON; false: it is not what /v1/threads answers. */
bool top_threads_parse(const char *json, size_t bytes, uint64_t at_ns, struct top_threads *list);
void top_threads_free(struct top_threads *list);

/* Sets `recent` by an earlier list. */
void top_threads_compare(struct top_threads *list, const struct top_threads *before);

#endif
