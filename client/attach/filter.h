/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * filter.h - whether seccomp filters of a thread let the agent's system calls live: a container's
 * do, those that programs load themselves often do not.
 *
 * A filter is looked through for each call that the agent and the loader make, along every path
 * that it can take whatever the arguments are. A call that fails does no harm; one that ends the
 * thread, or waits for somebody, does.
 */
#ifndef HCCT_ATTACH_FILTER_H
#define HCCT_ATTACH_FILTER_H

#include <linux/filter.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Whether a process like this can read those of others. */
bool filter_can_be_read(void);

/* Of a thread that is stopped by ptrace. */
bool filter_lets_agent(pid_t tid);

/* One filter, one call: it is made, or fails. */
bool filter_lets_call(const struct sock_filter *code, size_t n, int call);

/* The stopped thread has its system calls sent to itself as a signal
 * (PR_SET_SYSCALL_USER_DISPATCH), as Wine's do; kernels before 6.4 do not tell. */
bool filter_dispatches(pid_t tid);

#endif
