/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * jit_code.c - reading on of a perf map, of a jitdump and of what is registered for debuggers.
 */
#include "common/code/jit_code.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/code/jit_debug.h"
#include "common/code/jit_dump.h"
#include "common/code/jit_file.h"
#include "common/code/jit_names.h"
#include "common/code/perf_map.h"

#define MILLISECOND 1000000ull
#define MISS_NS     (10 * MILLISECOND) /* between readings because of an unknown address */
#define POLL_NS                                                                                    \
    (100 * MILLISECOND)                 /* between readings for new functions at old addresses; a  \
                                           list that is seen to be another one is read sooner */
#define OPEN_NS    (1000 * MILLISECOND) /* between attempts to find a file */
#define OPEN_DUMP  5u                   /* doublings of that for a jitdump, as that is dear */
#define POLL_BYTES (4u << 20)           /* read at once: the process's lock is held */
#define MISS_BYTES (256u << 10)
#define CHUNK      32768
#define LAST_BYTES (64u << 20) /* of a map that is written at the end */
#define LINE_BYTES 16384       /* of a command line in which options are found */
#define BLOCK      64u         /* HotSpot puts no two functions into one */
#define BLOCK_STEP 16u         /* its functions begin at multiples of this */

_Static_assert(CHUNK >= JIT_DUMP_BYTES, "a chunk has at least one record");

/* A file that names functions, read as it grows. */
struct source {
    int (*open)(pid_t pid, uid_t uid);
    /* Takes in bytes of it, and returns how many; 0: not these, or not yet. */
    size_t (*take)(struct source *source, struct perf_map *map, const uint8_t *bytes, size_t n);
    int fd;          /* -1: not open */
    uint64_t at;     /* read up to there */
    uint64_t size;   /* of the file, when it was last polled */
    unsigned sparse; /* doublings of the time between attempts to find it, at most */
    unsigned misses; /* such attempts */
    uint64_t due_ns; /* of the next one */
    bool broken;     /* it makes no sense from `at` on */
};

enum { MAP, DUMP, SOURCES };

struct jit_code {
    pid_t pid;
    uid_t uid;
    struct frame_user *names; /* whose they are */
    struct source source[SOURCES];
    struct jit_debug *debug;
    struct perf_map *map;   /* NULL: no address has been asked for */
    uint64_t late;          /* its number, where names come at its end; else 0 */
    struct jit_place place; /* with `late` */
    uint64_t read_ns;       /* when the files were last read */
    bool missed;            /* an address was asked for and not known */
    bool stale;             /* jit_code_poll has to say true */
};

static size_t take_map(struct source *source, struct perf_map *map, const uint8_t *bytes,
                       size_t n) {
    (void)source;
    perf_map_feed(map, (const char *)bytes, n);
    return n;
}

static size_t take_dump(struct source *source, struct perf_map *map, const uint8_t *bytes,
                        size_t n) {
    const struct jit_dump_part part = {
        .at = source->at, .bytes = bytes, .n = n, .left = source->size - source->at};
    return (size_t)(jit_dump_read(map, &part, &source->broken) - source->at);
}

struct jit_code *jit_code_new(pid_t pid, uid_t uid) {
    struct jit_code *jit = calloc(1, sizeof *jit);
    if (jit == NULL)
        return NULL;
    *jit = (struct jit_code){.pid = pid, .uid = uid, .names = frame_user(uid)};
    jit->source[MAP] = (struct source){.open = jit_file_open_map, .take = take_map, .fd = -1};
    jit->source[DUMP] = (struct source){
        .open = jit_file_open_dump, .take = take_dump, .fd = -1, .sparse = OPEN_DUMP};
    jit->debug = jit_debug_new(pid, uid);
    if (jit->debug != NULL)
        return jit;
    free(jit);
    return NULL;
}

/* ---- the files ---- */

/* All is read anew: what one has said may be hidden by what another says. */
static void forget_all(struct jit_code *jit) {
    struct perf_map *map = perf_map_new();
    if (map == NULL)
        return; /* the old names are better than none */
    perf_map_free(jit->map);
    jit->map = map;
    for (unsigned i = 0; i < SOURCES; i++) {
        jit->source[i].at = 0;
        jit->source[i].broken = false;
    }
    jit_debug_forget(jit->debug);
    jit->stale = true;
}

/* A new descriptor of the file, when it is time to look for it; else -1. */
static int open_when_due(const struct jit_code *jit, struct source *source) {
    uint64_t now = clock_now();
    if (now < source->due_ns)
        return -1;
    int fd = source->open(jit->pid, jit->uid);
    source->due_ns = now + (OPEN_NS << source->misses);
    if (fd >= 0)
        source->misses = 0;
    else if (source->misses < source->sparse)
        source->misses++;
    return fd;
}

/* Opens the file. One that was cut is read from its beginning; one that was deleted is kept until
 * there is another. */
static void find_file(struct jit_code *jit, struct source *source) {
    struct stat info;
    if (source->fd >= 0 && fstat(source->fd, &info) == 0 && info.st_nlink > 0) {
        source->size = (uint64_t)info.st_size;
        if (source->size < source->at)
            forget_all(jit);
        return;
    }
    int fd = open_when_due(jit, source);
    if (fd < 0)
        return;
    if (source->fd >= 0) {
        close(source->fd);
        forget_all(jit);
    }
    source->fd = fd;
    source->size = fstat(fd, &info) == 0 ? (uint64_t)info.st_size : 0;
}

