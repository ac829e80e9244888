/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * connect.h - the handshake of wire.h, the agent's side.
 */
#ifndef HCCT_CONNECT_H
#define HCCT_CONNECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/wire/wire.h"

/* What the daemon gave: descriptors that are open until connect_map(). */
struct connect_answer {
    struct wire_welcome welcome;
    int fds[2];   /* of the session, of the arena */
    bool reached; /* there is a daemon, whether it has answered or not */
    bool waited;  /* as long as was allowed, for no answer */
};

struct connect_result {
    void *session;                                 /* mapped read-write, not inherited by fork */
    const struct wire_arena *arena;                /* mapped read-only */
    size_t session_bytes, arena_bytes, slot_bytes; /* that are mapped; of one slot */
    unsigned slots;                                /* that are mapped */
};

/* Connects, sends `request` (what the user asks for; the rest is filled in), waits for the answer,
 * no more than `wait_ms` and next to nothing where the daemon is stopped. Any context; takes some
 * system calls and no lock. False: no daemon, or it refused; nothing is open then. */
bool connect_ask(const char *path, const struct wire_hello *request, int wait_ms,
                 struct connect_answer *answer);
/* Maps what the daemon gave, closes the descriptors. The same. False: it can't be mapped. */
bool connect_map(const struct connect_answer *answer, struct connect_result *result);

#endif
