/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * paths.h - where the daemon's socket is: the one rule that daemon, client and agent share.
 *
 * Allocates nothing, locks nothing; reads the environment. Any thread, not in a signal handler.
 */
#ifndef HCCT_PATHS_H
#define HCCT_PATHS_H

#include <stddef.h>

/* $HCCT_SOCKET, else $XDG_RUNTIME_DIR/hcct/hcctd.sock, else /run/hcct/hcctd.sock, into `path`.
 * `override` (an option's value, or NULL) goes before all. Returns the length that it needs: too
 * long for a socket when >= PATHS_SOCKET_MAX. */
size_t paths_socket(char *path, size_t bytes, const char *override);

#define PATHS_SOCKET_MAX 108 /* sizeof sun_path, with its terminator */

#endif
