/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * attach_fuzz.c - anything in the memory of a process that is to be attached to: what is read of
 * its objects is within them, and what is held for locked code is some.
 *
 * A file stands for the memory. Where the input does not bring an object, it changes one that is
 * there: a library with a few functions, at the first mapping.
 */
#include <elf.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "client/attach/code.h"
#include "client/attach/image.h"
#include "common/wire/compiler.h"
#include "tests/fuzz/fuzz.h"

#define BASE      4096u /* of the first mapping */
#define MAPS      5u
#define UNIT      256u /* mappings begin and end at multiples of it */
#define FUNCTIONS 9u

static const char *const paths[] = {"/lib/libc.so.6", "/opt/libhcctattach.so", "/usr/bin/program",
                                    "/lib/libc.so.6 (deleted)", ""};
static const char *const names[FUNCTIONS] = {"dlopen",
                                             "gnu_get_libc_version",
                                             "__libc_start_main",
                                             "__errno_location",
                                             "malloc",
                                             "free",
                                             "fork",
                                             "syscall",
                                             "other"};

/* Offsets in it are those from its first mapping. */
struct library {
    Elf64_Ehdr header;
    Elf64_Phdr segment[2];
    Elf64_Dyn dynamic[6];
    Elf64_Sym symbol[1 + FUNCTIONS];
    uint32_t hash[2];         /* the old table: its second word is the number of symbols */
    uint32_t gnu_hash[4 + 2]; /* one bucket, no filter, then the chain */
    uint32_t chain[1 + FUNCTIONS];
    char names[256];
    uint8_t code[FUNCTIONS * 32];
};

static uint64_t placed(size_t offset) {
    return BASE + offset;
}

static void put_symbols(struct library *library) {
    size_t used = 1;
    for (unsigned i = 0; i < FUNCTIONS; i++) {
        library->symbol[1 + i] = (Elf64_Sym){.st_name = (uint32_t)used,
                                             .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
                                             .st_shndx = 1,
                                             .st_value = offsetof(struct library, code) + 32 * i,
                                             .st_size = 24};
        strcpy(library->names + used, names[i]);
        used += strlen(names[i]) + 1;
    }
    library->hash[1] = 1 + FUNCTIONS;
    library->gnu_hash[0] = library->gnu_hash[1] = 1;
    library->gnu_hash[4] = 1;          /* the bucket */
    library->chain[FUNCTIONS - 2] = 1; /* the last but one of the words behind it */
}

/* What __errno_location and the end of a signal's handler look like. */
static void put_code(struct library *library) {
    static const uint8_t of_errno[] = {0x48, 0x8b, 0x05, 16, 0, 0, 0, 0x64, 0x48,
                                       0x03, 0x04, 0x25, 0,  0, 0, 0, 0xc3},
                         of_return[] = {0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05};
    memcpy(library->code + 32 * 3, of_errno, sizeof of_errno);
    memcpy(library->code + 32 * 8, of_return, sizeof of_return);
}

static void make_library(struct library *library, bool old_hash) {
    memset(library, 0, sizeof *library);
    memcpy(library->header.e_ident, ELFMAG, SELFMAG);
    library->header.e_ident[EI_CLASS] = ELFCLASS64;
    library->header.e_phoff = offsetof(struct library, segment);
    library->header.e_phentsize = sizeof(Elf64_Phdr);
    library->header.e_phnum = HCCT_ARRAY_LEN(library->segment);
    library->segment[0] = (Elf64_Phdr){.p_type = PT_LOAD, .p_memsz = sizeof *library};
    library->segment[1] = (Elf64_Phdr){.p_type = PT_DYNAMIC,
                                       .p_vaddr = offsetof(struct library, dynamic),
                                       .p_memsz = sizeof library->dynamic};
    Elf64_Dyn *dynamic = library->dynamic;
    dynamic[0] = (Elf64_Dyn){DT_SYMTAB, {placed(offsetof(struct library, symbol))}};
    dynamic[1] = (Elf64_Dyn){DT_STRTAB, {placed(offsetof(struct library, names))}};
    dynamic[2] = (Elf64_Dyn){DT_STRSZ, {sizeof library->names}};
    dynamic[3] = old_hash ? (Elf64_Dyn){DT_HASH, {placed(offsetof(struct library, hash))}}
                          : (Elf64_Dyn){DT_GNU_HASH, {placed(offsetof(struct library, gnu_hash))}};
    put_symbols(library);
    put_code(library);
}

