/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * module_protected.c - the file's owner and mode, and those of all directories that lead to it.
 */
#include "common/code/module_protected.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* Nobody but root and the daemon's own user may change it. A group of the same number as a user is
 * that user's alone, by a custom of distributions; root's is not. */
static bool is_ours(const struct stat *info) {
    if (info->st_uid != 0 && info->st_uid != geteuid())
        return false;
    if ((info->st_mode & S_IWGRP) != 0 && (info->st_uid == 0 || info->st_gid != info->st_uid))
        return false;
    return (info->st_mode & S_IWOTH) == 0;
}

/* In a directory as /tmp is, others may make names, but not change those of others. */
static bool is_safe_directory(const char *path) {
    struct stat info;
    if (lstat(path, &info) != 0 || !S_ISDIR(info.st_mode))
        return false;
    if ((info.st_mode & S_ISVTX) != 0)
        info.st_mode &= ~(mode_t)(S_IWGRP | S_IWOTH);
    return is_ours(&info);
}

/* All directories of a path, of which the first `root` bytes are given. */
static bool is_safe_way(char *path, size_t root) {
    for (char *slash = path + root; slash != NULL; slash = strchr(slash + 1, '/')) {
        char kept = slash[1];
        slash[1] = '\0'; /* "DIRECTORY/" is what a link there leads to */
        bool safe = is_safe_directory(path);
        slash[1] = kept;
        if (!safe)
            return false;
    }
    return true;
}

/* No part of the path is a link: it is the file's own name. */
static bool has_no_link(char *path, size_t root) {
    struct stat info;
    for (char *slash = strchr(path + root + 1, '/'); slash != NULL;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        bool link = lstat(path, &info) != 0 || S_ISLNK(info.st_mode);
        *slash = '/';
        if (link)
            return false;
    }
    return true;
}

bool module_is_protected(int fd, pid_t pid, const char *path) {
    char full[PATH_MAX + 32] = "";
    struct stat file, named;
    struct statvfs system;
    if (fd < 0 || path[0] != '/' || fstat(fd, &file) != 0 || !is_ours(&file) ||
        fstatvfs(fd, &system) != 0 || (system.f_flag & ST_NOSUID) != 0)
        return false;
    size_t root = 0;
    if (pid != 0)
        root = (size_t)snprintf(full, sizeof full, "/proc/%ld/root", (long)pid);
    int n = snprintf(full + root, sizeof full - root, "%s", path);
    return n > 0 && (size_t)n < sizeof full - root && has_no_link(full, root) &&
           is_safe_way(full, root) && lstat(full, &named) == 0 && named.st_dev == file.st_dev &&
           named.st_ino == file.st_ino;
}
