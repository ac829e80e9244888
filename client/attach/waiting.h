/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * waiting.h - threads that sleep in calls which can be made again (waits.h), for an agent that may
 * not ask the kernel itself.
 */
#ifndef HCCT_ATTACH_WAITING_H
#define HCCT_ATTACH_WAITING_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "common/wire/attach.h"

#define WAITING_MOST 64 /* are named at once: the agent checks each while a thread is held */

/* Reads where threads of the list are, from `from` on, and names those that wait in the request, in
 * place of what it has named, up to WAITING_MOST. `ours`: their numbers are what the process has
 * them by. Returns where the next call is to begin: n after the last one. */
size_t waiting_name(struct wire_attach *request, pid_t pid, const pid_t *list, size_t n,
                    size_t from, bool ours);

#endif
