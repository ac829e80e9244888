/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * jit_debug.c - from the modules to the lists, and from these to objects (jit_object.h).
 *
 * All known makers of code put a new object at the head of the list. So a reading ends at the first
 * object that is as it was, unless there is code without a name: then it goes through all of the
 * list, the more seldom the oftener that was in vain.
 */
#include "common/code/jit_debug.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/array_grow.h"
#include "common/base/clock.h"
#include "common/base/seeded_hash.h"
#include "common/code/jit_file.h"
#include "common/code/jit_object.h"
#include "common/code/module.h"

#define MILLISECOND  1000000ull
#define LISTS_MAX    8u          /* of one process: each copy of LLVM has one */
#define SEARCH_BYTES (8u << 20)  /* of files that are searched at once, under a lock */
#define READ_BYTES   (16u << 20) /* of memory that is read at once */
#define NODE_BYTES   1024u       /* of these, what it costs to read a node */
#define CHECKED      64u         /* objects at the head that are compared with what they were */
#define KNOWN_BITS   14u
#define PAUSE_NS     (10 * MILLISECOND)   /* between readings of all of a list, at first */
#define PAUSE_NS_MAX (1000 * MILLISECOND) /* ... and when these are in vain */
#define REST_TIMES   50u                  /* between any two, so many times the first's CPU time */
#define OPEN_NS      (1000 * MILLISECOND) /* between attempts to open the memory */
#define OBJECT_BYTES (1ull << 32)         /* no object has so many */

/* As the interface has them in the process's memory (gdb's manual, "JIT Compilation Interface"). */
struct descriptor {
    uint32_t version, action;
    uint64_t relevant, first;
};

struct node {
    uint64_t next, previous, object, bytes;
};

#define VERSION 1u

/* A module that has not been searched. */
struct waiting {
    uint32_t module;
    uint64_t bias;
};

/* An object that was read: by which node, where it was, and a hash of it. */
struct known {
    uint64_t node, place, print;
};

struct jit_debug {
    pid_t pid;
    uid_t uid;
    uint64_t made_ns; /* CLOCK_BOOTTIME: the process lived then */
    struct waiting *waiting;
    uint32_t n_waiting;
    size_t room_waiting;
    uint64_t list[LISTS_MAX];          /* addresses of descriptors ... */
    struct descriptor seen[LISTS_MAX]; /* ... and what they said when they were last read */
    uint32_t lists;
    int memory; /* -1: not open */
    bool refused;
    uint64_t open_due_ns;
    struct known *known;       /* 1 << KNOWN_BITS, by the node's hash; NULL: no object was read */
    uint64_t due_ns, pause_ns; /* of the next reading of all ... */
    uint64_t rest_ns;          /* ... and of any */
};

struct jit_debug *jit_debug_new(pid_t pid, uid_t uid) {
    struct jit_debug *debug = calloc(1, sizeof *debug);
    if (debug != NULL)
        *debug = (struct jit_debug){.pid = pid,
                                    .uid = uid,
                                    .made_ns = clock_ns(CLOCK_BOOTTIME),
                                    .memory = -1,
                                    .pause_ns = PAUSE_NS};
    return debug;
}

void jit_debug_free(struct jit_debug *debug) {
    if (debug == NULL)
        return;
    if (debug->memory >= 0)
        close(debug->memory);
    free(debug->waiting);
    free(debug->known);
    free(debug);
}

void jit_debug_module(struct jit_debug *debug, uint32_t module, uint64_t bias) {
    if (array_grow(&debug->waiting, debug->n_waiting, &debug->room_waiting, sizeof *debug->waiting))
        debug->waiting[debug->n_waiting++] = (struct waiting){module, bias};
}

void jit_debug_forget(struct jit_debug *debug) {
    free(debug->known);
    debug->known = NULL;
}

bool jit_debug_is_refused(const struct jit_debug *debug) {
    return debug->refused;
}

/* ---- lists ---- */

static void add_list(struct jit_debug *debug, uint64_t at) {
    for (uint32_t i = 0; i < debug->lists; i++)
        if (debug->list[i] == at)
            return;
    if (debug->lists < LISTS_MAX)
        debug->list[debug->lists++] = at;
}

static void search_module(struct jit_debug *debug, const struct waiting *waiting,
                          uint64_t *budget) {
    struct stat info;
    int fd = module_open_file(waiting->module);
    if (fd >= 0 && fstat(fd, &info) == 0) {
        const struct jit_bytes file = {.fd = fd, .size = (uint64_t)info.st_size};
        uint64_t value =
            jit_object_variable(&file, "__jit_debug_descriptor", sizeof(struct descriptor), budget);
        if (value != 0)
            add_list(debug, value + waiting->bias);
    }
    if (fd >= 0)
        close(fd);
}

static void search_modules(struct jit_debug *debug) {
    uint64_t budget = SEARCH_BYTES;
    while (debug->n_waiting > 0 && budget > 0)
        search_module(debug, &debug->waiting[--debug->n_waiting], &budget);
}

