/*
 * http.h - the query protocol: HTTP/1.1 on connections that hcctd has accepted.
 */
#ifndef HCCT_HTTP_H
#define HCCT_HTTP_H

#include <stdbool.h>
#include <sys/socket.h>

bool http_start(void);
void http_stop(void);

/* Takes over a connected socket, whether it succeeds or not. */
void http_take(int fd, const struct sockaddr *address, socklen_t length);

#endif
