/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * target.c - reads /proc, line by line.
 */
#include "client/attach/target.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool read_map(const char *line, struct target_map *map) {
    char rights[5];
    int path = 0;
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s %n", &map->start, &map->end,
               rights, &map->offset, &path) != 4)
        return false;
    map->readable = rights[0] == 'r';
    map->writable = rights[1] == 'w';
    map->executable = rights[2] == 'x';
    map->path = strndup(line + path, strcspn(line + path, "\n"));
    return map->path != NULL;
}

static void free_maps(struct target *target) {
    for (size_t i = 0; i < target->n_maps; i++)
        free(target->maps[i].path);
    free(target->maps);
    target->maps = NULL;
    target->n_maps = 0;
}

static bool add_map(struct target *target, size_t *room, const char *line) {
    if (target->n_maps == *room) {
        size_t more = *room > 0 ? 2 * *room : 256;
        struct target_map *maps = realloc(target->maps, more * sizeof *maps);
        if (maps == NULL)
            return false;
        target->maps = maps;
        *room = more;
    }
    if (read_map(line, &target->maps[target->n_maps]))
        target->n_maps++;
    return true;
}

static int open_list(pid_t pid) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    return open(path, O_RDONLY | O_CLOEXEC);
}

/* From its beginning. */
static FILE *read_list(const struct target *target) {
    int fd = target->list >= 0 ? fcntl(target->list, F_DUPFD_CLOEXEC, 0) : open_list(target->pid);
    FILE *file =
        fd >= 0 && (target->list < 0 || lseek(fd, 0, SEEK_SET) == 0) ? fdopen(fd, "r") : NULL;
    if (file == NULL && fd >= 0)
        close(fd);
    return file;
}

bool target_read_maps(struct target *target) {
    char *line = NULL;
    size_t room = 0, bytes = 0;
    bool good = true;
    free_maps(target);
    FILE *file = read_list(target);
    while (file != NULL && good && getline(&line, &bytes, file) > 0)
        good = add_map(target, &room, line);
    free(line);
    if (file != NULL)
        fclose(file);
    return good && target->n_maps > 0;
}

bool target_open(struct target *target, pid_t pid) {
    char path[64];
    *target = (struct target){.pid = pid, .memory = -1, .list = -1};
    snprintf(path, sizeof path, "/proc/%d/mem", (int)pid);
    target->memory = open(path, O_RDWR | O_CLOEXEC);
    if (target->memory >= 0 && target_read_maps(target))
        return true;
    int error = target->memory < 0 ? errno : ESRCH;
    target_close(target);
    errno = error;
    return false;
}

void target_close(struct target *target) {
    free_maps(target);
    if (target->memory >= 0)
        close(target->memory);
    if (target->list >= 0)
        close(target->list);
    target->memory = target->list = -1;
}

bool target_keep(struct target *target) {
    if (target->list < 0)
        target->list = open_list(target->pid);
    return target->list >= 0;
}

const struct target_map *target_map_at(const struct target *target, uint64_t address) {
    size_t low = 0, high = target->n_maps;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (target->maps[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < target->n_maps && target->maps[low].start <= address ? &target->maps[low] : NULL;
}

bool target_read(const struct target *target, uint64_t at, void *into, size_t bytes) {
    return pread(target->memory, into, bytes, (off_t)at) == (ssize_t)bytes;
}

bool target_write(const struct target *target, uint64_t at, const void *from, size_t bytes) {
    return pwrite(target->memory, from, bytes, (off_t)at) == (ssize_t)bytes;
}

size_t target_threads(pid_t pid, pid_t **list) {
    char path[64];
    size_t n = 0, room = 0;
    struct dirent *entry;
    *list = NULL;
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *directory = opendir(path);
    while (directory != NULL && (entry = readdir(directory)) != NULL) {
        pid_t tid = (pid_t)atoi(entry->d_name);
        if (tid <= 0)
            continue;
        if (n == room) {
            room = room > 0 ? 2 * room : 64;
            pid_t *more = realloc(*list, room * sizeof **list);
            if (more == NULL)
                break;
            *list = more;
        }
        (*list)[n++] = tid;
    }
    if (directory != NULL)
        closedir(directory);
    return n;
}

/* The rest of the line that begins with the name and a colon. */
static bool find_line(pid_t pid, pid_t tid, const char *name, char *rest, size_t bytes) {
    char path[64], line[512];
    size_t length = strlen(name);
    bool found = false;
    if (tid != 0)
        snprintf(path, sizeof path, "/proc/%d/task/%d/status", (int)pid, (int)tid);
    else
        snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *file = fopen(path, "re");
    while (file != NULL && !found && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, name, length) == 0 && line[length] == ':') {
            snprintf(rest, bytes, "%s", line + length + 1 + strspn(line + length + 1, " \t"));
            rest[strcspn(rest, "\n")] = '\0';
            found = true;
        }
    if (file != NULL)
        fclose(file);
    return found;
}

bool target_status(pid_t pid, pid_t tid, const char *name, bool hex, uint64_t *value) {
    char rest[128];
    if (!find_line(pid, tid, name, rest, sizeof rest))
        return false;
    *value = strtoull(rest, NULL, hex ? 16 : 10);
    return true;
}

bool target_limit(pid_t pid, const char *name, uint64_t *value) {
    char path[64], line[256];
    size_t length = strlen(name);
    bool found = false;
    snprintf(path, sizeof path, "/proc/%d/limits", (int)pid);
    FILE *file = fopen(path, "re");
    while (file != NULL && !found && fgets(line, sizeof line, file) != NULL) {
        char *end, *number = line + length;
        if (strncmp(line, name, length) != 0)
            continue;
        *value = strtoull(number, &end, 10);
        if (end == number)
            *value = UINT64_MAX; /* "unlimited" */
        found = true;
    }
    if (file != NULL)
        fclose(file);
    return found;
}

bool target_has_timer(pid_t pid, int timer) {
    char path[64], line[256];
    int id;
    bool found = false;
    snprintf(path, sizeof path, "/proc/%d/timers", (int)pid);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return true;
    while (!found && fgets(line, sizeof line, file) != NULL)
        found = sscanf(line, "ID: %d", &id) == 1 && id == timer;
    fclose(file);
    return found;
}

pid_t target_own_number(pid_t pid, pid_t tid) {
    char rest[128];
    if (!find_line(pid, tid, "NSpid", rest, sizeof rest))
        return 0;
    const char *last = strrchr(rest, '\t');
    return (pid_t)atoi(last != NULL ? last + 1 : rest);
}

bool target_status_word(pid_t pid, const char *name, char *word, size_t bytes) {
    return find_line(pid, 0, name, word, bytes);
}

bool target_where(pid_t pid, pid_t tid, struct target_sleep *where) {
    char path[64], text[256];
    *where = (struct target_sleep){.call = -1};
    snprintf(path, sizeof path, "/proc/%d/task/%d/syscall", (int)pid, (int)tid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    if (fd >= 0)
        close(fd);
    if (n <= 0)
        return false;
    text[n] = '\0';
    uint64_t *a = where->argument;
    if (strncmp(text, "running", 7) == 0)
        where->running = true;
    else if (text[0] == '-')
        return sscanf(text, "%ld %" SCNx64 " %" SCNx64, &where->call, &where->sp, &where->pc) == 3;
    else
        return sscanf(text,
                      "%ld %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64
                      " %" SCNx64 " %" SCNx64,
                      &where->call, &a[0], &a[1], &a[2], &a[3], &a[4], &a[5], &where->sp,
                      &where->pc) == 9;
    return true;
}
