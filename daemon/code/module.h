/*
 * module.h - ELF objects by what they are, not by where one process mapped them.
 *
 * A module is its build-id, else its path, inode and size. Modules live as long as the daemon, so
 * that a profile outlives its process. The daemon keeps one descriptor open for each module's file
 * (opened through the process that mapped it, so that containers and deleted files work).
 *
 * Thread-safe. Ids are small numbers from 1 on; 0 is no module.
 */
#ifndef HCCT_MODULE_H
#define HCCT_MODULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define MODULE_BUILD_ID_MAX 20

struct module_info {
    const char *path; /* as the process named it; valid as long as the daemon */
    uint8_t build_id[MODULE_BUILD_ID_MAX];
    uint8_t build_id_len; /* 0: none */
    bool is_vdso;         /* no file: the daemon's own vdso is the same */
    int fd;               /* read-only, the module registry's own: do not close; -1: none */
};

/* What a process mapped. `pid` is used to open the file (/proc/PID/map_files, else
 * /proc/PID/root/PATH, else PATH when its build-id agrees). */
struct module_mapping {
    pid_t pid;
    uint64_t start, end;
    const char *path; /* need not be absolute: then the process's executable is meant when empty */
    const uint8_t *build_id;
    uint8_t build_id_len;
    bool is_vdso;
};

/* The module of a mapping, registered on first sight. 0 when there is no room for another. */
uint32_t module_intern(const struct module_mapping *mapping);

/* False when there is no such id. */
bool module_get(uint32_t id, struct module_info *info);

/* For tests and for profiles read from files: a module by path alone (opened by path). */
uint32_t module_intern_path(const char *path);

#endif
