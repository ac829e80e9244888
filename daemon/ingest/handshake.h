/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * handshake.h - an agent's hello, the daemon's side (common/wire/wire.h).
 */
#ifndef HCCT_HANDSHAKE_H
#define HCCT_HANDSHAKE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/tree/mcct.h"
#include "daemon/ingest/process.h"

struct handshake_policy {
    struct mcct_params tree;               /* of each process */
    void (*made)(struct process *process); /* called for each, before anything is read from it */
};

/* Reads the hello from a connected socket on which all of it is there, answers, and on success
 * hands the new process over to ingest. The caller closes the socket. False: refused; *reason says
 * why, for the log. */
bool handshake_serve(int fd, const struct handshake_policy *policy, const char **reason);

#endif
