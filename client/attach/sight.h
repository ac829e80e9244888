/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * sight.h - what another process sees of the files that we see. It may have another root directory,
 * or be in another mount namespace: a container.
 *
 * Its files may be anybody's: links in them lead nowhere but within its own root.
 */
#ifndef HCCT_ATTACH_SIGHT_H
#define HCCT_ATTACH_SIGHT_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

/* It has our root directory, and our mounts. */
bool sight_is_ours(pid_t pid);
/* Its numbers of processes are ours. */
bool sight_has_our_pids(pid_t pid);

/* Opens a path as the process sees it; -1: errno says why. */
int sight_open(pid_t pid, const char *path, int flags);

/* It has the same file, or one with the same content, at that path. */
bool sight_has_file(pid_t pid, const char *path);
/* The path by which it reaches a socket of ours. False: by none that is known. */
bool sight_of_socket(pid_t pid, const char *path, char seen[PATH_MAX]);
/* It has a /proc, by which it can open what it has no path of. */
bool sight_has_proc(pid_t pid);

#endif
