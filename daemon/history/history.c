/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * history.c - FORTNIGHT-USER-COLLECTOR-CLOCK.hours
 */
#include "daemon/history/history.h"

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
#include "daemon/history/history_write.h"

#define SUFFIX     ".hours"
#define TEMPORARY  "new"
#define NAME_ROOM  128u
#define LOG_S      (14u * 86400u) /* hours that begin in so many seconds share their words */
#define SPARE_PART 64u /* with what goes so much of all goes, too: not each hour a little */

static struct {
    int directory;
    uint64_t limit;
    struct history_cell cell; /* that is being written */
    char *text;
    size_t bytes;
    bool open;
} history;

/* ---- names ---- */

/* A log: of what its cells are, and when they begin. */
struct log {
    uint64_t number; /* their beginning / LOG_S */
    uid_t uid;
    uint32_t collector, clock;
};

static void name_log(const struct log *log, char name[NAME_ROOM]) {
    snprintf(name, NAME_ROOM, "%" PRIu64 "-%u-%" PRIu32 "-%" PRIu32 SUFFIX, log->number,
             (unsigned)log->uid, log->collector, log->clock);
}

static bool read_name(const char *name, struct log *log) {
    char again[NAME_ROOM];
    unsigned uid;
    if (sscanf(name, "%" SCNu64 "-%u-%" SCNu32 "-%" SCNu32, &log->number, &uid, &log->collector,
               &log->clock) != 4)
        return false;
    log->uid = uid;
    name_log(log, again);
    return strcmp(name, again) == 0;
}

static struct log log_of(const struct history_cell *cell) {
    return (struct log){cell->begin_s / LOG_S, cell->uid, cell->collector, cell->clock};
}

static bool same_log(const struct log *a, const struct log *b) {
    return a->number == b->number && a->uid == b->uid && a->collector == b->collector &&
           a->clock == b->clock;
}

/* -1: errno says why. */
static int open_log(const struct log *log, int flags) {
    char name[NAME_ROOM];
    struct stat file;
    name_log(log, name);
    int fd = openat(history.directory, name, flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600);
    if (fd >= 0 && (fstat(fd, &file) != 0 || !S_ISREG(file.st_mode))) {
        close(fd);
        errno = EINVAL;
        return -1;
    }
    return fd;
}

/* ---- the directory ---- */

bool history_open(const char *directory, uint64_t limit, struct history_earlier *gone) {
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/history", directory) >= (int)sizeof path) {
        errno = ENAMETOOLONG;
        return false;
    }
    history.directory = own_directory_make(path);
    history.limit = limit;
    history.open = history.directory >= 0;
    if (history.open)
        *gone = history_remove_earlier(history.directory);
    return history.open;
}

bool history_is_open(void) {
    return history.open;
}

