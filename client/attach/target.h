/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * target.h - a process that is to be attached to, as /proc has it: mappings, memory, threads.
 *
 * All of it may have changed a moment later, but for a thread that is stopped.
 */
#ifndef HCCT_ATTACH_TARGET_H
#define HCCT_ATTACH_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct target_map {
    uint64_t start, end, offset;
    bool readable, writable, executable;
    char *path; /* "": none */
};

struct target {
    pid_t pid;
    int memory; /* /proc/PID/mem; -1: it can't be opened */
    int list;   /* /proc/PID/maps, where it is kept open; -1: it is opened for each question */
    struct target_map *maps;
    size_t n_maps;
};

/* False: there is no such process any more, or its memory may not be read: errno says which. */
bool target_open(struct target *target, pid_t pid);
void target_close(struct target *target);
/* The mappings as they are now. */
bool target_read_maps(struct target *target);
/* Both files are open from then on: for who gives up the right to open them. */
bool target_keep(struct target *target);
/* The mapping that covers an address, NULL: none. */
const struct target_map *target_map_at(const struct target *target, uint64_t address);

/* All bytes, or false. */
bool target_read(const struct target *target, uint64_t at, void *into, size_t bytes);
bool target_write(const struct target *target, uint64_t at, const void *from, size_t bytes);

/* A limit of its, by the name that it has in /proc/PID/limits; UINT64_MAX: there is none. prlimit
 * would ask for more rights. */
bool target_limit(pid_t pid, const char *name, uint64_t *value);
/* It has a POSIX timer of that number, or its timers can't be read. */
bool target_has_timer(pid_t pid, int timer);
/* The number of one of its threads in its own PID namespace; 0: it has ended. */
pid_t target_own_number(pid_t pid, pid_t tid);
/* The threads, in *list, which the caller frees. 0: there is no process. */
size_t target_threads(pid_t pid, pid_t **list);

/* A number of /proc/PID/status (or of the thread `tid`, when it is not 0), hexadecimal where `hex`;
 * false: there is no such line. */
bool target_status(pid_t pid, pid_t tid, const char *name, bool hex, uint64_t *value);
/* The word behind a name, cut to `bytes`. */
bool target_status_word(pid_t pid, const char *name, char *word, size_t bytes);

/* Where a thread sleeps. */
struct target_sleep {
    bool running; /* it does not sleep: nothing else is known */
    long call;    /* -1: in no system call */
    uint64_t argument[6];
    uint64_t sp, pc;
};
bool target_where(pid_t pid, pid_t tid, struct target_sleep *where);

#endif
