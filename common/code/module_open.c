/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * module_open.c - opens the file behind a mapping of another process.
 */
#include "common/code/module_open.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <link.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/code/build_id.h"

#define VDSO_BYTES_MAX (1u << 20)

/* A line of /proc/PID/maps. */
struct area {
    uint64_t start, end, inode;
    char path[PATH_MAX]; /* empty: none, or the file is deleted */
};

/* Turns an O_PATH descriptor into one for reading, when it is a regular file. Opening anything else
 * (a device, a pipe) could have effects or block. */
static int reopen_regular(int at) {
    struct stat info;
    char name[64];
    int fd = -1;
    if (at < 0)
        return -1;
    if (fstat(at, &info) == 0 && S_ISREG(info.st_mode)) {
        snprintf(name, sizeof name, "/proc/self/fd/%d", at);
        fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    }
    close(at);
    return fd;
}

int module_open_path(const char *path) {
    return reopen_regular(open(path, O_PATH | O_CLOEXEC));
}

/* A path as the process sees it: its own root is also where absolute links and ".." end. */
static int open_in_root(pid_t pid, const char *path) {
    char name[64];
    struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT};
    snprintf(name, sizeof name, "/proc/%ld/root", (long)pid);
    int root = open(name, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (root < 0)
        return -1;
    int fd = (int)syscall(SYS_openat2, root, path, &how, sizeof how);
    /* Before Linux 5.6, or where a filter refuses it: links may lead astray, and then the check of
     * the build-id or the inode tells. */
    if (fd < 0 && (errno == ENOSYS || errno == EPERM) && path[0] == '/')
        fd = openat(root, path + 1, O_PATH | O_CLOEXEC);
    close(root);
    return reopen_regular(fd);
}

static bool parse_area(char *line, uint64_t address, struct area *area) {
    int path_at = 0;
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %*s %*s %" SCNu64 " %n", &area->start, &area->end,
               &area->inode, &path_at) != 3 ||
        address < area->start || address >= area->end)
        return false;
    static const char deleted[] = " (deleted)";
    char *path = line + path_at;
    size_t length = strcspn(path, "\n");
    path[length] = '\0';
    if (length >= sizeof deleted && strcmp(path + length - (sizeof deleted - 1), deleted) == 0)
        length = 0;
    if (path[0] == '/' && length < sizeof area->path)
        memcpy(area->path, path, length);
    return true;
}

/* What the kernel says is mapped there. */
static bool find_area(const struct module_mapping *mapping, struct area *area) {
    char name[64], *line = NULL;
    size_t room = 0;
    bool found = false;
    memset(area, 0, sizeof *area);
    snprintf(name, sizeof name, "/proc/%ld/maps", (long)mapping->pid);
    FILE *maps = fopen(name, "re");
    if (maps == NULL)
        return false;
    while (!found && getline(&line, &room, maps) > 0)
        found = parse_area(line, mapping->start, area);
    free(line);
    fclose(maps);
    return found;
}

/* Is this the file that is mapped? The build-id decides where the mapping has one, else the inode,
 * else the word of the process is taken, when `or_believe`. */
static bool agrees(int fd, const struct module_mapping *mapping, const struct area *area,
                   bool or_believe) {
    uint8_t id[MODULE_BUILD_ID_MAX];
    struct stat info;
    if (mapping->build_id_len > 0)
        return build_id_read(fd, id, sizeof id) == mapping->build_id_len &&
               memcmp(id, mapping->build_id, mapping->build_id_len) == 0;
    if (area->inode != 0)
        return fstat(fd, &info) == 0 && info.st_ino == area->inode;
    return or_believe;
}

static int keep_if(bool condition, int fd) {
    if (condition || fd < 0)
        return fd;
    close(fd);
    return -1;
}

/* The process's name for the file: what the kernel says goes before what the process says. */
static void choose_path(const struct module_mapping *mapping, const struct area *area, char *path) {
    char exe[64];
    if (area->path[0] != '\0') {
        snprintf(path, PATH_MAX, "%s", area->path);
        return;
    }
    snprintf(path, PATH_MAX, "%s", mapping->path);
    if (path[0] != '\0')
        return;
    snprintf(exe, sizeof exe, "/proc/%ld/exe", (long)mapping->pid);
    ssize_t n = readlink(exe, path, PATH_MAX - 1);
    path[n > 0 ? n : 0] = '\0';
}

/* As the process names it, in its own root or in ours. */
static int open_by_path(const struct module_mapping *mapping, const struct area *area,
                        const char *path) {
    if (path[0] != '/')
        return -1;
    int fd = open_in_root(mapping->pid, path);
    fd = keep_if(fd >= 0 && agrees(fd, mapping, area, true), fd);
    if (fd >= 0)
        return fd;
    fd = module_open_path(path);
    return keep_if(fd >= 0 && agrees(fd, mapping, area, false), fd);
}

/* It was unloaded, and another object is mapped there now: where no build-id says so, the process's
 * name for it is that of another file than the one that the kernel names, or of none. A relative
 * name says nothing. */
static bool is_anothers(const struct module_mapping *mapping, const struct area *area) {
    struct stat info;
    if (mapping->build_id_len > 0 || mapping->path[0] != '/' || area->path[0] == '\0' ||
        strcmp(mapping->path, area->path) == 0)
        return false;
    int fd = open_in_root(mapping->pid, mapping->path);
    if (fd < 0)
        return errno == ENOENT;
    bool another = fstat(fd, &info) == 0 && info.st_ino != area->inode;
    close(fd);
    return another;
}

int module_open_mapping(const struct module_mapping *mapping, char *path) {
    struct area area;
    char name[128];
    bool found = find_area(mapping, &area);
    int fd = -1;
    if (found && is_anothers(mapping, &area)) {
        memset(&area, 0, sizeof area);
        found = false;
    }
    choose_path(mapping, &area, path);
    if (found) {
        snprintf(name, sizeof name, "/proc/%ld/map_files/%" PRIx64 "-%" PRIx64, (long)mapping->pid,
                 area.start, area.end);
        fd = module_open_path(name);
        fd = keep_if(fd >= 0 && agrees(fd, mapping, &area, true), fd);
    }
    if (fd < 0)
        fd = open_by_path(mapping, &area, path);
    if (fd < 0 && mapping->build_id_len > 0 && mapping->path[0] == '/' &&
        strcmp(mapping->path, path) != 0) {
        /* it was unloaded, and another object is mapped there now */
        snprintf(path, PATH_MAX, "%s", mapping->path);
        fd = open_by_path(mapping, &area, path);
    }
    return fd;
}

int module_open_vdso(void) {
    const char *image = (const char *)getauxval(AT_SYSINFO_EHDR);
    if (image == NULL)
        return -1;
    const ElfW(Ehdr) *header = (const ElfW(Ehdr) *)(const void *)image;
    size_t bytes = header->e_shoff + (size_t)header->e_shnum * header->e_shentsize;
    int fd = bytes <= VDSO_BYTES_MAX ? memfd_create("vdso", MFD_CLOEXEC) : -1;
    return keep_if(fd >= 0 && write(fd, image, bytes) == (ssize_t)bytes, fd);
}
