/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * call_sites_fuzz.c - any bytes as the code of an object, with unwind entries, relocations and
 * symbols of any kind around it: there is a table that the daemon would take, each of its sites is
 * a call with the target that stands there, and every call is counted once.
 */
#include <elf.h>
#include <libelf.h>
#include <stdbool.h>

#include "common/code/call_sites_compile.h"
#include "tests/fuzz/fuzz.h"

#define CODE_AT     0x1000u
#define CODE_BYTES  0x1000u
#define DATA_AT     0x4000u
#define ENTRIES_MAX 24u
#define FDE_BYTES   24u /* after its head: address, length, augmentation, instructions */
#define PROGRAM     7u  /* bytes of them */
#define WORDS       4u

/* Everything but code is in one segment, at DATA_AT. */
struct data {
    Elf64_Dyn dynamic[8];
    Elf64_Rela relocation[WORDS];
    Elf64_Sym symbol[WORDS];
    char strings[32];
    uint8_t search[8]; /* the search table, as much of it as is read */
    uint8_t frame[24 + ENTRIES_MAX * (8 + FDE_BYTES) + 4];
    uint64_t got[WORDS];
};

struct object {
    Elf64_Ehdr header;
    Elf64_Phdr segment[4];
    uint8_t pad[CODE_AT - sizeof(Elf64_Ehdr) - 4 * sizeof(Elf64_Phdr)];
    uint8_t code[CODE_BYTES];
    uint8_t gap[DATA_AT - CODE_AT - CODE_BYTES];
    struct data data;
};

#define ADDRESS(member) (DATA_AT + offsetof(struct data, member))

static Elf64_Phdr segment(uint32_t type, uint32_t flags, uint64_t at, uint64_t bytes) {
    return (Elf64_Phdr){.p_type = type, /* addresses are offsets */
                        .p_flags = flags,
                        .p_offset = at,
                        .p_vaddr = at,
                        .p_filesz = bytes,
                        .p_memsz = bytes,
                        .p_align = 0x1000};
}

static void make_head(struct object *object) {
    *object = (struct object){.header = {.e_type = ET_DYN,
                                         .e_machine = EM_X86_64,
                                         .e_version = EV_CURRENT,
                                         .e_ehsize = sizeof object->header,
                                         .e_phoff = offsetof(struct object, segment),
                                         .e_phentsize = sizeof object->segment[0],
                                         .e_phnum = 4}};
    memcpy(object->header.e_ident, ELFMAG, SELFMAG);
    object->header.e_ident[EI_CLASS] = ELFCLASS64;
    object->header.e_ident[EI_DATA] = ELFDATA2LSB;
    object->header.e_ident[EI_VERSION] = EV_CURRENT;
    object->segment[0] = segment(PT_LOAD, PF_R | PF_X, CODE_AT, CODE_BYTES);
    object->segment[1] = segment(PT_LOAD, PF_R | PF_W, DATA_AT, sizeof object->data);
    object->segment[2] = segment(PT_DYNAMIC, PF_R, ADDRESS(dynamic), sizeof object->data.dynamic);
    object->segment[3] = segment(PT_GNU_EH_FRAME, PF_R, ADDRESS(search), 8);
}

/* The second word's function takes note of its caller. */
static void make_dynamic(struct data *data) {
    static const char strings[32] = "\0puts\0dlsym\0free";
    static const uint32_t names[WORDS] = {0, 1, 6, 12};
    const Elf64_Dyn dynamic[] = {
        {DT_STRTAB, {ADDRESS(strings)}},          {DT_STRSZ, {sizeof strings}},
        {DT_SYMTAB, {ADDRESS(symbol)}},           {DT_JMPREL, {ADDRESS(relocation)}},
        {DT_PLTRELSZ, {sizeof data->relocation}}, {DT_NULL, {0}}};
    memcpy(data->strings, strings, sizeof strings);
    memcpy(data->dynamic, dynamic, sizeof dynamic);
    for (unsigned i = 0; i < WORDS; i++) {
        data->symbol[i].st_name = names[i];
        data->relocation[i] = (Elf64_Rela){ADDRESS(got[i]), ELF64_R_INFO(i, R_X86_64_JUMP_SLOT), 0};
    }
}

/* What is found by the program header alone: a pointer relative to itself, no table behind it. */
static void make_search(struct data *data) {
    int32_t distance = (int32_t)(offsetof(struct data, frame) - offsetof(struct data, search) - 4);
    data->search[0] = 1;
    data->search[1] = 0x1b;
    data->search[2] = data->search[3] = 0xff;
    memcpy(data->search + 4, &distance, sizeof distance);
}

static uint8_t *put32(uint8_t *at, uint32_t number) {
    memcpy(at, &number, sizeof number);
    return at + sizeof number;
}

/* A CIE as compilers write it, and entries of which the input says where they are and what is in
 * their first instructions. */
static void make_frame(struct data *data, struct fuzz_input *input) {
    static const uint8_t cie[] = {1, 'z', 'R', 0, 1, 0x78, 16, 1, 0, 0x0c, 7, 8, 0x90, 1, 0, 0};
    uint8_t *at = put32(data->frame, 4 + sizeof cie);
    uint8_t n = fuzz_take_byte(input) % ENTRIES_MAX;
    at = put32(at, 0);
    memcpy(at, cie, sizeof cie);
    at += sizeof cie;
    for (uint8_t i = 0; i < n; i++) {
        uint8_t program[PROGRAM];
        uint64_t word = fuzz_take_word(input);
        fuzz_take(input, program, sizeof program);
        at = put32(at, 4 + FDE_BYTES);
        at = put32(at, (uint32_t)(at - data->frame));
        memset(at, 0, FDE_BYTES);
        uint64_t start = CODE_AT + word % CODE_BYTES, bytes = (word >> 32) % 256;
        put32(at, (uint32_t)start);
        put32(at + 8, (uint32_t)bytes);
        memcpy(at + FDE_BYTES - sizeof program, program, sizeof program);
        at += FDE_BYTES;
    }
    put32(at, 0);
}

