/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * module_test.c - modules are known by build-id, else by file; files are opened through the process
 * that mapped them, deleted or not, and nothing but regular files is opened. A build-id that
 * somebody else's file has is somebody else's.
 */
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/code/build_id.h"
#include "common/code/module.h"
#include "common/code/module_protected.h"
#include "tests/check.h"

static char directory[] = "/tmp/module_test.XXXXXX";

static char *path_of(char *path, const char *name) {
    snprintf(path, PATH_MAX, "%s/%s", directory, name);
    return path;
}

/* A copy of this program, with `id` in the place of its build-id's first bytes. */
static void write_copy(const char *path, const char *id, const uint8_t *own_id, size_t own_bytes) {
    struct stat info;
    int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    CHECK(fstat(from, &info) == 0);
    char *content = malloc((size_t)info.st_size);
    CHECK(read(from, content, (size_t)info.st_size) == info.st_size);
    close(from);
    char *at = memmem(content, (size_t)info.st_size, own_id, own_bytes);
    CHECK(at != NULL);
    if (at != NULL)
        memcpy(at, id, strlen(id));
    int into = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);
    CHECK(write(into, content, (size_t)info.st_size) == info.st_size);
    close(into);
    free(content);
}

static void write_text(const char *path, const char *text) {
    FILE *file = fopen(path, "we");
    CHECK(file != NULL);
    fputs(text, file);
    fclose(file);
}

static char *map_file(const char *path) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    char *start = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
    CHECK(start != MAP_FAILED);
    close(fd);
    return start;
}

static struct module_mapping mapping_at(char *start, const char *path) {
    return (struct module_mapping){.pid = getpid(),
                                   .uid = geteuid(),
                                   .start = (uint64_t)(uintptr_t)start,
                                   .end = (uint64_t)(uintptr_t)start + 4096,
                                   .path = path};
}

static void test_by_path(void) {
    char a[PATH_MAX], b[PATH_MAX];
    struct module_info info;
    write_text(path_of(a, "a"), "one");
    write_text(path_of(b, "b"), "one");
    uint32_t first = module_intern_path(a);
    CHECK(first != 0);
    CHECK_UINT(module_intern_path(a), first);
    CHECK(module_intern_path(b) != first);
    CHECK(module_get(first, &info));
    CHECK_STR(info.path, a);
    CHECK(info.fd >= 0 && info.build_id_len == 0 && !info.is_vdso);
    write_text(a, "two, which is longer"); /* another file now */
    CHECK(module_intern_path(a) != first);

    CHECK(!module_get(0, &info));
    CHECK(!module_get(MODULES_MAX, &info));
    CHECK(!module_get(UINT32_MAX, &info));
    CHECK_UINT(module_open_file(0), -1);
}

static void test_by_build_id(const uint8_t *own_id, size_t own_bytes) {
    char a[PATH_MAX], b[PATH_MAX], c[PATH_MAX];
    struct module_info info;
    write_copy(path_of(a, "x1"), "same-id", own_id, own_bytes);
    write_copy(path_of(b, "x2"), "same-id", own_id, own_bytes);
    write_copy(path_of(c, "x3"), "other-i", own_id, own_bytes);
    uint32_t id = module_intern_path(a);
    CHECK_UINT(module_intern_path(b), id);
    CHECK(module_intern_path(c) != id);
    CHECK(module_get(id, &info));
    CHECK_UINT(info.build_id_len, own_bytes);
    CHECK(memcmp(info.build_id, "same-id", 7) == 0);
}

/* A file that is gone is still what the process runs. Only the kernel's map_files leads there, and
 * that needs a capability. */
static void test_deleted(const uint8_t *own_id, size_t own_bytes) {
    char path[PATH_MAX];
    struct module_info info;
    uint8_t id[MODULE_BUILD_ID_MAX];
    write_copy(path_of(path, "deleted"), "deletd1", own_id, own_bytes);
    char *start = map_file(path);
    unlink(path);
    memcpy(id, own_id, own_bytes);
    memcpy(id, "deletd1", 7);
    struct module_mapping mapping = mapping_at(start, path);
    mapping.build_id = id;
    mapping.build_id_len = (uint8_t)own_bytes;
    uint32_t module = module_intern(&mapping);
    CHECK(module_get(module, &info));
    CHECK_STR(info.path, path);
    if (info.fd < 0) {
        printf("no right to open map_files: a deleted file stays closed\n");
        /* It gets its file from a later mapping. */
        write_copy(path, "deletd1", own_id, own_bytes);
        CHECK_UINT(module_intern(&mapping), module);
        CHECK(module_get(module, &info) && info.fd >= 0);
    }
    CHECK_UINT(build_id_read(info.fd, id, sizeof id), own_bytes);
    CHECK(memcmp(id, "deletd1", 7) == 0);
    munmap(start, 4096);
}

