/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * renderer.h - answers that are rendered by a process of their own (render_server.h).
 *
 * An error in a writer, or its end for want of memory or time, costs an answer. Any thread may
 * call, but for renderer_start().
 */
#ifndef HCCT_RENDERER_H
#define HCCT_RENDERER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "daemon/render/render_protocol.h"
#include "daemon/render/render_server.h"

/* Forks the render server. At the program's very start: before threads, and before it has anything
 * that a renderer must not see. Where that fails, and when the server has been killed, the first
 * answer starts one from /proc/self/exe with renderer_role as its argument. */
void renderer_start(const struct render_limits *limits);
/* Ends it, and all renderers. */
void renderer_stop(void);

#define RENDERER_ROLE "--render-server"
/* What such a process does; argv[1] is the role. */
_Noreturn void renderer_main(int argc, char **argv);

/* While it is on, answers that are under way, and all that begin, end with a sentence at once: for
 * a daemon that ends. */
void renderer_interrupt(bool on);

/* One answer. */
struct rendering {
    FILE *order;               /* to be written by render_order_write() */
    struct render_files files; /* that the order speaks of; closed by rendering_close() */
    int order_fd, answer_fd;
    size_t bytes; /* of the answer */
};

/* False: no memory, or no descriptors. */
bool rendering_open(struct rendering *rendering);
/* Nothing more is written to ->order. False: what was written is not all there. */
bool rendering_order_done(struct rendering *rendering);

/* Has it rendered, and waits: until it is done, or the time is over, or the client at the other end
 * of `client` (-1: none) has gone. An HTTP status: with 200 the answer is whole, in answer_fd from
 * the beginning on; else `text` says in one sentence why there is none. */
unsigned rendering_run(struct rendering *rendering, int client, char *text, size_t text_bytes);

/* Writes the answer to a file. False with errno set when that failed. */
bool rendering_copy(const struct rendering *rendering, FILE *out);

/* The caller keeps the file of the answer; rendering_close() leaves it. */
int rendering_keep(struct rendering *rendering);
void rendering_close(struct rendering *rendering);

#endif