static void check_site(const struct object *object, const struct call_sites *table,
                       const struct call_site *site) {
    const struct call_callee *callee = &call_sites_callees(table)[site->callee];
    uint64_t at = table->text_start + site->at;
    int32_t displacement;
    fuzz_must(at >= CODE_AT && at + CALL_SITE_BYTES <= CODE_AT + CODE_BYTES);
    if (callee->target == 0)
        fuzz_must(object->code[at - CODE_AT - 1] == 0xff && object->code[at - CODE_AT] == 0x15);
    else
        fuzz_must(object->code[at - CODE_AT] == 0xe8);
    memcpy(&displacement, &object->code[at - CODE_AT + 1], sizeof displacement);
    fuzz_must(at + CALL_SITE_BYTES + (uint64_t)(int64_t)displacement ==
              (callee->target == 0 ? callee->got : callee->target));
    fuzz_must(callee->got != ADDRESS(got[2])); /* dlsym */
}

static void check(const struct object *object, const struct call_sites *table) {
    uint64_t left = table->left[CALL_LEFT_TARGET] + table->left[CALL_LEFT_CALLER] +
                    table->left[CALL_LEFT_UNDECODED] + table->left[CALL_LEFT_RULE];
    fuzz_must(table->found[0] == table->sites + left);
    fuzz_must(table->found[1] <= table->found[0]);
    fuzz_must(table->covered <= CODE_BYTES);
    for (uint32_t i = 0; i < table->sites; i++)
        check_site(object, table, &call_sites_of(table)[i]);
}

/* Some bytes of the head, of the dynamic section or of what it names are not as they should be. */
static void spoil(struct object *object, struct fuzz_input *input) {
    for (uint8_t n = fuzz_take_byte(input) % 8; n > 0; n--) {
        uint64_t word = fuzz_take_word(input);
        size_t head = offsetof(struct object, pad), data = sizeof object->data;
        size_t at = (word >> 8) % (head + data);
        ((uint8_t *)object)[at < head ? at : DATA_AT + at - head] = (uint8_t)word;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct object object;
    struct fuzz_input input = {data, size};
    size_t bytes = 0;
    bool whole = (fuzz_take_byte(&input) & 1) == 0;
    elf_version(EV_CURRENT);
    make_head(&object);
    make_dynamic(&object.data);
    make_search(&object.data);
    make_frame(&object.data, &input);
    if (!whole)
        spoil(&object, &input);
    fuzz_take(&input, object.code, sizeof object.code);
    Elf *elf = elf_memory((char *)&object, sizeof object);
    fuzz_must(elf != NULL || !whole);
    if (elf == NULL)
        return 0;
    struct call_sites *table = call_sites_compile(elf, &bytes);
    fuzz_must(table != NULL && call_sites_check(table, bytes));
    if (whole)
        check(&object, table);
    free(table);
    elf_end(elf);
    return 0;
}

/* ---- made up ---- */

static uint8_t *put_call(uint8_t *at, const uint8_t *code, uint64_t random) {
    uint32_t target = (uint32_t)(random >> 16) % CODE_BYTES / 16 * 16;
    *at++ = random % 32 == 0 ? 0xe9 : 0xe8;
    return put32(at, target - (uint32_t)(at + 4 - code));
}

static uint8_t *put_plt(uint8_t *at, const uint8_t *code, uint64_t random) {
    uint32_t word = (uint32_t)ADDRESS(got[0]) + 8 * ((uint32_t)(random >> 16) % (WORDS + 1));
    at += (16 - (at - code) % 16) % 16;
    *at++ = 0xff;
    *at++ = 0x25;
    return put32(at, word - CODE_AT - (uint32_t)(at + 4 - code));
}

static uint8_t *put_spoils(uint8_t *at, uint64_t *random) {
    uint8_t n = (uint8_t)(fuzz_random(random) % 8);
    *at++ = n;
    for (; n > 0; n--) {
        uint64_t word = fuzz_random(random);
        memcpy(at, &word, sizeof word);
        at += sizeof word;
    }
    return at;
}

/* Code of calls, PLT entries and single bytes, in entries that begin at each 16th byte. */
static size_t make_up(uint64_t *random, uint8_t *into) {
    uint8_t *at = into;
    bool whole = fuzz_random(random) % 4 != 0;
    *at++ = !whole;
    *at++ = ENTRIES_MAX - 1;
    for (unsigned i = 0; i < ENTRIES_MAX - 1; i++) {
        uint64_t word = fuzz_random(random);
        word = (word & 0xff0) | (word % 8 != 0 ? 16ull << (32 + word % 4) : word >> 4 << 32);
        memcpy(at, &word, sizeof word);
        memset(at + 8, 0, PROGRAM);
        at += 8 + PROGRAM;
    }
    if (!whole)
        at = put_spoils(at, random);
    uint8_t *code = at;
    while (at - code < (ptrdiff_t)CODE_BYTES - 64) {
        uint64_t word = fuzz_random(random);
        if (word % 4 == 0)
            at = put_plt(at, code, word);
        else if (word % 4 < 3)
            at = put_call(at, code, word);
        else
            *at++ = word % 5 == 0 ? (uint8_t)(word >> 8) : 0x90;
    }
    return (size_t)(at - into);
}

const struct fuzz_target fuzz_target = {
    .name = "call_sites", .mutations = 4000, .made_up = 2000, .make_up = make_up};
