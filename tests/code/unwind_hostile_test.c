/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * unwind_hostile_test.c - files that are not what they should be, and corrupt tables: no unwind
 * table, or one that is consistent, and the check notices each that is not.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/code/unwind_compile.h"
#include "common/wire/compiler.h"
#include "common/wire/unwind_table.h"
#include "tests/check.h"

/* ---- files ---- */

static char *read_whole(const char *path, size_t *bytes) {
    struct stat info;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &info) != 0)
        return NULL;
    char *content = malloc((size_t)info.st_size);
    ssize_t got = read(fd, content, (size_t)info.st_size);
    close(fd);
    *bytes = got > 0 ? (size_t)got : 0;
    return content;
}

/* The table of an image in memory; checks that it is consistent when there is one. */
static void *compile_image(char *image, size_t image_bytes, size_t *bytes) {
    Elf *elf = elf_memory(image, image_bytes);
    *bytes = 0;
    if (elf == NULL)
        return NULL;
    void *table = unwind_compile(elf, bytes, NULL);
    if (table != NULL)
        CHECK(unwind_table_check(table, *bytes));
    elf_end(elf);
    return table;
}

static ElfW(Shdr) * find_section(const char *image, const char *name) {
    const ElfW(Ehdr) *header = (const ElfW(Ehdr) *)(const void *)image;
    ElfW(Shdr) *section = (ElfW(Shdr) *)(uintptr_t)(image + header->e_shoff);
    const char *names = image + section[header->e_shstrndx].sh_offset;
    for (unsigned i = 0; i < header->e_shnum; i++)
        if (strcmp(names + section[i].sh_name, name) == 0)
            return &section[i];
    return NULL;
}

/* The table of an image whose sections .init and .fini are said to be at `address`; 0: to
 * consist of the file's first bytes, which are no such code. */
static void *compile_moved(const char *image, size_t image_bytes, uint64_t address, size_t *bytes) {
    char *copy = malloc(image_bytes);
    memcpy(copy, image, image_bytes);
    for (int i = 0; i < 2; i++) {
        ElfW(Shdr) *section = find_section(copy, i == 0 ? ".init" : ".fini");
        if (section != NULL && address != 0)
            section->sh_addr = address;
        else if (section != NULL)
            section->sh_offset = 0;
    }
    void *table = compile_image(copy, image_bytes, bytes);
    free(copy);
    return table;
}

/* In a segment that is not executed; on aarch64 most programs have code from their beginning on. */
static uint64_t data_address(const char *image) {
    const ElfW(Ehdr) *file = (const ElfW(Ehdr) *)(const void *)image;
    const ElfW(Phdr) *segment = (const ElfW(Phdr) *)(const void *)(image + file->e_phoff);
    for (int i = 0; i < file->e_phnum; i++)
        if (segment[i].p_type == PT_LOAD && (segment[i].p_flags & PF_X) == 0)
            return segment[i].p_vaddr + 1;
    return 1;
}

/* Where an entry covers the code, or where no code is, the sections say nothing. */
static void test_moved_init(const char *image, size_t image_bytes) {
    size_t bytes, bytes_moved;
    struct unwind_table *table = compile_moved(image, image_bytes, 0, &bytes);
    CHECK(table != NULL);
    const uint64_t places[] = {table->text_start, data_address(image), UINT64_MAX - 4, 1ull << 40};
    for (size_t i = 0; i < HCCT_ARRAY_LEN(places); i++) {
        void *moved = compile_moved(image, image_bytes, places[i], &bytes_moved);
        CHECK_UINT(bytes_moved, bytes);
        CHECK(moved != NULL && bytes == bytes_moved && memcmp(table, moved, bytes) == 0);
        free(moved);
    }
    free(table);
}

/* Without its section table, a file must give the same table, but for the code of _init and _fini,
 * of which nothing is known then. */
static void test_without_sections(const char *image, size_t image_bytes) {
    char *copy = malloc(image_bytes);
    size_t bytes, bytes_without;
    void *table = compile_moved(image, image_bytes, 0, &bytes);
    memcpy(copy, image, image_bytes);
    ElfW(Ehdr) *header = (ElfW(Ehdr) *)(void *)copy;
    header->e_shoff = 0;
    header->e_shnum = header->e_shstrndx = 0;
    void *without = compile_image(copy, image_bytes, &bytes_without);
    CHECK(table != NULL && without != NULL);
    CHECK_UINT(bytes_without, bytes);
    CHECK(bytes == bytes_without && memcmp(table, without, bytes) == 0);
    free(table);
    free(without);
    free(copy);
}

static uint64_t random_state = 42;

static uint64_t next_random(void) {
    random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
    return random_state >> 33;
}