static DIR *open_list(void) {
    int fd = history.open ? openat(history.directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    DIR *list = fd >= 0 ? fdopendir(fd) : NULL;
    if (list == NULL && fd >= 0)
        close(fd);
    return list;
}

/* The next log of the list. False: that was the last one. */
static bool next_log(DIR *list, struct log *log) {
    const struct dirent *entry = list != NULL ? readdir(list) : NULL;
    while (entry != NULL && !read_name(entry->d_name, log))
        entry = readdir(list);
    if (entry == NULL && list != NULL)
        closedir(list);
    return entry != NULL;
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

static void list_log(struct found *found, const struct log *log, uint64_t from_s, uint64_t to_s) {
    struct history_block block;
    int fd = open_log(log, O_RDONLY);
    for (uint64_t at = 0; fd >= 0 && history_log_next(fd, &at, &block);)
        if (block.kind == HISTORY_HOUR && block.begin_s < to_s && block.end_s > from_s &&
            array_grow(&found->cell, found->n, &found->room, sizeof *found->cell))
            found->cell[found->n++] = (struct history_cell){.begin_s = block.begin_s,
                                                            .end_s = block.end_s,
                                                            .weight = block.weight,
                                                            .uid = log->uid,
                                                            .collector = log->collector,
                                                            .clock = log->clock,
                                                            .at = block.at,
                                                            .bytes = block.column_bytes};
    if (fd >= 0)
        close(fd);
}

struct history_cell *history_list(uint64_t from_s, uint64_t to_s,
                                  bool (*sees)(const void *arg, uid_t uid), const void *arg,
                                  size_t *n) {
    struct found found = {.n = 0};
    struct log log;
    for (DIR *list = open_list(); next_log(list, &log);)
        if (sees(arg, log.uid) && log.number * LOG_S < to_s)
            list_log(&found, &log, from_s, to_s);
    if (found.n > 0)
        qsort(found.cell, found.n, sizeof *found.cell, by_begin);
    *n = found.n;
    return found.cell;
}

/* ---- forgetting ---- */

static bool sees_all(const void *unused, uid_t uid) {
    (void)unused, (void)uid;
    return true;
}

static uint64_t bytes_of_all(void) {
    struct log log;
    uint64_t sum = 0;
    for (DIR *list = open_list(); next_log(list, &log);) {
        char name[NAME_ROOM];
        struct stat file;
        name_log(&log, name);
        if (fstatat(history.directory, name, &file, AT_SYMLINK_NOFOLLOW) == 0)
            sum += (uint64_t)file.st_size;
    }
    return sum;
}

/* Whether it has hours before that time, and others. */
static void look_for_hours(int fd, uint64_t begin_s, bool *old, bool *young) {
    struct history_block block;
    *old = *young = false;
    for (uint64_t at = 0; history_log_next(fd, &at, &block);) {
        *old |= block.kind == HISTORY_HOUR && block.begin_s < begin_s;
        *young |= block.kind == HISTORY_HOUR && block.begin_s >= begin_s;
    }
}

static bool replace(const char *name, int from, uint64_t begin_s) {
    unlinkat(history.directory, TEMPORARY, 0);
    int to = openat(history.directory, TEMPORARY,
                    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    bool done = to >= 0 && history_log_copy(to, from, begin_s) &&
                renameat(history.directory, TEMPORARY, history.directory, name) == 0;
    if (to >= 0)
        close(to);
    return done;
}

/* A log without the columns of hours before that time takes the place of it; one without any hour
 * goes. What can't be opened now may have hours, and stays. */
static bool forget_in(const struct log *log, uint64_t begin_s) {
    char name[NAME_ROOM];
    bool old, young;
    int fd = open_log(log, O_RDONLY);
    if (fd < 0)
        return false;
    name_log(log, name);
    look_for_hours(fd, begin_s, &old, &young);
    bool done =
        young ? !old || replace(name, fd, begin_s) : unlinkat(history.directory, name, 0) == 0;
    close(fd);
    return done;
}

/* The beginning of the first hour that may stay where so many bytes are to go. */
static uint64_t find_first(const struct history_cell *cells, size_t n, uint64_t bytes) {
    size_t i = 0;
    for (uint64_t gone = 0; i < n && (i == 0 || gone < bytes); i++)
        gone += cells[i].bytes;
    while (i < n && cells[i].begin_s == cells[i - 1].begin_s)
        i++;
    return i < n ? cells[i].begin_s : UINT64_MAX;
}

/* The oldest go until the rest is small enough. Words of hours that are gone go with the last hour
 * of their log. */
static void forget_oldest(void) {
    uint64_t spare = 0;
    for (bool done = true; done;) {
        size_t n;
        uint64_t sum = bytes_of_all(), limit = history.limit - spare;
        struct history_cell *cells =
            sum > limit ? history_list(0, UINT64_MAX, sees_all, NULL, &n) : NULL;
        uint64_t first = cells != NULL ? find_first(cells, n, sum - limit) : 0;
        struct log log;
        done = cells != NULL;
        for (DIR *list = done ? open_list() : NULL; next_log(list, &log);)
            done &= forget_in(&log, first);
        free(cells);
        spare = history.limit / SPARE_PART;
    }
}

/* ---- writing ---- */

FILE *history_begin(const struct history_cell *cell) {
    history.cell = *cell;
    history.text = NULL;
    return open_memstream(&history.text, &history.bytes);
}

struct keeping {
    int fd;
    bool done;
    int error;
};

static void keep(void *arg) {
    struct keeping *keeping = arg;
    const struct history_cell *cell = &history.cell;
    const struct history_block hour = {
        .begin_s = cell->begin_s, .end_s = cell->end_s, .weight = cell->weight};
    char error[256];
    struct profile *profile = read_pprof(history.text, history.bytes, error, sizeof error);
    errno = EINVAL;
    keeping->done = profile != NULL && history_write_hour(keeping->fd, &hour, profile);
    keeping->error = errno;
    profile_free(profile);
    if (keeping->done)
        history_write_days(keeping->fd, cell->begin_s);
}

bool history_commit(FILE *file, bool keep_it) {
    const struct log log = log_of(&history.cell);
    struct keeping keeping = {.error = ENOMEM};
    const char *what;
    bool written = fclose(file) == 0;
    if (written && keep_it) {
        keeping.fd = open_log(&log, O_RDWR | O_CREAT);
        keeping.error = keeping.fd < 0 ? errno : ENOMEM;
        if (keeping.fd >= 0 && memory_try(keep, &keeping, &what))
            forget_oldest();
        if (keeping.fd >= 0)
            close(keeping.fd);
    }
    free(history.text);
    errno = keeping.error;
    return !keep_it || keeping.done;
}

/* ---- reading ---- */

struct reading {
    int fd;
    struct history_hour *hours;
    size_t n;
    const struct history_choice *choice;
    bool days;
    struct history_part part;
    bool done;
};

static void read_cells(void *arg) {
    struct reading *r = arg;
    r->done = history_read_log(r->fd, r->hours, r->n, r->choice, r->days, &r->part);
}

static bool read_log(struct reading *r, const struct history_cell *cell) {
    const char *what;
    r->fd = history_open_log(cell);
    if (r->fd < 0)
        return false;
    bool tried = memory_try(read_cells, r, &what);
    close(r->fd);
    if (!tried)
        memory_die(what);
    return r->done;
}

bool history_same_log(const struct history_cell *a, const struct history_cell *b) {
    const struct log one = log_of(a), other = log_of(b);
    return same_log(&one, &other);
}

int history_open_log(const struct history_cell *cell) {
    const struct log log = log_of(cell);
    return open_log(&log, O_RDONLY);
}

static bool is_first_of_log(const struct history_cell *cells, size_t i) {
    for (size_t k = 0; k < i; k++)
        if (history_same_log(&cells[k], &cells[i]))
            return false;
    return true;
}

/* Hours of the log of the first of n cells; *hours has room for all. Returns how many. */
static size_t hours_of_log(const struct history_cell *cells, size_t n, struct history_hour *hours) {
    size_t found = 0;
    for (size_t i = 0; i < n; i++)
        if (history_same_log(&cells[i], &cells[0]))
            hours[found++] = (struct history_hour){cells[i].begin_s, cells[i].end_s};
    return found;
}

struct history_part *history_read(const struct history_cell *cells, size_t n_cells,
                                  const struct history_choice *choice, bool days, size_t *n) {
    struct reading r = {.choice = choice, .days = days};
    struct history_part *parts = NULL;
    uint32_t n_parts = 0, room = 0;
    r.hours = memory_new(n_cells, sizeof *r.hours, "past hours");
    for (size_t i = 0; i < n_cells; i++) {
        if (!is_first_of_log(cells, i))
            continue;
        r.n = hours_of_log(cells + i, n_cells - i, r.hours);
        if (!read_log(&r, &cells[i]))
            continue;
        parts = memory_grow(parts, n_parts, &room, sizeof *parts, "the past");
        parts[n_parts++] = r.part;
    }
    free(r.hours);
    *n = n_parts;
    return parts;
}
