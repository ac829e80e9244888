/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * listener.h - the daemon's socket in the file system.
 */
#ifndef HCCT_LISTENER_H
#define HCCT_LISTENER_H

#include <stdbool.h>
#include <stddef.h>

/* Listens at `path` (mode 0600; its directory is made, 0700, when it is missing). A socket file
 * that nobody serves is replaced; one that is served is left alone. Returns the descriptor, or -1
 * with one sentence in `error`. */
int listener_open(const char *path, char *error, size_t bytes);

/* Takes a socket that somebody else opened and keeps, instead of listener_open(). */
void listener_adopt(int fd);

/* Removes the socket file, unless it is somebody else's. */
void listener_close(int fd, const char *path);

#endif
