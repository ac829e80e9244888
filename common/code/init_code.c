/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * init_code.c - the code of _init, _fini and _start: where it is, and what the stack is like in it.
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

/* aarch64's instructions. */
#define A64_BYTES         4u
#define A64_NOP           0xd503201fu
#define A64_BTI_C         0xd503245fu
#define A64_PACIASP       0xd503233fu
#define A64_AUTIASP       0xd50323bfu
#define A64_SAVE          0xa9bf7bfdu /* stp x29, x30, [sp, #-16]! */
#define A64_CHAIN         0x910003fdu /* mov x29, sp */
#define A64_LOAD          0xa8c17bfdu /* ldp x29, x30, [sp], #16 */
#define A64_RET           0xd65f03c0u
#define A64_NO_FRAME      0xd280001du                           /* mov x29, #0 */
#define A64_NO_LINK       0xd280001eu                           /* mov x30, #0 */
#define A64_IS_CALL(word) (((word)&0xfc000000u) == 0x94000000u) /* bl X */

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

static bool read_x86_64(const uint8_t *bytes, size_t n, struct init_code *code) {
    size_t at = 0;
    take(&landing, bytes, n, &at);
    if (!take(&lower, bytes, n, &at))
        return false;
    code->lowered = (uint32_t)at;
    while (!take(&raise, bytes, n, &at))
        if (!take_known(bytes, n, &at))
            return false;
    code->raised = (uint32_t)at;
    return take(&leave, bytes, n, &at) && at == n;
}

/* The instruction at *at, little endian as code always is, and goes over it. 0, which is none: the
 * end. */
static uint32_t next_a64(const uint8_t *bytes, size_t n, size_t *at) {
    const uint8_t *byte = bytes + *at;
    if (n - *at < A64_BYTES)
        return 0;
    *at += A64_BYTES;
    return (uint32_t)byte[0] | (uint32_t)byte[1] << 8 | (uint32_t)byte[2] << 16 |
           (uint32_t)byte[3] << 24;
}

#define START_WORDS_MAX 24 /* instructions of _start up to its first call */

static bool read_start(const uint8_t *bytes, size_t n, struct init_code *code) {
    size_t at = 0;
    uint32_t word = next_a64(bytes, n, &at);
    if (word == A64_NOP || word == A64_BTI_C)
        word = next_a64(bytes, n, &at);
    if (word != A64_NO_FRAME || next_a64(bytes, n, &at) != A64_NO_LINK)
        return false;
    for (unsigned i = 0; i < START_WORDS_MAX && !A64_IS_CALL(word); i++)
        word = next_a64(bytes, n, &at);
    bool calls = A64_IS_CALL(word) && A64_IS_CALL(next_a64(bytes, n, &at));
    code->end = (uint32_t)at;
    return calls;
}

bool init_code_read_start(uint16_t machine, const uint8_t *bytes, size_t n,
                          struct init_code *code) {
    *code = (struct init_code){.machine = machine, .is_start = true};
    return machine == EM_AARCH64 && read_start(bytes, n, code);
}

/* Return addresses are signed before they are saved, where they are. */
static bool read_aarch64(const uint8_t *bytes, size_t n, struct init_code *code) {
    size_t at = 0;
    uint32_t word = next_a64(bytes, n, &at);
    if (word == A64_NOP || word == A64_BTI_C || word == A64_PACIASP)
        word = next_a64(bytes, n, &at);
    if (word != A64_SAVE)
        return false;
    code->lowered = (uint32_t)at;
    if (next_a64(bytes, n, &at) != A64_CHAIN)
        return false;
    while ((word = next_a64(bytes, n, &at)) != A64_LOAD)
        if (!A64_IS_CALL(word) && word != A64_NOP)
            return false;
    code->raised = (uint32_t)at;
    word = next_a64(bytes, n, &at);
    if (word == A64_AUTIASP)
        word = next_a64(bytes, n, &at);
    return word == A64_RET && at == n;
}

bool init_code_read(uint16_t machine, const uint8_t *bytes, size_t n, struct init_code *code) {
    *code = (struct init_code){.machine = machine, .end = (uint32_t)n};
    return n <= SECTION_BYTES_MAX &&
           (machine == EM_X86_64 ? read_x86_64(bytes, n, code) : read_aarch64(bytes, n, code));
}

bool init_code_frame(const struct init_code *code, uint64_t offset, struct init_frame *frame) {
    bool lowered = offset >= code->lowered && offset < code->raised;
    if (offset >= code->end)
        return false;
    if (code->machine == EM_X86_64)
        *frame = (struct init_frame){lowered ? 2 * INIT_CODE_WORD : INIT_CODE_WORD, true, false};
    else
        *frame = (struct init_frame){lowered ? 2 * INIT_CODE_WORD : 0, lowered, lowered};
    return true;
}

/* ---- sections ---- */

/* Whether it is of one of those machines, and its header. */
static bool is_known(Elf *elf, GElf_Ehdr *file) {
    return gelf_getehdr(elf, file) != NULL && file->e_ident[EI_CLASS] == ELFCLASS64 &&
           (file->e_machine == EM_X86_64 || file->e_machine == EM_AARCH64);
}

static bool is_code(const GElf_Shdr *header) {
    const GElf_Xword needed = SHF_ALLOC | SHF_EXECINSTR;
    return header->sh_type == SHT_PROGBITS && (header->sh_flags & needed) == needed;
}

static bool is_init_or_fini(Elf *elf, size_t names, const GElf_Shdr *header) {
    const char *name = elf_strptr(elf, names, header->sh_name);
    return name != NULL && (strcmp(name, ".init") == 0 || strcmp(name, ".fini") == 0);
}

/* What there is of such code in a section. False: none. */
static bool read_section(const GElf_Ehdr *file, Elf_Scn *section, const GElf_Shdr *header,
                         bool is_whole, struct init_section *found) {
    const Elf_Data *data = elf_rawdata(section, NULL);
    uint64_t at = is_whole ? 0 : file->e_entry - header->sh_addr;
    if (data == NULL || data->d_buf == NULL || at > data->d_size)
        return false;
    const uint8_t *bytes = (const uint8_t *)data->d_buf + at;
    size_t n = data->d_size - at;
    found->address = header->sh_addr + at;
    return is_whole ? init_code_read(file->e_machine, bytes, n, &found->code)
                    : init_code_read_start(file->e_machine, bytes, n, &found->code);
}

unsigned init_code_find(Elf *elf, struct init_section found[INIT_CODES_MAX]) {
    unsigned n = 0;
    size_t names;
    GElf_Ehdr file;
    if (!is_known(elf, &file) || elf_getshdrstrndx(elf, &names) != 0)
        return 0;
    for (Elf_Scn *section = NULL;
         n < INIT_CODES_MAX && (section = elf_nextscn(elf, section)) != NULL;) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) == NULL || !is_code(&header))
            continue;
        bool is_whole = is_init_or_fini(elf, names, &header);
        if (is_whole || file.e_entry - header.sh_addr < header.sh_size)
            n += read_section(&file, section, &header, is_whole, &found[n]);
    }
    return n;
}
