/*
 * jit_code.c - finding, opening and reading on of a perf map.
 */
#include "daemon/ingest/jit_code.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "daemon/code/jit_names.h"
#include "daemon/code/perf_map.h"

#define MILLISECOND 1000000ull
#define MISS_NS     (10 * MILLISECOND)   /* between readings because of an unknown address */
#define LOOK_NS     (100 * MILLISECOND)  /* between readings for new functions at old addresses */
#define OPEN_NS     (1000 * MILLISECOND) /* between attempts to find the file */
#define LOOK_BYTES  (4u << 20)           /* read at once: the process's lock is held */
#define MISS_BYTES  (256u << 10)
#define CHUNK       32768

struct jit_code {
    pid_t pid;
    uid_t uid;
    struct frame_user *names; /* whose they are */
    int fd;                   /* of the file; -1: not open */
    off_t at;
    struct perf_map *map; /* NULL: no address has been asked for */
    uint64_t read_ns;     /* when the file was last read, or looked for in vain */
    bool missed;          /* an address was asked for and not known */
    bool stale;           /* jit_code_look has to say true */
};

struct jit_code *jit_code_new(pid_t pid, uid_t uid) {
    struct jit_code *jit = calloc(1, sizeof *jit);
    if (jit != NULL)
        *jit = (struct jit_code){.pid = pid, .uid = uid, .names = frame_user(uid), .fd = -1};
    return jit;
}

void jit_code_free(struct jit_code *jit) {
    if (jit == NULL)
        return;
    if (jit->fd >= 0)
        close(jit->fd);
    perf_map_free(jit->map);
    free(jit);
}

