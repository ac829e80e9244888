/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * code.c - of libc some functions, of the loader and of other allocators all.
 */
#include "client/attach/code.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/attach/image.h"
#include "common/wire/attach.h"
#include "common/wire/compiler.h"

/* One object file of libc: what has no name in it stands between and beside these. */
static const char *const allocating[] = {"malloc",
                                         "free",
                                         "calloc",
                                         "realloc",
                                         "memalign",
                                         "aligned_alloc",
                                         "valloc",
                                         "pvalloc",
                                         "posix_memalign",
                                         "malloc_trim",
                                         "malloc_usable_size",
                                         "mallinfo",
                                         "mallinfo2",
                                         "malloc_stats",
                                         "mallopt",
                                         "malloc_info",
                                         NULL};

/* They take locks of the stacks of threads, of what is called at the end or around a fork. */
static const char *const locking[] = {"pthread_create", "pthread_exit",
                                      "pthread_join",   "pthread_getattr_np",
                                      "fork",           "_Fork",
                                      "vfork",          "posix_spawn",
                                      "posix_spawnp",   "exit",
                                      "__cxa_atexit",   "__register_atfork",
                                      "dlopen",         "dlmopen",
                                      "dlclose",        "dlsym",
                                      "dlvsym",         "dlerror",
                                      "dladdr",         "dladdr1",
                                      "dlinfo",         "dl_iterate_phdr",
                                      "__libc_freeres"};

static void add(struct code *code, uint64_t from, uint64_t to) {
    if (code->n_locked < CODE_LOCKED_MAX && from < to)
        code->locked[code->n_locked++] = (struct code_part){from, to};
}

static void add_functions(struct code *code, const struct image *libc) {
    uint64_t from, to;
    if (image_around(libc, allocating, &from, &to))
        add(code, from, to);
    for (size_t i = 0; i < HCCT_ARRAY_LEN(locking); i++) {
        const struct image_function *f = image_find(libc, locking[i]);
        if (f != NULL)
            add(code, f->start, f->end);
    }
}

static bool same_file(const struct target_map *one, const struct target_map *other) {
    return one->path[0] != '\0' && strcmp(one->path, other->path) == 0;
}

/* All code of the object that is mapped there. */
static void add_object(struct code *code, const struct target *target, uint64_t base) {
    const struct target_map *first = target_map_at(target, base);
    for (size_t i = 0; first != NULL && i < target->n_maps; i++)
        if (target->maps[i].executable && same_file(first, &target->maps[i]))
            add(code, target->maps[i].start, target->maps[i].end);
}

static bool ends_with(const char *text, const char *end) {
    size_t length = strlen(text), part = strlen(end);
    return length >= part && strcmp(text + length - part, end) == 0;
}

static bool is_base(const struct target_map *map) {
    return map->offset == 0 && map->readable && map->path[0] == '/';
}

/* Its file may have been replaced since, or be in memory only. */
uint64_t code_base_of(const struct target *target, const char *end_of_path) {
    char deleted[64];
    snprintf(deleted, sizeof deleted, "%s (deleted)", end_of_path);
    for (size_t i = 0; i < target->n_maps; i++)
        if (is_base(&target->maps[i]) && (ends_with(target->maps[i].path, end_of_path) ||
                                          ends_with(target->maps[i].path, deleted)))
            return target->maps[i].start;
    return 0;
}

/* Where the kernel has mapped the loader; 0: there is none. */
static uint64_t loader_base(pid_t pid) {
    char path[64];
    Elf64_auxv_t entry;
    uint64_t base = 0;
    snprintf(path, sizeof path, "/proc/%d/auxv", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && base == 0 && read(fd, &entry, sizeof entry) == (ssize_t)sizeof entry)
        if (entry.a_type == AT_BASE)
            base = entry.a_un.a_val;
    if (fd >= 0)
        close(fd);
    return base;
}

/* ---- parts of libc's code ---- */

#define MOST_CODE (16u << 20)

/* In the code of the object that is mapped there; 0: it is not. */
static uint64_t find_bytes(const struct target *target, uint64_t base,
                           const unsigned char *bytes_of, size_t length) {
    const struct target_map *first = target_map_at(target, base);
    uint64_t found = 0;
    for (size_t i = 0; i < target->n_maps && found == 0; i++) {
        const struct target_map *map = &target->maps[i];
        size_t bytes = map->end - map->start;
        if (!map->executable || !same_file(first, map) || bytes > MOST_CODE)
            continue;
        unsigned char *text = malloc(bytes), *at = NULL;
        if (text != NULL && target_read(target, map->start, text, bytes))
            at = memmem(text, bytes, bytes_of, length);
        if (at != NULL)
            found = map->start + (uint64_t)(at - text);
        free(text);
    }
    return found;
}

/* The end of a signal handler: mov $15, %rax; syscall. */
static uint64_t find_sigreturn(const struct target *target, uint64_t base) {
    static const unsigned char end[] = {0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05};
    return find_bytes(target, base, end, sizeof end);
}

/* In sleep_call_masked (preload/wrap/sleep_x86_64.c): call *(%r11); cmpq of a number and 88(%rsp).
 */
static uint64_t find_waits(const struct target *target, uint64_t base) {
    static const unsigned char code[] = {0x41, 0xff, 0x13, 0x48, 0x83, 0x7c, 0x24, 88};
    uint64_t found = find_bytes(target, base, code, sizeof code);
    return found != 0 ? found + 3 : 0;
}

