/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * record_seen.h - whether hcct record has anything to show; if not, why.
 */
#ifndef HCCT_RECORD_SEEN_H
#define HCCT_RECORD_SEEN_H

#include <stdbool.h>
#include <stdint.h>

#include "client/commands/record_options.h"
#include "client/processes.h"

struct record_seen {
    const struct record_options *options;
    const char *socket; /* hcctd's */
    const struct process_list *list;
    uint32_t pid;        /* only this process is looked for; 0: all in the list */
    const char *program; /* as the user has named it */
    uint64_t cpu_ns; /* of the command and its children, by the kernel; 0: of a process that runs */
};

/* True: there is at least one sample or call. False: there is none, and the reason is complained.
 */
bool record_seen_or_why(const struct record_seen *seen);

#endif
