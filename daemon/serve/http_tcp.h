/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * http_tcp.h - the loopback listener: who is at the other end, and may a browser be misled here?
 */
#ifndef HCCT_HTTP_TCP_H
#define HCCT_HTTP_TCP_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Is `text` 127.0.0.1:PORT or [::1]:PORT? */
bool http_tcp_is_address(const char *text);

/* Listens there; port 0 is any that is free. Returns the descriptor, or -1 with one sentence in
 * `error`. */
int http_tcp_open(const char *text, char *error, size_t bytes);

/* The address of a listening socket, as a URL begins: "http://127.0.0.1:4040". */
void http_tcp_url(int fd, char *url, size_t bytes);

/* Is it an IPv6 socket? */
bool http_tcp_is_v6(int fd);

/* Who owns the other end of a connection within this machine: loopback has no SO_PEERCRED, but the
 * kernel lists whose each socket is. False: not found, so nobody's. */
bool http_tcp_asker(int fd, uid_t *uid);

/* Does a Host header name this machine itself? A name that somebody's name server has bent to
 * 127.0.0.1 (DNS rebinding) does not. NULL: no header, which no browser leaves out; not allowed. */
bool http_tcp_host_is_local(const char *host);

#endif
