/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * history_earlier.c - BEGIN-END-USER-COLLECTOR-CLOCK-WEIGHT.pb.gz
 */
#include "daemon/history/history_earlier.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/own_directory.h"

#define NAME_ROOM 128u

/* Only what that hcctd could have written: each number is as it prints it. */
static bool is_name(const char *name) {
    uint64_t begin, end, weight;
    unsigned uid;
    uint32_t collector, clock;
    char again[NAME_ROOM];
    if (sscanf(name, "%" SCNu64 "-%" SCNu64 "-%u-%" SCNu32 "-%" SCNu32 "-%" SCNu64, &begin, &end,
               &uid, &collector, &clock, &weight) != 6)
        return false;
    snprintf(again, sizeof again,
             "%" PRIu64 "-%" PRIu64 "-%u-%" PRIu32 "-%" PRIu32 "-%" PRIu64 ".pb.gz", begin, end,
             uid, collector, clock, weight);
    return strcmp(name, again) == 0 && begin < end;
}

static void remove_file(int directory, const char *name, struct history_earlier *gone) {
    struct stat file;
    if (fstatat(directory, name, &file, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(file.st_mode) ||
        file.st_nlink != 1 || !own_directory_is_ours(&file) || unlinkat(directory, name, 0) != 0)
        return;
    gone->files++;
    gone->bytes += (uint64_t)file.st_size;
}

struct history_earlier history_remove_earlier(int directory) {
    struct history_earlier gone = {0, 0};
    int fd = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = fd >= 0 ? fdopendir(fd) : NULL;
    if (list == NULL) {
        if (fd >= 0)
            close(fd);
        return gone;
    }
    for (const struct dirent *entry; (entry = readdir(list)) != NULL;)
        if (is_name(entry->d_name))
            remove_file(directory, entry->d_name, &gone);
    closedir(list);
    return gone;
}
