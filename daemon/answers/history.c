/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * history.c - BEGIN-END-USER-COLLECTOR-CLOCK-WEIGHT.pb.gz
 */
#include "daemon/answers/history.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/array_grow.h"
#include "common/base/memory.h"
#include "common/base/own_directory.h"
#include "common/render/format.h"

#define SUFFIX     ".pb.gz"
#define TEMPORARY  "new"
#define NAME_ROOM  128u
#define FILE_BYTES (256u << 20) /* a larger one is none of ours */

static struct {
    int directory;
    uint64_t limit;
    struct history_cell cell; /* that is being written */
    bool open;
} history;

/* ---- names ---- */

static void name_cell(const struct history_cell *cell, char name[NAME_ROOM]) {
    snprintf(name, NAME_ROOM, "%" PRIu64 "-%" PRIu64 "-%u-%" PRIu32 "-%" PRIu32 "-%" PRIu64 SUFFIX,
             cell->begin_s, cell->end_s, (unsigned)cell->uid, cell->collector, cell->clock,
             cell->weight);
}

static bool read_name(const char *name, struct history_cell *cell) {
    char again[NAME_ROOM];
    unsigned uid;
    *cell = (struct history_cell){0};
    if (sscanf(name, "%" SCNu64 "-%" SCNu64 "-%u-%" SCNu32 "-%" SCNu32 "-%" SCNu64, &cell->begin_s,
               &cell->end_s, &uid, &cell->collector, &cell->clock, &cell->weight) != 6)
        return false;
    cell->uid = uid;
    name_cell(cell, again);
    return strcmp(name, again) == 0 && cell->begin_s < cell->end_s;
}

/* ---- the directory ---- */

bool history_open(const char *directory, uint64_t limit) {
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/history", directory) >= (int)sizeof path) {
        errno = ENAMETOOLONG;
        return false;
    }
    history.directory = own_directory_make(path);
    history.limit = limit;
    history.open = history.directory >= 0;
    return history.open;
}

bool history_is_open(void) {
    return history.open;
}

struct found {
    struct history_cell *cell;
    size_t n, room;
};

static int by_begin(const void *a, const void *b) {
    const struct history_cell *x = a, *y = b;
    if (x->begin_s != y->begin_s)
        return x->begin_s < y->begin_s ? -1 : 1;
    return x->end_s < y->end_s ? -1 : x->end_s > y->end_s;
}

static bool overlaps(const struct history_cell *cell, uint64_t from_s, uint64_t to_s) {
    return cell->begin_s < to_s && cell->end_s > from_s;
}

static DIR *open_list(void) {
    int fd = openat(history.directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = fd >= 0 ? fdopendir(fd) : NULL;
    if (list == NULL && fd >= 0)
        close(fd);
    return list;
}

struct history_cell *history_list(uint64_t from_s, uint64_t to_s,
                                  bool (*sees)(const void *arg, uid_t uid), const void *arg,
                                  size_t *n) {
    struct found found = {.n = 0};
    struct history_cell cell;
    DIR *list = history.open ? open_list() : NULL;
    for (const struct dirent *entry; list != NULL && (entry = readdir(list)) != NULL;)
        if (read_name(entry->d_name, &cell) && overlaps(&cell, from_s, to_s) &&
            sees(arg, cell.uid) &&
            array_grow(&found.cell, found.n, &found.room, sizeof *found.cell))
            found.cell[found.n++] = cell;
    if (list != NULL)
        closedir(list);
    if (found.n > 0)
        qsort(found.cell, found.n, sizeof *found.cell, by_begin);
    *n = found.n;
    return found.cell;
}

/* ---- writing ---- */

static uint64_t bytes_of(const struct history_cell *cell) {
    char name[NAME_ROOM];
    struct stat file;
    name_cell(cell, name);
    return fstatat(history.directory, name, &file, AT_SYMLINK_NOFOLLOW) == 0
               ? (uint64_t)file.st_size
               : 0;
}

static bool sees_all(const void *unused, uid_t uid) {
    (void)unused, (void)uid;
    return true;
}

/* The oldest go until the rest is small enough. */
static void forget_oldest(void) {
    size_t n;
    uint64_t sum = 0;
    struct history_cell *cells = history_list(0, UINT64_MAX, sees_all, NULL, &n);
    for (size_t i = 0; i < n; i++)
        sum += bytes_of(&cells[i]);
    for (size_t i = 0; i < n && sum > history.limit; i++) {
        char name[NAME_ROOM];
        sum -= bytes_of(&cells[i]);
        name_cell(&cells[i], name);
        unlinkat(history.directory, name, 0);
    }
    free(cells);
}

FILE *history_begin(const struct history_cell *cell) {
    history.cell = *cell;
    unlinkat(history.directory, TEMPORARY, 0);
    int fd = openat(history.directory, TEMPORARY,
                    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (file == NULL && fd >= 0)
        close(fd);
    return file;
}

bool history_commit(FILE *file, bool keep) {
    char name[NAME_ROOM];
    bool written = fflush(file) == 0 && fsync(fileno(file)) == 0;
    written = fclose(file) == 0 && written;
    name_cell(&history.cell, name);
    if (keep && written && renameat(history.directory, TEMPORARY, history.directory, name) == 0) {
        forget_oldest();
        return true;
    }
    int error = errno;
    unlinkat(history.directory, TEMPORARY, 0);
    errno = error;
    return !keep;
}

/* ---- reading ---- */

static char *read_all(int fd, size_t bytes) {
    char *data = memory_new(bytes + 1, 1, "a past hour");
    size_t n = 0;
    while (n < bytes) {
        ssize_t got = read(fd, data + n, bytes - n);
        if (got <= 0)
            break;
        n += (size_t)got;
    }
    if (n == bytes)
        return data;
    free(data);
    return NULL;
}

struct profile *history_read(const struct history_cell *cell) {
    char name[NAME_ROOM], error[256];
    struct profile *profile = NULL;
    struct stat file;
    name_cell(cell, name);
    int fd = openat(history.directory, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    if (fstat(fd, &file) == 0 && S_ISREG(file.st_mode) && file.st_size < FILE_BYTES) {
        size_t bytes = (size_t)file.st_size;
        char *data = read_all(fd, bytes);
        profile = data != NULL ? read_pprof(data, bytes, error, sizeof error) : NULL;
        free(data);
    }
    close(fd);
    return profile;
}
