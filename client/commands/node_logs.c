/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * node_logs.c - by their names, in which an address and the process stand.
 */
#include "client/commands/node_logs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/commands/written_since.h"

/* isolate-0xADDRESS-PID-v8.log; of older versions without the first line. */
static bool is_log_of(const char *name, pid_t pid) {
    char end[48];
    static const char begin[] = "isolate";
    if (strncmp(name, begin, strlen(begin)) != 0)
        return false;
    name += strlen(begin);
    name += *name == '-';
    if (strncmp(name, "0x", 2) != 0)
        return false;
    name += 2;
    name += strspn(name, "0123456789abcdef");
    snprintf(end, sizeof end, "-%d-v8.log", (int)pid);
    return strcmp(name, end) == 0;
}

static bool is_ours(int directory, const char *name, const struct timespec *since) {
    struct stat status;
    return fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(status.st_mode) &&
           status.st_uid == geteuid() && written_since(&status.st_mtim, since);
}

void node_logs_remove(pid_t pid, const struct timespec *since) {
    bool over = pid > 0 && kill(pid, 0) != 0 && errno == ESRCH;
    DIR *directory = over ? opendir(".") : NULL;
    const struct dirent *entry;
    while (directory != NULL && (entry = readdir(directory)) != NULL)
        if (is_log_of(entry->d_name, pid) && is_ours(dirfd(directory), entry->d_name, since))
            unlinkat(dirfd(directory), entry->d_name, 0);
    if (directory != NULL)
        closedir(directory);
}
