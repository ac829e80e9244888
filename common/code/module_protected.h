/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * module_protected.h - which files are what their build-ids say, whoever maps them.
 *
 * Anybody can write a file with any build-id. A protected one can only have been written by root or
 * the daemon's own user, at a name that only they can have given it.
 */
#ifndef HCCT_MODULE_PROTECTED_H
#define HCCT_MODULE_PROTECTED_H

#include <stdbool.h>
#include <sys/types.h>

/* Whether the open file is protected. `path` is its name in the root of that process (0: in the
 * daemon's). All user ids are the daemon's: root of another user namespace is not root. Never what
 * is deleted, mounted without set-user-id bits (as removable media and FUSE are), or at another
 * name.
 */
bool module_is_protected(int fd, pid_t pid, const char *path);

#endif
