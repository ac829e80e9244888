/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * module.h - ELF objects by what they are, not by where one process mapped them.
 *
 * A module is its build-id, else its path, inode, size and time of change. A build-id is what a
 * file says of itself: only protected files (module_protected.h) are one module for
 * everybody; beside these, equal build-ids are one module of each user. The daemon keeps a
 * descriptor open for each module's file (opened through the process that mapped it, so that
 * containers and deleted files work): for MODULE_FILES_MAX modules at most, and half of what
 * RLIMIT_NOFILE allows when the first is made. The rest are opened again by their path when they
 * are needed.
 *
 * A module lives as long as a frame or a process has it, so that a profile outlives its process:
 * what is in no use is given back by a sweep (ingest/module_sweep.h), and an id that stood for it
 * is that of no module from then on, never another's.
 *
 * Thread-safe. Ids are from 1 on; 0 is no module.
 */
#ifndef HCCT_MODULE_H
#define HCCT_MODULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define MODULE_BUILD_ID_MAX 20
#define MODULES_MAX         16383u /* at once */
#define MODULES_USER_MAX    4096u  /* of one user's, beside those that are everybody's */
#define MODULE_FILES_MAX    2048u
#define MODULE_NOBODY       ((uid_t)-1) /* no user: what a file of ours tells, whose is not known yet */

/* Stands for generated code, which is in no file: never the id of a module, module_get says false.
 * Addresses in it are numbers of names (jit_names.h). */
#define MODULE_JIT UINT32_MAX

struct module_info {
    const char *path; /* as the process named it; the module's: valid as long as that is in use */
    uint8_t build_id[MODULE_BUILD_ID_MAX];
    uint8_t build_id_len; /* 0: none */
    bool is_protected;    /* it is everybody's */
    uid_t uid;            /* whose it is; MODULE_NOBODY: everybody's, or not known */
    bool is_vdso;         /* its file is a copy in memory of the daemon's own, which is the same */
    int fd;               /* read-only, the module registry's own: do not close; -1: none kept */
};

/* What a process mapped. `pid` is used to open the file (/proc/PID/map_files, else
 * /proc/PID/root/PATH, else PATH when its build-id or inode agrees). */
struct module_mapping {
    pid_t pid;
    uid_t uid;           /* whose process it is */
    uint64_t start, end; /* `start` must be an address of the file's mapping */
    const char *path;    /* need not be absolute; empty: the process's executable, or what the
                            kernel says is mapped at `start` */
    const uint8_t *build_id;
    uint8_t build_id_len; /* at most MODULE_BUILD_ID_MAX: the first bytes of a longer one */
    bool is_vdso;
};

/* The module of a mapping, registered on first sight. 0 when there is no room for another. A module
 * that was made when its file could not be opened gets its file from a later mapping that can. */
uint32_t module_intern(const struct module_mapping *mapping);

/* A module of MODULE_NOBODY, as that of a user; what is everybody's stays what it is. */
uint32_t module_adopt(uint32_t id, uid_t uid);

/* Where tables by module have an id's entry: below MODULE_PLACES, and other than that of any other
 * module of the same time. The entry says whose it is, as it may be that of an earlier one. */
#define MODULE_PLACES (MODULES_MAX + 1)

static inline uint32_t module_place(uint32_t id) {
    return id % MODULE_PLACES;
}

/* False when there is no such id, or none any more. */
bool module_get(uint32_t id, struct module_info *info);

/* For tests and for profiles read from files: a module by path alone (opened by path). */
uint32_t module_intern_path(const char *path);

/* A copy of its path, malloc'ed; NULL: there is no such id, or no memory. */
char *module_copy_path(uint32_t id);

/* A descriptor of the module's file for the caller to close, or -1: there is none (any more). */
int module_open_file(uint32_t id);

/* ---- giving back ---- */

/* These stay, also in no other use, until module_drop() of what is returned; ids of none are
 * allowed among them. NULL: no memory. */
uint32_t *module_hold(const uint32_t *ids, size_t n);
void module_drop(uint32_t *held, size_t n); /* NULL is allowed */

/* `want` is to be called whenever a sweep would be worth its while: for modules of that user, or
 * with MODULE_NOBODY for everybody's. It must not call anything here. NULL: nobody sweeps. */
void module_set_sweeper(void (*want)(uid_t uid));
bool module_sweep_is_due(void);

/* A sweep: begin, mark all modules that are in use, end. Between, modules that are interned are in
 * use. `whole`: all were marked; else none is given back. One thread. */
void module_sweep_begin(void);
void module_mark(uint32_t id);
void module_sweep_end(bool whole);

/* What a user has, or, with MODULE_NOBODY, what is everybody's. */
struct module_usage {
    uid_t uid;
    uint32_t modules, files;
    uint64_t refused; /* times that there was no room for another */
};
void module_usage_all(void (*visit)(void *arg, const struct module_usage *usage), void *arg);

#endif
