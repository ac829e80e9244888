/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * render_server.h - the process that forks renderers: a copy of hcctd from before it had threads,
 * sockets and profiles.
 *
 * It is small, so that a fork costs little, and knows nothing that a renderer must not see. It
 * holds the ends of renderers that hang or are not wanted any more, and kills these.
 */
#ifndef HCCT_RENDER_SERVER_H
#define HCCT_RENDER_SERVER_H

#include <stdint.h>

/* A machine that is busy gives a renderer a part of its time; one that hangs takes none. */
#define RENDER_PATIENCE 2

struct render_limits {
    uint64_t memory;  /* address space of one renderer, beyond what the program has at its start */
    unsigned seconds; /* of CPU time for one answer; the daemon waits RENDER_PATIENCE as long */
};

/* Serves the daemon at the other end of `socket` until that is closed. In a process of its own, of
 * one thread, whose locale is set. */
_Noreturn void render_server_run(int socket, const struct render_limits *limits);

#endif
