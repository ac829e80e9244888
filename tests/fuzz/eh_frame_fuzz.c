/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * eh_frame_fuzz.c - any bytes as the unwind entries of an object: what is compiled from them is a
 * table that the daemon would take, and it can be asked for every address.
 *
 * The object around the bytes is made here: a program header for its code, and either a section
 * .eh_frame or a PT_GNU_EH_FRAME that points to it.
 */
#include <elf.h>
#include <libelf.h>
#include <stdbool.h>

#include "common/code/unwind_compile.h"
#include "common/wire/unwind_table.h"
#include "tests/fuzz/fuzz.h"

#define CODE_AT     0x1000u
#define CODE_BYTES  0x10000u
#define FRAME_AT    0x20000u /* address of the section */
#define FRAME_BYTES 16384u   /* at most */

struct object {
    Elf64_Ehdr header;
    Elf64_Phdr segment[3];
    Elf64_Shdr section[3];
    char names[24];
    uint8_t search[8]; /* the search table, as much of it as is read */
    uint8_t frame[FRAME_BYTES];
};

static const char names[24] = "\0.eh_frame\0.shstrtab";

static Elf64_Phdr segment(uint32_t type, uint32_t flags, uint64_t offset, uint64_t address,
                          uint64_t bytes) {
    return (Elf64_Phdr){.p_type = type,
                        .p_flags = flags,
                        .p_offset = offset,
                        .p_vaddr = address,
                        .p_filesz = bytes,
                        .p_memsz = bytes,
                        .p_align = 1};
}

static void add_sections(struct object *object, size_t bytes) {
    object->header.e_shoff = offsetof(struct object, section);
    object->header.e_shentsize = sizeof object->section[0];
    object->header.e_shnum = 3;
    object->header.e_shstrndx = 2;
    object->section[1] = (Elf64_Shdr){.sh_name = 1,
                                      .sh_type = SHT_PROGBITS,
                                      .sh_flags = SHF_ALLOC,
                                      .sh_addr = FRAME_AT,
                                      .sh_offset = offsetof(struct object, frame),
                                      .sh_size = bytes};
    object->section[2] = (Elf64_Shdr){.sh_name = 11,
                                      .sh_type = SHT_STRTAB,
                                      .sh_offset = offsetof(struct object, names),
                                      .sh_size = sizeof object->names};
    memcpy(object->names, names, sizeof names);
}

/* Version 1, a pointer relative to itself, and no table behind it. */
static void add_search(struct object *object) {
    int32_t distance = (int32_t)(FRAME_AT + 8 - (FRAME_AT + 4));
    object->search[0] = 1;
    object->search[1] = 0x1b;
    object->search[2] = object->search[3] = 0xff;
    memcpy(object->search + 4, &distance, sizeof distance);
}

static void make_object(struct object *object, uint16_t machine, bool has_sections,
                        struct fuzz_input *input) {
    size_t bytes = input->size < FRAME_BYTES ? input->size : FRAME_BYTES;
    *object = (struct object){.header = {.e_type = ET_DYN,
                                         .e_machine = machine,
                                         .e_version = EV_CURRENT,
                                         .e_ehsize = sizeof object->header,
                                         .e_phoff = offsetof(struct object, segment),
                                         .e_phentsize = sizeof object->segment[0],
                                         .e_phnum = 3}};
    memcpy(object->header.e_ident, ELFMAG, SELFMAG);
    object->header.e_ident[EI_CLASS] = ELFCLASS64;
    object->header.e_ident[EI_DATA] = ELFDATA2LSB;
    object->header.e_ident[EI_VERSION] = EV_CURRENT;
    object->segment[0] = segment(PT_LOAD, PF_R | PF_X, 0, CODE_AT, CODE_BYTES);
    object->segment[1] =
        segment(PT_LOAD, PF_R, offsetof(struct object, search), FRAME_AT, 8 + bytes);
    object->segment[2] =
        segment(PT_GNU_EH_FRAME, PF_R, offsetof(struct object, search), FRAME_AT, 8);
    if (has_sections)
        add_sections(object, bytes);
    else
        add_search(object);
    fuzz_take(input, object->frame, bytes);
}

/* Each row is found by the address at which it begins, and so up to the next. */
static void ask(const struct unwind_table *table) {
    const struct unwind_row *row = unwind_rows(table);
    for (uint32_t i = 0; i < table->rows; i++) {
        fuzz_must(unwind_lookup(table, table->text_start + row[i].pc) == &row[i]);
        if (i > 0 && row[i].pc > 0)
            fuzz_must(unwind_lookup(table, table->text_start + row[i].pc - 1) == &row[i - 1]);
    }
    fuzz_must(unwind_lookup(table, table->text_start + table->text_span) == NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const uint16_t machines[] = {EM_X86_64, EM_AARCH64, EM_386, EM_X86_64};
    static struct object object;
    struct fuzz_input input = {data, size};
    struct unwind_account account;
    uint8_t choice = fuzz_take_byte(&input);
    size_t bytes = 0;
    elf_version(EV_CURRENT);
    make_object(&object, machines[choice % 4], (choice & 4) == 0, &input);
    Elf *elf = elf_memory((char *)&object, sizeof object);
    fuzz_must(elf != NULL);
    void *table = unwind_compile(elf, &bytes, &account);
    if (table != NULL) {
        fuzz_must(unwind_table_check(table, bytes));
        ask(table);
    }
    free(table);
    elf_end(elf);
    return 0;
}

const struct fuzz_target fuzz_target = {.name = "eh_frame", .mutations = 10000};