/* ---- the process's memory ---- */

/* Of the process that is meant, and of its user: its number may have gone to another since, which
 * was started later, and a program that has taken other rights belongs to root. */
static bool is_the_one(const struct jit_debug *debug, int memory) {
    struct stat info;
    uint64_t start_ns = jit_file_start(debug->pid);
    return fstat(memory, &info) == 0 && info.st_uid == debug->uid && start_ns != 0 &&
           start_ns <= debug->made_ns;
}

/* From then on it is this process's memory alone, whoever has its number. */
static bool open_memory(struct jit_debug *debug) {
    char path[64];
    uint64_t now = clock_now();
    if (debug->memory >= 0 || now < debug->open_due_ns)
        return debug->memory >= 0;
    debug->open_due_ns = now + OPEN_NS;
    snprintf(path, sizeof path, "/proc/%d/mem", (int)debug->pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool right = fd >= 0 && is_the_one(debug, fd);
    debug->refused = fd >= 0 ? !right : errno == EACCES || errno == EPERM;
    if (fd >= 0 && !right)
        close(fd);
    debug->memory = right ? fd : -1;
    return right;
}

static bool read_memory(const struct jit_debug *debug, uint64_t at, void *into, uint64_t n) {
    const struct jit_bytes bytes = {.fd = debug->memory, .at = at, .size = n};
    return jit_bytes_read(&bytes, 0, into, n);
}

/* ---- objects ---- */

static struct known *known_at(struct jit_debug *debug, uint64_t node) {
    if (debug->known == NULL)
        debug->known = calloc(1u << KNOWN_BITS, sizeof *debug->known);
    return debug->known != NULL ? &debug->known[seeded_hash(0, node) >> (64 - KNOWN_BITS)] : NULL;
}

/* True: it is as it was, as far as that was compared; that is its place alone unless `closely`.
 * One that can't be read is tried again the next time. */
static bool take_object(struct jit_debug *debug, struct perf_map *map, uint64_t at,
                        const struct node *node, bool closely, uint64_t *budget) {
    struct known *known = known_at(debug, at);
    uint64_t place = seeded_hash(seeded_hash(0, node->object), node->bytes);
    if (known == NULL)
        return true;
    bool same = known->node == at && known->place == place;
    if (same && !closely)
        return true;
    const struct jit_bytes object = {
        .fd = debug->memory,
        .at = node->object,
        .size = node->bytes < OBJECT_BYTES ? node->bytes : 0,
    };
    uint64_t print = same ? known->print : 0;
    bool changed = jit_object_functions(&object, map, &print, budget);
    *known = (struct known){at, print != 0 ? place : 0, print};
    return same && !changed;
}

/* Returns whether there was something new. A list that is a circle ends with the budget. */
static bool read_list(struct jit_debug *debug, struct perf_map *map, uint32_t list, bool all,
                      uint64_t *budget) {
    struct descriptor descriptor;
    struct node node;
    bool any = false;
    if (!read_memory(debug, debug->list[list], &descriptor, sizeof descriptor))
        return false;
    debug->seen[list] = descriptor;
    if (descriptor.version != VERSION)
        return false;
    uint64_t at = descriptor.first;
    for (uint32_t i = 0; at != 0 && *budget > NODE_BYTES; i++, at = node.next) {
        *budget -= NODE_BYTES;
        if (!read_memory(debug, at, &node, sizeof node))
            break;
        bool same = take_object(debug, map, at, &node, i < CHECKED, budget);
        any |= !same;
        if (same && !all)
            break;
    }
    return any;
}

/* ---- all of it ---- */

bool jit_debug_has_changed(const struct jit_debug *debug) {
    struct descriptor now;
    for (uint32_t i = 0; i < debug->lists && debug->memory >= 0; i++)
        if (read_memory(debug, debug->list[i], &now, sizeof now) &&
            memcmp(&now, &debug->seen[i], sizeof now) != 0)
            return clock_now() >= debug->rest_ns;
    return false;
}

void jit_debug_read(struct jit_debug *debug, struct perf_map *map, bool missed) {
    uint64_t begin = clock_now(), cost = clock_ns(CLOCK_THREAD_CPUTIME_ID), budget = READ_BYTES;
    bool all = missed && begin >= debug->due_ns, any = false;
    search_modules(debug);
    if (debug->lists == 0 || begin < debug->rest_ns || !open_memory(debug))
        return;
    for (uint32_t i = 0; i < debug->lists; i++)
        any |= read_list(debug, map, i, all, &budget);
    uint64_t end = clock_now();
    if (any)
        debug->pause_ns = PAUSE_NS;
    else if (all && debug->pause_ns < PAUSE_NS_MAX)
        debug->pause_ns *= 2;
    debug->due_ns = all || any ? end + debug->pause_ns : debug->due_ns;
    debug->rest_ns = end + (clock_ns(CLOCK_THREAD_CPUTIME_ID) - cost) * REST_TIMES;
}