static uint64_t clock_ns(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* ---- the file ---- */

/* The process's PID in its innermost namespace, which is the one that it knows itself by. */
static long own_pid(pid_t pid) {
    char path[64], line[256];
    long own = (long)pid;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *f = fopen(path, "re");
    if (f == NULL)
        return own;
    while (fgets(line, sizeof line, f) != NULL) {
        if (strncmp(line, "NSpid:", 6) != 0)
            continue;
        const char *last = strrchr(line, '\t');
        own = last != NULL ? strtol(last + 1, NULL, 10) : own;
        break;
    }
    fclose(f);
    return own;
}

/* An O_PATH descriptor of the process's own /tmp/perf-PID.map: links in its path lead nowhere but
 * below its root. */
static int find(pid_t pid) {
    struct open_how how = {.flags = O_PATH | O_NOFOLLOW | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT};
    char root_path[64], name[64];
    snprintf(root_path, sizeof root_path, "/proc/%d/root", (int)pid);
    snprintf(name, sizeof name, "tmp/perf-%ld.map", own_pid(pid));
    int root = open(root_path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (root < 0)
        return -1;
    int fd = (int)syscall(SYS_openat2, root, name, &how, sizeof how);
    if (fd < 0 && (errno == ENOSYS || errno == EPERM)) /* before Linux 5.6, or refused */
        fd = openat(root, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    close(root);
    return fd;
}

/* When the process was started, by CLOCK_BOOTTIME; 0: it is gone. The name before may hold
 * anything, so that the text is read from its last parenthesis on. */
static uint64_t start_of(pid_t pid) {
    char path[64], text[1024];
    uint64_t ticks = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *f = fopen(path, "re");
    if (f == NULL)
        return 0;
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    fclose(f);
    const char *at = strrchr(text, ')');
    for (int field = 2; at != NULL && field < 22; field++)
        at = strchr(at + 1, ' ');
    if (at == NULL || sscanf(at, " %" SCNu64, &ticks) != 1)
        return 0;
    return ticks * (1000 * MILLISECOND / (uint64_t)sysconf(_SC_CLK_TCK));
}

/* Is it a map of this process, and not what an earlier one with its PID has left? The clocks of
 * files and processes are coarse, so that a second is given. */
static bool is_acceptable(const struct jit_code *jit, int fd) {
    struct stat info;
    uint64_t start_ns = start_of(jit->pid);
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) ||
        (info.st_uid != jit->uid && info.st_uid != 0) || start_ns == 0)
        return false;
    uint64_t start = clock_ns(CLOCK_REALTIME) - (clock_ns(CLOCK_BOOTTIME) - start_ns);
    uint64_t written = (uint64_t)info.st_mtim.tv_sec * 1000 * MILLISECOND;
    return written + 1000 * MILLISECOND >= start;
}

/* A descriptor of the map for reading, or -1. */
static int open_file(const struct jit_code *jit) {
    char name[64];
    int fd = -1, path = find(jit->pid);
    if (path < 0)
        return -1;
    if (is_acceptable(jit, path)) {
        snprintf(name, sizeof name, "/proc/self/fd/%d", path);
        fd = open(name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    }
    close(path);
    return fd;
}

static void forget_all(struct jit_code *jit) {
    struct perf_map *map = perf_map_new();
    if (map == NULL)
        return; /* the old names are better than none */
    perf_map_free(jit->map);
    jit->map = map;
    jit->at = 0;
    jit->stale = true;
}

/* Opens the file. One that was cut is read from its beginning; one that was deleted is kept until
 * there is another. */
static void find_file(struct jit_code *jit) {
    struct stat info;
    if (jit->fd >= 0 && fstat(jit->fd, &info) == 0 && info.st_nlink > 0) {
        if (info.st_size < jit->at)
            forget_all(jit);
        return;
    }
    int fd = open_file(jit);
    if (fd < 0)
        return;
    if (jit->fd >= 0) {
        close(jit->fd);
        forget_all(jit);
    }
    jit->fd = fd;
    jit->at = 0;
}

/* ---- reading ---- */

static void feed(struct jit_code *jit, size_t bytes) {
    char text[CHUNK];
    ssize_t n = 1;
    for (size_t done = 0; done < bytes && n > 0; done += (size_t)n) {
        n = pread(jit->fd, text, sizeof text, jit->at);
        if (n <= 0)
            break;
        perf_map_feed(jit->map, text, (size_t)n);
        jit->at += n;
    }
}

/* What was said before is wrong when a function was replaced, or when one has come that may be at
 * an address for which there was no name. */
static void read_on(struct jit_code *jit, size_t bytes) {
    struct perf_map_stats before, after;
    find_file(jit);
    if (jit->fd < 0)
        return;
    perf_map_get_stats(jit->map, &before);
    feed(jit, bytes);
    perf_map_get_stats(jit->map, &after);
    if (after.replaced != before.replaced || (jit->missed && after.added != before.added)) {
        jit->stale = true;
        jit->missed = false;
    }
}

/* Reads on when the last time is `pause_ns` ago. */
static void read_when_due(struct jit_code *jit, uint64_t pause_ns, size_t bytes) {
    uint64_t now = clock_ns(CLOCK_MONOTONIC);
    if (now - jit->read_ns < (jit->fd >= 0 ? pause_ns : OPEN_NS))
        return;
    jit->read_ns = now;
    read_on(jit, bytes);
}

uint32_t jit_code_name(struct jit_code *jit, uint64_t address) {
    bool first = jit->map == NULL;
    if (first)
        jit->map = perf_map_new();
    if (jit->map == NULL)
        return JIT_UNNAMED;
    const char *name = perf_map_find(jit->map, address);
    if (name == NULL) {
        read_when_due(jit, first ? 0 : MISS_NS, first ? LOOK_BYTES : MISS_BYTES);
        name = perf_map_find(jit->map, address);
    }
    if (name == NULL)
        jit->missed = true;
    return name != NULL ? jit_name_intern_for(jit->names, name) : JIT_UNNAMED;
}

bool jit_code_look(struct jit_code *jit) {
    if (jit->map == NULL)
        return false;
    read_when_due(jit, LOOK_NS, LOOK_BYTES);
    bool stale = jit->stale;
    jit->stale = false;
    return stale;
}
