/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * acceptor.h - accepts connections. Their first bytes say whether the peer is an agent or a client.
 */
#ifndef HCCT_ACCEPTOR_H
#define HCCT_ACCEPTOR_H

#include <stdbool.h>

#include "daemon/ingest/handshake.h"

/* A daemon has one; only the thread that runs acceptor_loop uses it. */
struct acceptor {
    int listener;
    int epoll;
    const struct handshake_policy *policy;
    unsigned waiting; /* connections that have not said who they are */
};

/* Listens at `listener`, which stays the caller's; `policy` must outlive the acceptor. False: errno
 * says why. */
bool acceptor_open(struct acceptor *acceptor, int listener, const struct handshake_policy *policy);

/* Another descriptor for the loop below: `ready` is called when it can be read. At most one. */
bool acceptor_watch(struct acceptor *acceptor, int fd, bool (*ready)(int fd));

/* Serves until the watched descriptor's `ready` returns false. */
void acceptor_loop(struct acceptor *acceptor);

#endif
