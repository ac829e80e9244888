/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * render_protocol.h - what the daemon, the render server and a renderer say to each other.
 *
 * The daemon sends the server, for each answer, one message with three descriptors: a file with the
 * order (render_order.h), an empty file for the answer, and one end of a socket pair for this
 * answer alone; and as many more as the order speaks of, open to be read (history_add.h). The
 * server forks a renderer that has these and nothing else. The renderer says at
 * its end that the answer is whole, or why there is none; the server says on the same socket how
 * the renderer ended. An answer is an answer only when it was said to be whole. When the daemon
 * closes its end, the server kills the renderer.
 *
 * All sockets keep messages apart (SOCK_SEQPACKET): whoever is killed leaves no half of one.
 */
#ifndef HCCT_RENDER_PROTOCOL_H
#define HCCT_RENDER_PROTOCOL_H

#include <stdint.h>

enum render_descriptor { RENDER_ORDER, RENDER_ANSWER, RENDER_STATUS, RENDER_DESCRIPTORS };

/* What an order speaks of. */
#define RENDER_FILES_MAX 32u
struct render_files {
    int fd[RENDER_FILES_MAX];
    unsigned n;
};

enum render_kind {
    RENDER_WHOLE = 1, /* renderer: the answer has `bytes` */
    RENDER_REFUSED,   /* renderer: there is none; an HTTP status, and a sentence */
    RENDER_ENDED,     /* server: `status` as waitpid() has it */
    RENDER_NO_CHILD,  /* server: there is no renderer; `status` is errno */
};

#define RENDER_TEXT 400

struct render_message {
    uint32_t kind;
    uint32_t status;
    uint64_t bytes;
    char text[RENDER_TEXT];
};

/* The largest answer: a client takes no larger one. */
#define RENDER_ANSWER_MAX (1ull << 30)

#endif
