/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * spool.c - files of one directory, each written whole under another name first.
 */
#include "client/remote/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/memory.h"
#include "common/base/options.h"
#include "common/base/own_directory.h"
#include "common/render/format.h"

#define NEW_FILE  ".new"
#define FILE_MAX  ((size_t)1 << 30)
#define NAME_ROOM 80

/* What differences make sense of: what is allocated at a moment is none of them. */
const char *const spool_collectors[SPOOL_COLLECTORS] = {
    "walks",         "wall", "wait",       "calls",     "alloc",
    "alloc-objects", "lock", "lock-waits", "lock-held", "faults"};

static void base_name(char name[NAME_ROOM], int collector, uint64_t number) {
    snprintf(name, NAME_ROOM, "base-%s-%" PRIu64, spool_collectors[collector], number);
}

static void push_name(char name[NAME_ROOM], const struct spool_push *push) {
    if (push->collector < 0)
        snprintf(name, NAME_ROOM, "push-%" PRIu64, push->number);
    else
        snprintf(name, NAME_ROOM, "push-%" PRIu64 "-%" PRIu64 "-%s", push->number, push->weight,
                 spool_collectors[push->collector]);
}

/* False: it is no name of a push. */
static bool read_name(struct spool_push *push, const char *name) {
    char collector[NAME_ROOM] = "", again[NAME_ROOM];
    *push = (struct spool_push){.collector = -1};
    if (sscanf(name, "push-%" SCNu64 "-%" SCNu64 "-%79s", &push->number, &push->weight, collector) <
        1)
        return false;
    for (int i = 0; i < SPOOL_COLLECTORS; i++)
        if (strcmp(collector, spool_collectors[i]) == 0)
            push->collector = i;
    push_name(again, push);
    return strcmp(again, name) == 0;
}

/* ---- files ---- */

/* False with errno set; nothing has the name that had not. */
static bool end_file(const struct spool *s, FILE *out, bool written, const char *name) {
    bool done = written && fflush(out) == 0 && fsync(fileno(out)) == 0;
    int error = errno;
    done = fclose(out) == 0 && done;
    if (done && renameat(s->directory, NEW_FILE, s->directory, name) == 0)
        return true;
    if (!done)
        errno = error;
    error = errno;
    unlinkat(s->directory, NEW_FILE, 0);
    errno = error;
    return false;
}

