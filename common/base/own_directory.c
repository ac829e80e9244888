/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * own_directory.c - a descriptor of a directory, after its owner was checked.
 *
 * The check is on the descriptor, so that nobody can put another directory in its place.
 */
#include "common/base/own_directory.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

bool own_directory_is_ours(const struct stat *info) {
    return info->st_uid == geteuid() && (info->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

int own_directory_open(const char *path) {
    struct stat info;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return -1;
    if (fstat(fd, &info) == 0 && own_directory_is_ours(&info))
        return fd;
    close(fd);
    errno = EPERM;
    return -1;
}

int own_directory_make(const char *path) {
    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        return -1;
    return own_directory_open(path);
}

const char *own_directory_error(int error) {
    if (error == EPERM)
        return "it belongs to another user, or others may write to it";
    if (error == ELOOP || error == ENOTDIR)
        return "it is no directory; symbolic links are not followed";
    return strerror(error);
}
