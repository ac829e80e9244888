/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * http.h - the query protocol: HTTP/1.1 on connections that hcctd has accepted, and on loopback.
 */
#ifndef HCCT_HTTP_H
#define HCCT_HTTP_H

#include <stdbool.h>
#include <sys/types.h>

/* `tcp`: a listening loopback socket (http_tcp.h) on which the same is served, but read-only and
 * to this machine's names only; -1: none. It is closed by http_stop, too. */
bool http_start(int tcp);
/* Ends all connections; requests that wait are answered first. */
void http_stop(void);

/* Takes over a user's connected Unix socket, or closes it where the user has too many. */
void http_take(int fd, uid_t uid);

#endif
