/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * http_peers.h - whose connections a listener has: of one user so many, of all so many.
 */
#ifndef HCCT_HTTP_PEERS_H
#define HCCT_HTTP_PEERS_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>

#define HTTP_PEERS_MAX  512u
#define HTTP_PEERS_USER 64u

struct http_peers {
    pthread_mutex_t lock;
    unsigned n;
    struct {
        int fd;
        uid_t uid;
    } peer[HTTP_PEERS_MAX];
};

/* A connection of that user has come. False: it is one too many, and is not counted. */
bool http_peers_add(struct http_peers *peers, int fd, uid_t uid);
/* It is about to be closed, if it is counted. */
void http_peers_remove(struct http_peers *peers, int fd);

#endif
