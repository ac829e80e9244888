/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * table_cache.c - BUILD-ID-VERSION.KIND: a header with a checksum, and the table.
 *
 * A file's time of change is when it was last used.
 */
#include "common/code/table_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "common/base/options.h"
#include "common/base/own_directory.h"
#include "common/code/table_cache_room.h"

#define FILE_MAGIC 0x686361636274ull

struct header {
    uint64_t magic;
    uint32_t version;
    uint32_t checksum; /* of all that follows, the table included */
    uint64_t bytes;    /* of the table */
    uint8_t build_id[24];
};

_Static_assert(sizeof(struct header) == 48 && MODULE_BUILD_ID_MAX <= 24, "no padding");

struct table_cache {
    char *path;
    char *base; /* made before it, and to be our own; NULL: the user has named the directory */
    int directory;
    uint64_t limit;
    bool has_complained;
};

/* ---- the directory ---- */

static bool is_absolute(const char *path) {
    return path != NULL && path[0] == '/';
}

/* Where caches of this user go, malloc'ed. */
static char *default_base(void) {
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    char *base;
    if (is_absolute(cache))
        return strdup(cache);
    if (is_absolute(home))
        return asprintf(&base, "%s/.cache", home) < 0 ? NULL : base;
    return geteuid() == 0 ? strdup("/var/cache") : NULL;
}

static bool set_paths(struct table_cache *cache, const char *directory) {
    if (directory != NULL) {
        cache->path = strdup(directory);
        return cache->path != NULL;
    }
    cache->base = default_base();
    if (cache->base == NULL)
        return false;
    if (asprintf(&cache->path, "%s/hcct", cache->base) < 0)
        cache->path = NULL;
    return cache->path != NULL;
}

struct table_cache *table_cache_new(const char *directory, uint64_t limit) {
    if (directory != NULL && strcmp(directory, "none") == 0)
        return NULL;
    struct table_cache *cache = calloc(1, sizeof *cache);
    if (cache == NULL)
        return NULL;
    cache->directory = -1;
    cache->limit = limit;
    if (!set_paths(cache, directory)) {
        table_cache_free(cache);
        return NULL;
    }
    return cache;
}

void table_cache_free(struct table_cache *cache) {
    if (cache == NULL)
        return;
    if (cache->directory >= 0)
        close(cache->directory);
    free(cache->path);
    free(cache->base);
    free(cache);
}

/* Opens the directory if it is there. False: errno says why. */
static bool open_directory(struct table_cache *cache) {
    if (cache->directory < 0)
        cache->directory = own_directory_open(cache->path);
    return cache->directory >= 0;
}

/* A home that is another user's, as under sudo, is left alone. */
static bool make_directory(struct table_cache *cache) {
    struct stat info;
    if (open_directory(cache))
        return true;
    if (errno != ENOENT)
        return false;
    if (cache->base != NULL) {
        mkdir(cache->base, 0700);
        if (stat(cache->base, &info) != 0)
            return false;
        if (info.st_uid != geteuid()) {
            errno = EPERM;
            return false;
        }
    }
    cache->directory = own_directory_make(cache->path);
    return cache->directory >= 0;
}

/* ---- files ---- */

static bool set_name(const struct module_info *module, enum table_kind kind,
                     char name[TABLE_CACHE_NAME]) {
    char hex[2 * MODULE_BUILD_ID_MAX + 1] = "";
    if (module->build_id_len < TABLE_CACHE_BUILD_ID_MIN ||
        module->build_id_len > MODULE_BUILD_ID_MAX)
        return false;
    for (unsigned i = 0; i < module->build_id_len; i++)
        snprintf(hex + 2 * i, 3, "%02x", module->build_id[i]);
    snprintf(name, TABLE_CACHE_NAME, "%s-%" PRIu32 "%s", hex, table_kinds[kind].version,
             table_kinds[kind].suffix);
    return true;
}

static uint32_t checksum(const struct header *header, const void *table) {
    size_t before = offsetof(struct header, bytes);
    uLong sum = crc32_z(0, (const Bytef *)header + before, (z_size_t)(sizeof *header - before));
    return (uint32_t)crc32_z(sum, table, (z_size_t)header->bytes);
}