/* Each variant is its own heap block, so that the address sanitizer sees a step beyond its end. */
static void test_hostile(const char *image, size_t image_bytes) {
    const int variants = 600;
    int tables = 0;
    const ElfW(Shdr) *frame = find_section(image, ".eh_frame");
    CHECK(frame != NULL && frame->sh_offset != 0);
    for (int i = 0; i < variants; i++) {
        size_t keep = i % 4 == 0 ? next_random() % image_bytes : image_bytes, bytes;
        char *copy = malloc(keep == 0 ? 1 : keep);
        memcpy(copy, image, keep);
        for (int flips = i % 16; flips > 0 && keep > 0; flips--) {
            size_t at = next_random() % keep;
            if (i % 4 == 1) /* the ELF header and the program headers */
                at = next_random() % 0x400;
            if (i % 4 >= 2)
                at = frame->sh_offset + next_random() % frame->sh_size;
            copy[at] ^= (char)(1 << next_random() % 8);
        }
        void *table = compile_image(copy, keep, &bytes);
        tables += table != NULL;
        free(table);
        free(copy);
    }
    printf("hostile files: %d of %d still gave a table\n", tables, variants);
    CHECK(tables > 0 && tables < variants);
}

/* ---- corrupt tables ---- */

#define CORRUPTION(name, statement)                                                                \
    static void name(struct unwind_table *table, struct unwind_row *rows,                          \
                     struct unwind_rule *rules, uint32_t *blocks) {                                \
        (void)table, (void)rows, (void)rules, (void)blocks;                                        \
        statement;                                                                                 \
    }

CORRUPTION(bad_magic, table->magic++)
CORRUPTION(bad_bytes, table->bytes++)
CORRUPTION(bad_rows, table->rows = UINT32_MAX)
CORRUPTION(no_rows, table->rows = 0)
CORRUPTION(bad_rows_off, table->rows_off = UINT64_MAX - 3)
CORRUPTION(bad_blocks_off, table->blocks_off = table->bytes - 4)
CORRUPTION(bad_shift, table->block_shift = 40)
CORRUPTION(bad_span, table->text_span = 1ull << 40)
CORRUPTION(bad_order, rows[2].pc = rows[1].pc)
CORRUPTION(bad_first, rows[0].pc = 1)
CORRUPTION(bad_rule, rows[3].rule = UINT16_MAX)
CORRUPTION(bad_back, rows[0].back = 7)
CORRUPTION(bad_far_back, rows[1].back = UNWIND_BACK_MAX)
CORRUPTION(bad_block, blocks[table->blocks - 1] = table->rows)
CORRUPTION(bad_late_block, blocks[0] = 1)
CORRUPTION(bad_reg, rules[1].cfa_reg = 200)
CORRUPTION(bad_where, rules[1].ra = 9)
CORRUPTION(bad_none, rules[0].cfa = UNWIND_CFA_REG)

static void (*const corruptions[])(struct unwind_table *, struct unwind_row *, struct unwind_rule *,
                                   uint32_t *) = {
    bad_magic,    bad_bytes, bad_rows,  no_rows,   bad_rows_off, bad_blocks_off,
    bad_shift,    bad_span,  bad_order, bad_first, bad_rule,     bad_back,
    bad_far_back, bad_block, bad_reg,   bad_where, bad_none,     bad_late_block};

static void test_corrupt_tables(char *image, size_t image_bytes) {
    size_t bytes;
    struct unwind_table *table = compile_image(image, image_bytes, &bytes);
    CHECK(table != NULL);
    CHECK(!unwind_table_check(table, 0));
    CHECK(!unwind_table_check(table, bytes - 1));
    for (size_t i = 0; table != NULL && i < HCCT_ARRAY_LEN(corruptions); i++) {
        struct unwind_table *copy = malloc(bytes);
        memcpy(copy, table, bytes);
        char *base = (char *)copy;
        corruptions[i](copy, (void *)(base + copy->rows_off), (void *)(base + copy->rules_off),
                       (void *)(base + copy->blocks_off));
        if (unwind_table_check(copy, bytes))
            fprintf(stderr, "corruption %zu was not noticed\n", i);
        CHECK(!unwind_table_check(copy, bytes));
        free(copy);
    }
    free(table);
}

int main(void) {
    elf_version(EV_CURRENT);
    size_t image_bytes;
    char *image = read_whole("/lib/x86_64-linux-gnu/libgcc_s.so.1", &image_bytes);
    if (image == NULL)
        image = read_whole("/proc/self/exe", &image_bytes);
    test_without_sections(image, image_bytes);
    test_moved_init(image, image_bytes);
    test_hostile(image, image_bytes);
    test_corrupt_tables(image, image_bytes);
    free(image);
    return check_report();
}