/* ---- reading ---- */

static void feed(struct jit_code *jit, struct source *source, size_t bytes) {
    uint8_t chunk[CHUNK];
    size_t done = 0, taken = 1;
    while (done < bytes && taken > 0 && !source->broken) {
        ssize_t n = pread(source->fd, chunk, sizeof chunk, (off_t)source->at);
        if (n <= 0)
            break;
        taken = source->take(source, jit->map, chunk, (size_t)n);
        source->at += taken;
        done += (size_t)n;
    }
}

/* What was said before is wrong when a function was replaced, or when one has come that may be at
 * an address for which there was no name. */
static void read_on(struct jit_code *jit, size_t bytes) {
    struct perf_map_stats before, after;
    for (unsigned i = 0; i < SOURCES; i++)
        find_file(jit, &jit->source[i]);
    perf_map_get_stats(jit->map, &before);
    for (unsigned i = 0; i < SOURCES; i++)
        if (jit->source[i].fd >= 0)
            feed(jit, &jit->source[i], bytes);
    jit_debug_read(jit->debug, jit->map, jit->missed);
    perf_map_get_stats(jit->map, &after);
    if (after.replaced != before.replaced || (jit->missed && after.added != before.added)) {
        jit->stale = true;
        jit->missed = false;
    }
}

/* Reads on when the last time is `pause_ns` ago. */
static void read_when_due(struct jit_code *jit, uint64_t pause_ns, size_t bytes) {
    uint64_t now = clock_now();
    if (now - jit->read_ns < pause_ns)
        return;
    jit->read_ns = now;
    read_on(jit, bytes);
}

/* ---- names that come at the end ---- */

static bool names_come_late(pid_t pid) {
    static const char option[] = "-XX:+DumpPerfMapAtExit";
    char path[64], line[LINE_BYTES];
    snprintf(path, sizeof path, "/proc/%d/cmdline", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, line, sizeof line) : 0;
    if (fd >= 0)
        close(fd);
    return n > 0 && memmem(line, (size_t)n, option, sizeof option) != NULL;
}

static void begin(struct jit_code *jit) {
    static _Atomic uint64_t last;
    jit->map = perf_map_new();
    if (jit->map == NULL || !names_come_late(jit->pid))
        return;
    jit_place_keep(jit->pid, &jit->place);
    jit->late = atomic_fetch_add(&last, 1) + 1;
}

static const char *find_in_block(void *arg, uint64_t block) {
    const struct jit_code *jit = arg;
    const char *name = NULL;
    for (uint64_t i = 0; i < BLOCK && name == NULL; i += BLOCK_STEP)
        name = perf_map_find(jit->map, block + i);
    return name != NULL ? name : perf_map_find(jit->map, block + BLOCK - 1);
}

static void name_at_last(struct jit_code *jit) {
    struct source *source = &jit->source[MAP];
    struct stat info;
    if (source->fd < 0)
        source->fd = jit_place_open_map(&jit->place, jit->uid);
    if (source->fd >= 0 && fstat(source->fd, &info) == 0) {
        source->size = (uint64_t)info.st_size;
        feed(jit, source, LAST_BYTES);
        jit_names_resolve(jit->names, jit->late, find_in_block, jit);
    }
    jit_place_drop(&jit->place);
}

static uint32_t unnamed(struct jit_code *jit, uint64_t address) {
    jit->missed = true;
    if (jit->late == 0)
        return JIT_UNNAMED;
    return jit_name_expect(jit->names, jit->late, address / BLOCK * BLOCK);
}

uint32_t jit_code_name(struct jit_code *jit, uint64_t address) {
    bool first = jit->map == NULL;
    if (first)
        begin(jit);
    if (jit->map == NULL)
        return JIT_UNNAMED;
    const char *name = perf_map_find(jit->map, address);
    if (name == NULL) {
        read_when_due(jit, first ? 0 : MISS_NS, first ? POLL_BYTES : MISS_BYTES);
        name = perf_map_find(jit->map, address);
    }
    return name != NULL ? jit_name_intern_for(jit->names, name) : unnamed(jit, address);
}

bool jit_code_poll(struct jit_code *jit) {
    if (jit->map == NULL)
        return false;
    read_when_due(jit, POLL_NS, POLL_BYTES);
    if (clock_now() - jit->read_ns >= MISS_NS && jit_debug_has_changed(jit->debug))
        read_when_due(jit, MISS_NS, POLL_BYTES);
    bool stale = jit->stale;
    jit->stale = false;
    return stale;
}

void jit_code_free(struct jit_code *jit) {
    if (jit == NULL)
        return;
    if (jit->late != 0)
        name_at_last(jit);
    for (unsigned i = 0; i < SOURCES; i++)
        if (jit->source[i].fd >= 0)
            close(jit->source[i].fd);
    jit_debug_free(jit->debug);
    perf_map_free(jit->map);
    free(jit);
}

void jit_code_module(struct jit_code *jit, uint32_t module, uint64_t bias) {
    jit_debug_module(jit->debug, module, bias);
}

bool jit_code_is_refused(const struct jit_code *jit) {
    return jit_debug_is_refused(jit->debug);
}
