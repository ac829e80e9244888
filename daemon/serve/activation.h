/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * activation.h - a socket that a service manager has opened for us (LISTEN_FDS, LISTEN_PID).
 */
#ifndef HCCT_ACTIVATION_H
#define HCCT_ACTIVATION_H

#include <stdbool.h>
#include <stddef.h>

/* Takes the socket that was passed to this process; the variables are gone afterwards. *fd is -1
 * when none was passed. Else it is a listening Unix stream socket, no longer at a descriptor that
 * children would inherit, and `path` says where it is ("" when that is not known). False: what was
 * passed is no such socket; `error` is one sentence. Before any thread. */
bool activation_take(int *fd, char *path, size_t path_bytes, char *error, size_t error_bytes);

#endif
