/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * record_attached.h - hcct record -p: instead of a command that is run, a process that runs.
 */
#ifndef HCCT_RECORD_ATTACHED_H
#define HCCT_RECORD_ATTACHED_H

#include <stdbool.h>
#include <sys/types.h>

#include "client/commands/record_options.h"

/* False: --duration is none, or an option asks for what an attached agent can't; complained. */
bool record_attached_agrees(struct record_options *options);
/* Attaches. `seen`: the socket's path for the process, NULL: it is to be found. False: complained.
 */
bool record_attached_begin(const struct record_options *options, const char *socket,
                           const char *seen);
/* Until the time is over, Ctrl-C, or the end of the process. */
void record_attached_wait(const struct record_options *options);
/* Detaches, unless it has ended. */
void record_attached_end(const struct record_options *options);
/* Why hcctd has not heard of the process that was attached to. */
const char *record_attached_unseen(const struct record_options *options);
/* Whose process it is; this user, if that can't be known. */
uid_t record_attached_user(pid_t pid);
/* The name of its command. */
void record_attached_name(pid_t pid, char *name, size_t bytes);

#endif
