/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * init_code.c - the code of _init and _fini: where it is, and what the stack is like in it.
 */
#include "common/code/init_code.h"

#include <string.h>

#include "common/wire/compiler.h"

#define SECTION_BYTES_MAX 65536u
#define FIXED_MAX         6

/* An instruction, or two that belong together: how it begins, and how long it is. */
struct form {
    uint8_t fixed[FIXED_MAX];
    uint8_t n_fixed;
    uint8_t bytes;
};

static const struct form landing = {{0xf3, 0x0f, 0x1e, 0xfa}, 4, 4};         /* endbr64 */
static const struct form lower = {{0x48, 0x83, 0xec, INIT_CODE_WORD}, 4, 4}; /* sub $8, %rsp */
static const struct form raise = {{0x48, 0x83, 0xc4, INIT_CODE_WORD}, 4, 4}; /* add $8, %rsp */
static const struct form leave = {{0xc3}, 1, 1};                             /* ret */

/* What is between: calls, what crti.o does to call __gmon_start__ if there is one, as the compiler
 * wrote it or as a linker has relaxed it, and what fills up to the next piece. */
static const struct form known[] = {
    {{0xe8}, 1, 5},                   /* call X */
    {{0x67, 0xe8}, 2, 6},             /* addr32 call X */
    {{0xff, 0x15}, 2, 6},             /* call *X(%rip) */
    {{0xff, 0xd0}, 2, 2},             /* call *%rax */
    {{0x48, 0x8b, 0x05}, 3, 7},       /* mov X(%rip), %rax */
    {{0x48, 0x8d, 0x05}, 3, 7},       /* lea X(%rip), %rax */
    {{0x48, 0xc7, 0xc0}, 3, 7},       /* mov $X, %rax */
    {{0x48, 0x85, 0xc0}, 3, 3},       /* test %rax, %rax */
    {{0x74, 2, 0xff, 0xd0}, 4, 4},    /* je behind the call; call *%rax */
    {{0x74, 5, 0xe8}, 3, 7},          /* je behind the call; call X */
    {{0x74, 6, 0xff, 0x15}, 4, 8},    /* je behind the call; call *X(%rip) */
    {{0x90}, 1, 1},                   /* nop */
    {{0x66, 0x90}, 2, 2},             /* a longer one, of 2 bytes */
    {{0x0f, 0x1f, 0x00}, 3, 3},       /* of 3 */
    {{0x0f, 0x1f, 0x40, 0x00}, 4, 4}, /* of 4 */
};

/* ---- bytes ---- */

/* Goes over what has this form at *at. False: it has another. */
static bool take(const struct form *form, const uint8_t *bytes, size_t n, size_t *at) {
    if (n - *at < form->bytes || memcmp(bytes + *at, form->fixed, form->n_fixed) != 0)
        return false;
    *at += form->bytes;
    return true;
}

static bool take_known(const uint8_t *bytes, size_t n, size_t *at) {
    for (size_t i = 0; i < HCCT_ARRAY_LEN(known); i++)
        if (take(&known[i], bytes, n, at))
            return true;
    return false;
}

bool init_code_read(const uint8_t *bytes, size_t n, struct init_code *code) {
    size_t at = 0;
    if (n > SECTION_BYTES_MAX)
        return false;
    take(&landing, bytes, n, &at);
    if (!take(&lower, bytes, n, &at))
        return false;
    code->lowered = (uint32_t)at;
    while (!take(&raise, bytes, n, &at))
        if (!take_known(bytes, n, &at))
            return false;
    code->raised = (uint32_t)at;
    code->end = (uint32_t)n;
    return take(&leave, bytes, n, &at) && at == n;
}

uint32_t init_code_frame(const struct init_code *code, uint64_t offset) {
    if (offset >= code->end)
        return 0;
    return offset >= code->lowered && offset < code->raised ? 2 * INIT_CODE_WORD : INIT_CODE_WORD;
}

/* ---- sections ---- */

static bool is_x86_64(Elf *elf) {
    GElf_Ehdr header;
    return gelf_getehdr(elf, &header) != NULL && header.e_machine == EM_X86_64 &&
           header.e_ident[EI_CLASS] == ELFCLASS64;
}

static bool is_init_or_fini(Elf *elf, size_t names, const GElf_Shdr *header) {
    const GElf_Xword needed = SHF_ALLOC | SHF_EXECINSTR;
    const char *name = elf_strptr(elf, names, header->sh_name);
    return name != NULL && (strcmp(name, ".init") == 0 || strcmp(name, ".fini") == 0) &&
           header->sh_type == SHT_PROGBITS && (header->sh_flags & needed) == needed;
}

unsigned init_code_find(Elf *elf, struct init_section found[INIT_CODES_MAX]) {
    unsigned n = 0;
    size_t names;
    if (!is_x86_64(elf) || elf_getshdrstrndx(elf, &names) != 0)
        return 0;
    for (Elf_Scn *section = NULL;
         n < INIT_CODES_MAX && (section = elf_nextscn(elf, section)) != NULL;) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) == NULL || !is_init_or_fini(elf, names, &header))
            continue;
        const Elf_Data *data = elf_rawdata(section, NULL);
        if (data == NULL || data->d_buf == NULL ||
            !init_code_read(data->d_buf, data->d_size, &found[n].code))
            continue;
        found[n++].address = header.sh_addr;
    }
    return n;
}