static FILE *begin_file(const struct spool *s) {
    int fd = openat(s->directory, NEW_FILE, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    return fd >= 0 ? fdopen(fd, "w") : NULL;
}

static bool write_profile(const struct spool *s, const char *name, const struct profile *profile) {
    FILE *out = begin_file(s);
    return out != NULL &&
           end_file(s, out, write_pprof(out, profile, &format_default_options), name);
}

static bool write_state(const struct spool *s) {
    FILE *out = begin_file(s);
    if (out == NULL)
        return false;
    fprintf(out, "hcct-push 1\nid ");
    for (int i = 0; i < PUSH_ID_BYTES; i++)
        fprintf(out, "%02x", s->id[i]);
    fprintf(out, "\nsequence %" PRIu64 "\n", s->sequence);
    for (int i = 0; i < SPOOL_COLLECTORS; i++)
        fprintf(out, "base %" PRIu64 " %" PRIu64 "\n", s->base[i].number, s->base[i].instance);
    return end_file(s, out, !ferror(out), "state") && fsync(s->directory) == 0;
}

static struct profile *read_file(const struct spool *s, const char *name) {
    int fd = openat(s->directory, name, O_RDONLY | O_CLOEXEC);
    FILE *file = fd >= 0 ? fdopen(fd, "r") : NULL;
    struct profile *profile = NULL;
    struct stat about;
    char error[512];
    if (file == NULL || fstat(fd, &about) != 0 || (size_t)about.st_size > FILE_MAX) {
        complain("%s/%s can't be read: %s", s->path, name, strerror(errno));
    } else {
        char *data = memory_new((size_t)about.st_size + 1, 1, "a profile");
        size_t bytes = fread(data, 1, (size_t)about.st_size, file);
        profile = format_read(data, bytes, error, sizeof error);
        if (profile == NULL)
            complain("%s/%s: %s", s->path, name, error);
        free(data);
    }
    if (file != NULL)
        fclose(file);
    return profile;
}

/* ---- the directory ---- */

/* Calls use(push) for each that waits. */
static void each_push(const struct spool *s, void (*use)(const struct spool_push *push, void *arg),
                      void *arg) {
    int fd = openat(s->directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;
    const struct dirent *entry;
    struct spool_push push;

    while (directory != NULL && (entry = readdir(directory)) != NULL)
        if (read_name(&push, entry->d_name))
            use(&push, arg);
    if (directory != NULL)
        closedir(directory);
}

struct pushes {
    struct spool_push *list;
    uint32_t n, room;
};

static void note_push(const struct spool_push *push, void *arg) {
    struct pushes *pushes = arg;
    pushes->list =
        memory_grow(pushes->list, pushes->n, &pushes->room, sizeof *pushes->list, "pushes");
    pushes->list[pushes->n++] = *push;
}

static int by_number(const void *a, const void *b) {
    const struct spool_push *x = a, *y = b;
    return x->number < y->number ? -1 : x->number > y->number;
}

struct spool_push *spool_waiting(const struct spool *s, size_t *n) {
    struct pushes pushes = {0};
    each_push(s, note_push, &pushes);
    if (pushes.n > 0)
        qsort(pushes.list, pushes.n, sizeof *pushes.list, by_number);
    *n = pushes.n;
    return pushes.list;
}

bool spool_is_full(const struct spool *s) {
    size_t n;
    struct spool_push *pushes = spool_waiting(s, &n);
    uint64_t bytes = 0;
    for (size_t i = 0; i < n; i++) {
        char name[NAME_ROOM];
        struct stat about;
        push_name(name, &pushes[i]);
        if (fstatat(s->directory, name, &about, 0) == 0)
            bytes += (uint64_t)about.st_size;
    }
    free(pushes);
    return bytes >= s->bytes_max;
}

void spool_remove(const struct spool *s, const struct spool_push *push) {
    char name[NAME_ROOM];
    push_name(name, push);
    unlinkat(s->directory, name, 0);
}

/* ---- state ---- */

static bool read_id(uint8_t id[PUSH_ID_BYTES], const char *text) {
    for (int i = 0; i < PUSH_ID_BYTES; i++) {
        unsigned byte;
        if (sscanf(text + 2 * i, "%2x", &byte) != 1)
            return false;
        id[i] = (uint8_t)byte;
    }
    return true;
}

/* False: it is damaged. */
static bool read_state(struct spool *s, FILE *file) {
    char id[2 * PUSH_ID_BYTES + 1];
    bool ok = fscanf(file, "hcct-push 1\nid %32s\nsequence %" SCNu64 "\n", id, &s->sequence) == 2 &&
              strlen(id) == 2 * PUSH_ID_BYTES && read_id(s->id, id);
    for (int i = 0; i < SPOOL_COLLECTORS && ok; i++)
        ok = fscanf(file, "base %" SCNu64 " %" SCNu64 "\n", &s->base[i].number,
                    &s->base[i].instance) == 2;
    return ok;
}

/* A push that was written before `state` could say so has never been: it will be made again. */
static void remove_unborn(const struct spool_push *push, void *arg) {
    const struct spool *s = arg;
    if (push->number > s->sequence)
        spool_remove(s, push);
}

static bool load_state(struct spool *s) {
    int fd = openat(s->directory, "state", O_RDONLY | O_CLOEXEC);
    FILE *file = fd >= 0 ? fdopen(fd, "r") : NULL;
    bool ok = false;
    if (file != NULL) {
        ok = read_state(s, file);
        fclose(file);
        errno = ok ? errno : EBADMSG;
    } else if (errno == ENOENT) {
        ok = getrandom(s->id, sizeof s->id, 0) == sizeof s->id && write_state(s);
    }
    if (ok)
        each_push(s, remove_unborn, s);
    return ok;
}

bool spool_open(struct spool *s, const char *path, uint64_t bytes_max) {
    *s = (struct spool){.path = path, .bytes_max = bytes_max};
    s->directory = own_directory_make(path);
    if (s->directory < 0) {
        complain("%s can't be used: %s", path, own_directory_error(errno));
        return false;
    }
    if (flock(s->directory, LOCK_EX | LOCK_NB) != 0)
        complain("%s is used by another hcct push: give each a directory of its own, by --spool",
                 path);
    else if (!load_state(s))
        complain("%s/state can't be used: %s", path,
                 errno == EBADMSG ? "it is damaged; remove the directory to begin anew: all that "
                                    "hcctd has is sent once more then"
                                  : strerror(errno));
    else
        return true;
    spool_close(s);
    return false;
}

void spool_close(struct spool *s) {
    close(s->directory);
}

struct profile *spool_base(const struct spool *s, int collector) {
    char name[NAME_ROOM];

    if (s->base[collector].number == 0)
        return NULL;
    base_name(name, collector, s->base[collector].number);
    return read_file(s, name);
}

struct profile *spool_read(const struct spool *s, const struct spool_push *push,
                           uint8_t id[PUSH_ID_BYTES]) {
    char name[NAME_ROOM];

    memcpy(id, s->id, PUSH_ID_BYTES);
    for (int i = 0; i < 6; i++) /* the last four bytes are for processes */
        id[PUSH_ID_BYTES - 5 - i] ^= (uint8_t)(push->number >> 8 * i);
    push_name(name, push);
    return read_file(s, name);
}

bool spool_take(struct spool *s, int collector, const struct profile *base,
                const struct profile *push, uint64_t instance, char *error, size_t error_bytes) {
    struct spool before = *s;
    char was[NAME_ROOM], name[NAME_ROOM], pushed[NAME_ROOM];
    s->sequence++;
    s->base[collector] = (struct spool_base){.number = s->sequence, .instance = instance};
    base_name(was, collector, before.base[collector].number);
    base_name(name, collector, s->sequence);
    push_name(pushed, &(struct spool_push){.number = s->sequence,
                                           .weight = push != NULL ? profile_total(push) : 0,
                                           .collector = collector});
    if (write_profile(s, name, base) && (push == NULL || write_profile(s, pushed, push)) &&
        write_state(s)) {
        if (before.base[collector].number != 0)
            unlinkat(s->directory, was, 0);
        return true;
    }
    snprintf(error, error_bytes, "nothing can be kept in %s: %s", s->path, strerror(errno));
    unlinkat(s->directory, name, 0);
    unlinkat(s->directory, pushed, 0);
    *s = before;
    return false;
}