/* ---- memory and its mappings ---- */

static size_t fill(struct fuzz_input *input, uint8_t *bytes, size_t room) {
    uint8_t choice = fuzz_take_byte(input);
    struct library library;
    size_t n = sizeof library;
    if (choice % 4 == 3) {
        n = input->size < room ? input->size : room;
        fuzz_take(input, bytes, n);
        return n;
    }
    make_library(&library, choice % 4 == 0);
    memcpy(bytes, &library, n);
    while (input->size > 0) {
        uint16_t at;
        fuzz_take(input, &at, sizeof at);
        bytes[at % n] = fuzz_take_byte(input);
    }
    return n;
}

/* As the kernel has them: in order, none in another, none empty. */
static void map(struct fuzz_input *input, struct target *target, struct target_map *maps) {
    uint64_t end = BASE;
    target->maps = maps;
    for (target->n_maps = 0; target->n_maps < MAPS; target->n_maps++) {
        uint8_t what = fuzz_take_byte(input), size = fuzz_take_byte(input);
        uint64_t start = end + (size >> 4 & 3) * UNIT;
        end = start + (1 + (size & 15)) * UNIT;
        maps[target->n_maps] =
            (struct target_map){.start = start,
                                .end = end,
                                .offset = (what & 1) != 0 ? start - BASE : 0,
                                .readable = (what & 2) == 0,
                                .executable = (what & 4) == 0,
                                .path = (char *)paths[(what >> 3) % HCCT_ARRAY_LEN(paths)]};
    }
}

/* ---- what was read ---- */

static void check_image(const struct target *target) {
    struct image image;
    uint64_t bias, from, to;
    if (!image_read(&image, target, BASE)) {
        fuzz_must(image.functions == NULL && image.names == NULL);
        return;
    }
    fuzz_must(image_bias(target, BASE, &bias));
    for (size_t i = 0; i < image.n; i++) {
        const struct image_function *f = &image.functions[i];
        const char *name = image.names + f->name;
        fuzz_must(f->name < image.names_bytes && f->name + strlen(name) < image.names_bytes);
        fuzz_must(i == 0 || image.functions[i - 1].start <= f->start);
        const struct image_function *found = image_find(&image, name);
        fuzz_must(found != NULL && strcmp(image.names + found->name, name) == 0);
    }
    const char *const some[] = {"malloc", "free", NULL};
    if (image_around(&image, some, &from, &to))
        fuzz_must(image_find(&image, "malloc") != NULL || image_find(&image, "free") != NULL);
    image_free(&image);
}

static void check_code(const struct target *target) {
    struct code code;
    enum code_fault fault = code_read(&code, target, "/libhcctattach.so");
    fuzz_must(code.n_agent <= code.n_loader && code.n_locked <= CODE_LOCKED_MAX);
    fuzz_must(fault != CODE_FINE || code.n_loader <= code.n_locked);
    for (size_t i = 0; i < code.n_locked; i++) {
        fuzz_must(code.locked[i].from < code.locked[i].to);
        uint64_t from = code.locked[i].from;
        fuzz_must((code.waits != 0 && from == code.waits) ||
                  code_is_locked(&code, code.n_locked, from));
    }
    fuzz_must(fault != CODE_FINE || (code.sigreturn != 0 && code.errno_slot != 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static int fd = -1;
    uint8_t bytes[FUZZ_INPUT_MAX];
    struct fuzz_input input = {data, size};
    struct target_map maps[MAPS];
    if (fd < 0)
        fd = memfd_create("memory", MFD_CLOEXEC);
    struct target target = {.pid = getpid(), .memory = fd};
    map(&input, &target, maps);
    size_t n = fill(&input, bytes, sizeof bytes);
    fuzz_must(fd >= 0 && ftruncate(fd, 0) == 0 && pwrite(fd, bytes, n, BASE) == (ssize_t)n &&
              ftruncate(fd, 1 << 16) == 0);
    check_image(&target);
    check_code(&target);
    return 0;
}

const struct fuzz_target fuzz_target = {.name = "attach", .mutations = 10000};
