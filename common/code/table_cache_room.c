/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * table_cache_room.c - a list of the directory's tables, oldest first.
 */
#include "common/code/table_cache_room.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/base/array_grow.h"
#include "common/code/table_kind.h"

#define ABANDONED_SECONDS 3600 /* nobody writes one file for so long */

struct kept {
    char name[TABLE_CACHE_NAME];
    uint64_t bytes;
    struct timespec used;
};

struct list {
    struct kept *file;
    size_t n, room;
    uint64_t bytes;
};

static bool ends_in(const char *name, const char *suffix) {
    size_t length = strlen(name), tail = strlen(suffix);
    return length > tail && strcmp(name + length - tail, suffix) == 0;
}

static bool is_table(const char *name) {
    for (size_t kind = 0; kind < TABLE_KINDS; kind++)
        if (ends_in(name, table_kinds[kind].suffix))
            return true;
    return false;
}

static void add(struct list *list, const char *name, const struct stat *info) {
    if (!array_grow(&list->file, list->n, &list->room, sizeof *list->file))
        return; /* it stays, uncounted */
    struct kept *file = &list->file[list->n++];
    strcpy(file->name, name);
    file->bytes = (uint64_t)info->st_size;
    file->used = info->st_mtim;
    list->bytes += file->bytes;
}

static void add_file(struct list *list, int directory, const char *name) {
    struct stat info;
    bool is_temporary = strncmp(name, TABLE_CACHE_TEMPORARY, strlen(TABLE_CACHE_TEMPORARY)) == 0;
    if ((!is_table(name) && !is_temporary) || strlen(name) >= TABLE_CACHE_NAME ||
        fstatat(directory, name, &info, AT_SYMLINK_NOFOLLOW) != 0)
        return;
    if (is_table(name))
        add(list, name, &info);
    else if (info.st_mtim.tv_sec + ABANDONED_SECONDS < time(NULL))
        unlinkat(directory, name, 0);
}

static void read_directory(struct list *list, int directory) {
    int fd = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = fd >= 0 ? fdopendir(fd) : NULL;
    struct dirent *entry;
    if (stream == NULL) {
        if (fd >= 0)
            close(fd);
        return;
    }
    while ((entry = readdir(stream)) != NULL)
        add_file(list, directory, entry->d_name);
    closedir(stream);
}

static int older_first(const void *a, const void *b) {
    const struct timespec *x = &((const struct kept *)a)->used;
    const struct timespec *y = &((const struct kept *)b)->used;
    if (x->tv_sec != y->tv_sec)
        return x->tv_sec < y->tv_sec ? -1 : 1;
    return x->tv_nsec < y->tv_nsec ? -1 : x->tv_nsec > y->tv_nsec;
}

void table_cache_make_room(int directory, uint64_t limit, uint64_t need) {
    struct list list = {0};
    read_directory(&list, directory);
    if (list.bytes + need > limit)
        qsort(list.file, list.n, sizeof *list.file, older_first);
    for (size_t i = 0; i < list.n && list.bytes + need > limit; i++)
        if (unlinkat(directory, list.file[i].name, 0) == 0)
            list.bytes -= list.file[i].bytes;
    free(list.file);
}