static void set_header(struct header *header, const struct module_info *module,
                       enum table_kind kind, const void *table, size_t bytes) {
    *header =
        (struct header){.magic = FILE_MAGIC, .version = table_kinds[kind].version, .bytes = bytes};
    memcpy(header->build_id, module->build_id, module->build_id_len);
    header->checksum = checksum(header, table);
}

static bool read_all(int fd, void *into, size_t bytes) {
    char *at = into;
    while (bytes > 0) {
        ssize_t n = read(fd, at, bytes);
        if (n <= 0 && !(n < 0 && errno == EINTR))
            return false;
        at += n > 0 ? n : 0;
        bytes -= n > 0 ? (size_t)n : 0;
    }
    return true;
}

static bool write_all(int fd, const void *from, size_t bytes) {
    const char *at = from;
    while (bytes > 0) {
        ssize_t n = write(fd, at, bytes);
        if (n < 0 && errno != EINTR)
            return false;
        at += n > 0 ? n : 0;
        bytes -= n > 0 ? (size_t)n : 0;
    }
    return true;
}

/* The table in an open file, when all is well with it. */
static void *read_file(const struct table_cache *cache, int fd, const struct module_info *module,
                       enum table_kind kind, size_t *bytes) {
    struct header header, expected;
    struct stat info;
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) || !own_directory_is_ours(&info) ||
        (uint64_t)info.st_size > cache->limit || !read_all(fd, &header, sizeof header) ||
        header.bytes != (uint64_t)info.st_size - sizeof header)
        return NULL;
    void *table = malloc(header.bytes);
    if (table == NULL)
        return NULL;
    if (read_all(fd, table, header.bytes)) {
        set_header(&expected, module, kind, table, header.bytes);
        if (memcmp(&header, &expected, sizeof header) == 0 &&
            table_kinds[kind].check(table, header.bytes)) {
            *bytes = header.bytes;
            return table;
        }
    }
    free(table);
    return NULL;
}

void *table_cache_get(struct table_cache *cache, const struct module_info *module,
                      enum table_kind kind, size_t *bytes) {
    char name[TABLE_CACHE_NAME];
    if (cache == NULL || !set_name(module, kind, name) || !open_directory(cache))
        return NULL;
    int fd = openat(cache->directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    void *table = read_file(cache, fd, module, kind, bytes);
    if (table != NULL)
        futimens(fd, NULL); /* used now */
    close(fd);
    return table;
}

static bool write_file(int directory, const char *name, const struct header *header,
                       const void *table) {
    int fd = openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return false;
    bool ok = write_all(fd, header, sizeof *header) && write_all(fd, table, header->bytes);
    return close(fd) == 0 && ok;
}

static bool put(struct table_cache *cache, const char *name, const struct header *header,
                const void *table) {
    char temporary[TABLE_CACHE_NAME];
    uint64_t random;
    if (!make_directory(cache))
        return false;
    if (getrandom(&random, sizeof random, 0) != (ssize_t)sizeof random)
        return false;
    snprintf(temporary, sizeof temporary, TABLE_CACHE_TEMPORARY "%016" PRIx64, random);
    table_cache_make_room(cache->directory, cache->limit, sizeof *header + header->bytes);
    if (write_file(cache->directory, temporary, header, table) &&
        renameat(cache->directory, temporary, cache->directory, name) == 0)
        return true;
    int why = errno;
    unlinkat(cache->directory, temporary, 0);
    errno = why;
    return false;
}

void table_cache_put(struct table_cache *cache, const struct module_info *module,
                     enum table_kind kind, const void *table, size_t bytes) {
    char name[TABLE_CACHE_NAME];
    struct header header;
    if (cache == NULL || !set_name(module, kind, name) || bytes > cache->limit ||
        sizeof header > cache->limit - bytes)
        return;
    set_header(&header, module, kind, table, bytes);
    if (!put(cache, name, &header, table) && !cache->has_complained) {
        cache->has_complained = true;
        complain("tables of modules are made anew each time, as they can't be kept in %s: %s",
                 cache->path, own_directory_error(errno));
    }
}
