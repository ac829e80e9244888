/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * own_directory.h - directories that hcctd writes to by itself.
 */
#ifndef HCCT_OWN_DIRECTORY_H
#define HCCT_OWN_DIRECTORY_H

#include <stdbool.h>
#include <sys/stat.h>

/* A file or directory of the effective user that nobody else may write to. */
bool own_directory_is_ours(const struct stat *info);

/* Opens `path` when it is a directory of ours (above); its last part is not followed when it is a
 * symbolic link. Returns a close-on-exec descriptor that the caller closes, or -1 with errno:
 * EPERM means that the directory is not ours. Any thread. */
int own_directory_open(const char *path);

/* The same, and makes the directory (mode 0700) first when it is not there. */
int own_directory_make(const char *path);

/* What errno says after one of these has failed, as the end of a sentence. Static. */
const char *own_directory_error(int error);

#endif
