/*
 * door.h - new connections: an agent or a client? The first bytes tell.
 */
#ifndef HCCT_DOOR_H
#define HCCT_DOOR_H

#include <stdbool.h>

#include "daemon/ingest/handshake.h"

/* One door a daemon; used by the thread that runs door_loop alone. */
struct door {
    int listener;
    int epoll;
    const struct handshake_policy *policy;
    unsigned waiting; /* connections that have not said who they are */
};

bool door_open(struct door *door, int listener, const struct handshake_policy *policy);

/* Another descriptor for the loop below: `ready` is called when it can be read. At most one. */
bool door_watch(struct door *door, int fd, bool (*ready)(int fd));

/* Serves until the watched descriptor's `ready` returns false. */
void door_loop(struct door *door);

#endif