/* An object was unloaded before anybody read the log, and another one is mapped at its place. */
static void test_replaced(const uint8_t *own_id, size_t own_bytes) {
    char gone[PATH_MAX], now[PATH_MAX];
    struct module_info info;
    uint8_t id[MODULE_BUILD_ID_MAX];
    write_copy(path_of(gone, "gone"), "unloadd", own_id, own_bytes);
    write_copy(path_of(now, "now"), "replacd", own_id, own_bytes);
    char *start = map_file(now);
    memcpy(id, own_id, own_bytes);
    memcpy(id, "unloadd", 7);
    struct module_mapping mapping = mapping_at(start, gone);
    mapping.build_id = id;
    mapping.build_id_len = (uint8_t)own_bytes;
    CHECK(module_get(module_intern(&mapping), &info));
    CHECK_STR(info.path, gone);
    CHECK(info.fd >= 0);
    CHECK_UINT(build_id_read(info.fd, id, sizeof id), own_bytes);
    CHECK(memcmp(id, "unloadd", 7) == 0);
    munmap(start, 4096);
}

/* The same of files that have no build-id: a link to the one that is mapped is another name for it.
 */
static void test_replaced_nameless(void) {
    char gone[PATH_MAX], now[PATH_MAX], link[PATH_MAX], none[PATH_MAX];
    struct module_info info;
    write_text(path_of(gone, "gone-text"), "one");
    write_text(path_of(now, "now-text"), "two");
    char *start = map_file(now);
    struct module_mapping mapping = mapping_at(start, gone);
    uint32_t unloaded = module_intern(&mapping);
    CHECK(module_get(unloaded, &info));
    CHECK_STR(info.path, gone);
    CHECK(info.fd >= 0);
    CHECK(symlink(now, path_of(link, "link-text")) == 0);
    mapping.path = link;
    uint32_t mapped = module_intern(&mapping);
    CHECK(mapped != unloaded && module_get(mapped, &info));
    CHECK_STR(info.path, now);
    mapping.path = path_of(none, "none-text");
    CHECK(module_get(module_intern(&mapping), &info));
    CHECK_STR(info.path, none);
    CHECK_UINT(info.fd, -1);
    munmap(start, 4096);
}

/* A process says that it mapped libc, by libc's build-id, but the file is another. */
static void test_liar(const uint8_t *own_id, size_t own_bytes) {
    char path[PATH_MAX];
    struct module_info info;
    uint8_t claimed[MODULE_BUILD_ID_MAX] = "claimed";
    write_copy(path_of(path, "liar"), "i-am-me", own_id, own_bytes);
    char *start = map_file(path);
    struct module_mapping mapping = mapping_at(start, path);
    mapping.build_id = claimed;
    mapping.build_id_len = MODULE_BUILD_ID_MAX;
    CHECK(module_get(module_intern(&mapping), &info));
    CHECK_UINT(info.fd, -1);
    munmap(start, 4096);
}

static void test_relative_and_empty(void) {
    struct module_info info;
    char own[PATH_MAX] = "";
    char *here = (char *)(uintptr_t)&test_relative_and_empty;
    struct module_mapping mapping = mapping_at(here, "");
    CHECK(readlink("/proc/self/exe", own, sizeof own - 1) > 0);
    uint32_t module = module_intern(&mapping);
    CHECK(module_get(module, &info));
    CHECK_STR(info.path, own);
    CHECK(info.fd >= 0);
    mapping.path = "./not-the-name-from-here";
    CHECK_UINT(module_intern(&mapping), module);
}

static void test_vdso(void) {
    struct module_mapping mapping = {.path = "linux-vdso.so.1", .is_vdso = true};
    struct module_info info;
    char magic[4];
    uint32_t module = module_intern(&mapping);
    CHECK(module_get(module, &info) && info.is_vdso && info.fd >= 0);
    CHECK_STR(info.path, "[vdso]");
    CHECK(pread(info.fd, magic, 4, 0) == 4 && memcmp(magic, "\177ELF", 4) == 0);
    mapping.pid = 1;
    CHECK_UINT(module_intern(&mapping), module);
}

/* Pipes would block and devices could act: neither is opened. */
static void test_odd_files(void) {
    char path[PATH_MAX];
    static const char *const odd[] = {"/dev/zero", "/dev", "/nonexistent/file", ""};
    struct module_info info;
    CHECK(mkfifo(path_of(path, "pipe"), 0600) == 0);
    CHECK(module_get(module_intern_path(path), &info) && info.fd == -1);
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
        uint32_t module = module_intern_path(odd[i]);
        CHECK(module_get(module, &info) && info.fd == -1);
        CHECK_UINT(module_open_file(module), -1);
    }
}

