/*
 * connect.h - the handshake of wire.h, the agent's side.
 */
#ifndef HCCT_CONNECT_H
#define HCCT_CONNECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct connect_result {
    void *session;     /* mapped read-write, not inherited by fork */
    const void *arena; /* mapped read-only */
    size_t session_bytes, arena_bytes;
};

/* Connects, waits at most `wait_ms` for the answer, maps what the daemon gave, closes all
 * descriptors. Any context; takes some system calls and no lock. False: no daemon, or it refused.
 */
bool connect_daemon(const char *path, uint32_t rate, uint32_t flags, int wait_ms,
                    struct connect_result *result);

#endif