/* mov SLOT(%rip), %rax; add %fs:0, %rax; ret. */
static uint64_t find_errno_slot(const struct target *target, const struct image *libc) {
    static const unsigned char landing[] = {0xf3, 0x0f, 0x1e, 0xfa}, load[] = {0x48, 0x8b, 0x05},
                               rest[] = {0x64, 0x48, 0x03, 0x04, 0x25, 0, 0, 0, 0, 0xc3};
    const struct image_function *f = image_find(libc, "__errno_location");
    unsigned char code[32];
    int32_t distance;
    if (f == NULL || !target_read(target, f->start, code, sizeof code))
        return 0;
    size_t at = memcmp(code, landing, sizeof landing) == 0 ? sizeof landing : 0;
    if (memcmp(code + at, load, sizeof load) != 0 || memcmp(code + at + 7, rest, sizeof rest) != 0)
        return 0;
    memcpy(&distance, code + at + sizeof load, sizeof distance);
    return f->start + at + 7 + (uint64_t)(int64_t)distance;
}

static uint64_t start_of(const struct image *libc, const char *name) {
    const struct image_function *f = image_find(libc, name);
    return f != NULL ? f->start : 0;
}

static enum code_fault read_libc(struct code *code, const struct target *target,
                                 const struct image *libc, uint64_t base) {
    const struct image_function *f = image_find(libc, "dlopen");
    if (image_find(libc, "gnu_get_libc_version") == NULL)
        return CODE_NO_LIBC;
    if (f == NULL || image_find(libc, "__libc_start_main") == NULL)
        return CODE_OLD_LIBC;
    code->dlopen = f->start;
    code->syscall = start_of(libc, "syscall");
    code->tgkill = start_of(libc, "tgkill");
    code->sigreturn = find_sigreturn(target, base);
    code->errno_slot = find_errno_slot(target, libc);
    add_functions(code, libc);
    return code->sigreturn != 0 && code->errno_slot != 0 ? CODE_FINE : CODE_STRANGE_LIBC;
}

/* ---- all objects ---- */

/* An allocator beside libc's: a library is one as a whole, a program is more than that. */
static void heed_malloc(struct code *code, const struct target *target, uint64_t base,
                        bool is_program) {
    struct image image;
    if (!image_read(&image, target, base))
        return;
    if (image_find(&image, "malloc") != NULL) {
        if (is_program)
            code->own_malloc = true;
        else
            add_object(code, target, base);
    }
    image_free(&image);
}

/* What stands before malloc and before locks: without its table nothing of the agent's does. */
static void read_passed(struct code *code, const struct target *target,
                        const struct image_function *table) {
    struct wire_attach_part part[WIRE_ATTACH_PARTS];
    if (table == NULL || table->end - table->start != sizeof part ||
        !target_read(target, table->start, part, sizeof part))
        return;
    for (size_t i = 0; i < WIRE_ATTACH_PARTS; i++)
        code->passed[code->n_passed++] =
            (struct code_part){table->start + (uint64_t)(int64_t)part[i].from,
                               table->start + (uint64_t)(int64_t)part[i].to};
}

static void read_own(struct code *code, const struct target *target, uint64_t base) {
    struct image image;
    add_object(code, target, base);
    code->waits = find_waits(target, base);
    if (!image_read(&image, target, base))
        return;
    read_passed(code, target, image_find(&image, WIRE_ATTACH_PARTS_FUNCTION));
    image_free(&image);
}

/* `known`: what is no other. */
static void read_others(struct code *code, const struct target *target, const uint64_t known[3]) {
    char link[64], program[4096];
    snprintf(link, sizeof link, "/proc/%d/exe", (int)target->pid);
    ssize_t n = readlink(link, program, sizeof program - 1);
    program[n > 0 ? n : 0] = '\0';
    for (size_t i = 0; i < target->n_maps; i++) {
        const struct target_map *map = &target->maps[i];
        if (is_base(map) && map->start != known[0] && map->start != known[1] &&
            map->start != known[2])
            heed_malloc(code, target, map->start, strcmp(map->path, program) == 0);
    }
}

enum code_fault code_read(struct code *code, const struct target *target, const char *ours) {
    uint64_t libc = code_base_of(target, "/libc.so.6"), loader = loader_base(target->pid);
    uint64_t own = code_base_of(target, ours);
    struct image image;
    *code = (struct code){0};
    if (libc == 0 || loader == 0 || !image_read(&image, target, libc))
        return CODE_NO_LIBC;
    if (own != 0)
        read_own(code, target, own);
    code->n_agent = code->n_locked;
    add_object(code, target, loader);
    code->n_loader = code->n_locked;
    enum code_fault fault = read_libc(code, target, &image, libc);
    image_free(&image);
    if (fault != CODE_FINE)
        return fault;
    read_others(code, target, (const uint64_t[]){libc, loader, own});
    return CODE_FINE;
}

static bool is_in(const struct code_part *part, size_t n, uint64_t address) {
    while (n > 0 && (address < part[n - 1].from || address >= part[n - 1].to))
        n--;
    return n > 0;
}

bool code_is_locked(const struct code *code, size_t ranges, uint64_t address) {
    if (code->waits != 0 && address == code->waits)
        return false;
    return is_in(code->locked, ranges, address) && !is_in(code->passed, code->n_passed, address);
}
