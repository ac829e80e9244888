/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * spawn_self.h - another process of the running program, with one socket and nothing else.
 */
#ifndef HCCT_SPAWN_SELF_H
#define HCCT_SPAWN_SELF_H

#include <stdbool.h>
#include <sys/types.h>

#define SPAWN_SELF_FD 3 /* where it finds its socket */

/* Runs `program` (normally /proc/self/exe) with these arguments, ended by NULL, of which the first
 * is its name. It has /dev/null thrice and the other end of *socket; no signal is blocked or
 * ignored in it. False with errno set: it could not be started, and there is no socket. Any thread.
 */
bool spawn_self(const char *program, char *const arguments[], int type, pid_t *pid, int *socket);

#endif