/* The module of a file that a process of that user has mapped. */
static uint32_t module_of(const char *path, const uint8_t *id, size_t bytes, uid_t uid) {
    char *start = map_file(path);
    struct module_mapping mapping = mapping_at(start, path);
    mapping.uid = uid;
    mapping.build_id = id;
    mapping.build_id_len = (uint8_t)bytes;
    uint32_t module = module_intern(&mapping);
    munmap(start, 4096);
    return module;
}

static bool is_protected(uint32_t module) {
    struct module_info info;
    CHECK(module_get(module, &info));
    return info.is_protected;
}

/* A forger is first. */
static void test_forged(const uint8_t *own_id, size_t own_bytes) {
    enum { FORGER = 65533, OTHER = 65532 };
    char forged[PATH_MAX], true_one[PATH_MAX], copy[PATH_MAX];
    uint8_t id[MODULE_BUILD_ID_MAX];
    memcpy(id, own_id, own_bytes);
    memcpy(id, "forged-", 7);
    write_copy(path_of(forged, "forged"), "forged-", own_id, own_bytes);
    CHECK(chown(forged, FORGER, FORGER) == 0);
    write_copy(path_of(true_one, "true"), "forged-", own_id, own_bytes);
    write_copy(path_of(copy, "copy"), "forged-", own_id, own_bytes);
    uint32_t theirs = module_of(forged, id, own_bytes, FORGER);
    CHECK(theirs != 0 && !is_protected(theirs));
    uint32_t everybodys = module_of(true_one, id, own_bytes, 0);
    CHECK(everybodys != theirs && is_protected(everybodys));
    /* equal files of two users, or containers, of an owner who is believed are one */
    CHECK_UINT(module_of(copy, id, own_bytes, OTHER), everybodys);
    /* a file that could not be read, and of which there is a true one */
    memcpy(id, "missing", 7);
    struct module_mapping missing = {.path = "/nowhere", .uid = OTHER};
    missing.build_id = id;
    missing.build_id_len = (uint8_t)own_bytes;
    uint32_t said = module_intern(&missing);
    CHECK_UINT(module_open_file(said), -1);
    write_copy(path_of(copy, "found"), "missing", own_id, own_bytes);
    CHECK(is_protected(module_of(copy, id, own_bytes, 0)));
    int fd = module_open_file(said);
    CHECK(fd >= 0);
    close(fd);
    /* and what a file of ours tells of a user's */
    memcpy(id, "restore", 7);
    missing.uid = MODULE_NOBODY;
    said = module_intern(&missing);
    CHECK(module_adopt(said, OTHER) != module_adopt(said, FORGER));
    missing.path = "/elsewhere"; /* of another user, for all that is known */
    CHECK(module_intern(&missing) != said);
    missing.uid = OTHER;
    CHECK_UINT(module_intern(&missing), module_adopt(said, OTHER));
    CHECK_UINT(module_adopt(everybodys, OTHER), everybodys);
}

/* Whose file, at whose name? */
static void test_trust(const uint8_t *own_id, size_t own_bytes) {
    char path[PATH_MAX], link[PATH_MAX], below[PATH_MAX + 32];
    write_copy(path_of(path, "trust"), "trusted", own_id, own_bytes);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    CHECK(module_is_protected(fd, 0, path) && module_is_protected(fd, getpid(), path));
    CHECK(!module_is_protected(fd, 0, "/bin/sh") && !module_is_protected(fd, 0, "/nowhere/trust"));
    CHECK(!module_is_protected(fd, 0, "trust") && !module_is_protected(-1, 0, path));
    path_of(link, "link");
    CHECK(symlink(path, link) == 0 && !module_is_protected(fd, 0, link));
    path_of(link, "way");
    CHECK(symlink(directory, link) == 0);
    snprintf(below, sizeof below, "%s/trust", link);
    CHECK(!module_is_protected(fd, 0, below));
    CHECK(chmod(path, 0702) == 0 && !module_is_protected(fd, 0, path));
    CHECK(chmod(path, 0700) == 0 && module_is_protected(fd, 0, path));
    CHECK(chmod(directory, 0703) == 0 && !module_is_protected(fd, 0, path));
    CHECK(chmod(directory, 0700) == 0);
    if (geteuid() == 0) {
        CHECK(chmod(path, 0720) == 0 && !module_is_protected(fd, 0, path));
        CHECK(chmod(path, 0700) == 0 && chown(path, 65533, 0) == 0);
        CHECK(!module_is_protected(fd, 0, path));
        CHECK(chown(path, 0, 0) == 0 && chown(directory, 65533, 0) == 0);
        CHECK(!module_is_protected(fd, 0, path));
        CHECK(chown(directory, 0, 0) == 0 && module_is_protected(fd, 0, path));
    }
    CHECK(unlink(path) == 0 && !module_is_protected(fd, 0, path));
    close(fd);
}

