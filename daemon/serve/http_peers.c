/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * http_peers.c - a short list.
 */
#include "daemon/serve/http_peers.h"

static void remove_locked(struct http_peers *peers, int fd) {
    for (unsigned i = 0; i < peers->n; i++)
        if (peers->peer[i].fd == fd) {
            peers->peer[i] = peers->peer[--peers->n];
            return;
        }
}

bool http_peers_add(struct http_peers *peers, int fd, uid_t uid) {
    unsigned own = 0;
    pthread_mutex_lock(&peers->lock);
    remove_locked(peers, fd); /* one of that number was closed without a word */
    for (unsigned i = 0; i < peers->n; i++)
        own += peers->peer[i].uid == uid;
    bool room = own < HTTP_PEERS_USER && peers->n < HTTP_PEERS_MAX;
    if (room) {
        peers->peer[peers->n].fd = fd;
        peers->peer[peers->n++].uid = uid;
    }
    pthread_mutex_unlock(&peers->lock);
    return room;
}

void http_peers_remove(struct http_peers *peers, int fd) {
    pthread_mutex_lock(&peers->lock);
    remove_locked(peers, fd);
    pthread_mutex_unlock(&peers->lock);
}
