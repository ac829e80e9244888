/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * fork.h - the agent in children of fork.
 */
#ifndef HCCT_FORK_H
#define HCCT_FORK_H

#include <stdint.h>

/* Forks of this process are noticed from now on. Process context. */
void fork_watch(void);

/* Start in a child of fork, whose thread is to be sampled from `since` of its CPU time on. Process
 * context. */
void agent_start_in_child(uint64_t since);

#endif