/* Who invents modules takes none from others. */
static void test_share(void) {
    uint8_t id[MODULE_BUILD_ID_MAX] = "share";
    struct module_mapping said = {.path = "/nowhere", .uid = 65531};
    uint32_t refused = 0;
    said.build_id = id;
    said.build_id_len = sizeof id;
    for (uint32_t i = 0; i < MODULES_USER_MAX + 100; i++) {
        memcpy(id + 8, &i, sizeof i);
        refused += module_intern(&said) == 0;
    }
    CHECK_UINT(refused, 100);
    said.uid = 65530;
    CHECK(module_intern(&said) != 0);
}

static bool sweep_wanted;

static void want_sweep(uid_t uid) {
    sweep_wanted |= uid == 65529;
}

/* What a user has in use no more makes room for others, and an id is never another module's. What
 * is marked or held stays. */
static void test_month(void) {
    uint8_t id[MODULE_BUILD_ID_MAX] = "month";
    struct module_mapping said = {.path = "/nowhere", .uid = 65529};
    struct module_info info;
    uint32_t refused = 0, again = 0, *held = NULL, ids[2] = {0};
    said.build_id = id;
    said.build_id_len = sizeof id;
    module_set_sweeper(want_sweep);
    for (uint32_t i = 0; i < 100000; i++) {
        memcpy(id + 8, &i, sizeof i);
        uint32_t module = module_intern(&said);
        refused += module == 0;
        again += i >= 2 && (module == ids[0] || module == ids[1]);
        if (i < 2)
            ids[i] = module;
        if (i == 1)
            held = module_hold(&ids[1], 1);
        if (!sweep_wanted)
            continue;
        sweep_wanted = false;
        CHECK(module_sweep_is_due());
        module_sweep_begin();
        module_mark(ids[0]);
        module_sweep_end(true);
    }
    CHECK_UINT(refused + again, 0);
    CHECK(module_get(ids[0], &info) && memcmp(info.build_id, "month\0\0\0\0\0\0\0", 12) == 0);
    CHECK(module_get(ids[1], &info) && info.build_id[8] == 1);
    module_drop(held, 1);
    module_sweep_begin();
    module_sweep_end(false); /* it is not known what is in use */
    CHECK(module_get(ids[1], &info));
    module_sweep_begin();
    module_sweep_end(true);
    CHECK(!module_get(ids[0], &info) && !module_get(ids[1], &info));
    CHECK(module_copy_path(ids[0]) == NULL && module_open_file(ids[0]) == -1);
    module_set_sweeper(NULL);
}

/* Files are closed with their modules, and others are kept open in their stead. */
static void test_files(void) {
    char path[PATH_MAX];
    struct module_info info;
    write_text(path_of(path, "file_more"), "a file more");
    CHECK(module_get(module_intern_path(path), &info) && info.fd == -1);
    module_sweep_begin();
    module_sweep_end(true);
    CHECK(module_get(module_intern_path(path), &info) && info.fd >= 0);
}

/* Beyond the number of files that are kept open they are opened again by path, if unchanged. */
static void test_many(void) {
    char path[PATH_MAX], name[32];
    struct module_info info;
    uint32_t module = 0;
    for (int i = 0; i < 100; i++) {
        snprintf(name, sizeof name, "many%d", i);
        write_text(path_of(path, name), name);
        module = module_intern_path(path);
        CHECK(module_get(module, &info));
    }
    CHECK_UINT(info.fd, -1);
    int fd = module_open_file(module);
    CHECK(fd >= 0);
    close(fd);
    write_text(path, "changed since");
    CHECK_UINT(module_open_file(module), -1);
}

int main(void) {
    struct rlimit few = {.rlim_cur = 128, .rlim_max = 128}; /* half of these are for modules */
    uint8_t own_id[MODULE_BUILD_ID_MAX];
    CHECK(setrlimit(RLIMIT_NOFILE, &few) == 0);
    CHECK(mkdtemp(directory) != NULL);
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    size_t own_bytes = build_id_read(fd, own_id, sizeof own_id);
    close(fd);
    test_by_path();
    if (own_bytes >= 8) { /* the linker may have written none */
        test_by_build_id(own_id, own_bytes);
        test_deleted(own_id, own_bytes);
        test_replaced(own_id, own_bytes);
        test_replaced_nameless();
        test_liar(own_id, own_bytes);
        test_trust(own_id, own_bytes);
        if (geteuid() == 0)
            test_forged(own_id, own_bytes);
        else
            printf("another user's files can be made by root only\n");
    }
    test_relative_and_empty();
    test_vdso();
    test_odd_files();
    test_many();
    test_share();
    test_files();
    test_month();
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", directory);
    CHECK(system(command) == 0);
    return check_report();
}
