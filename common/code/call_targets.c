/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * call_targets.c - words of the GOT from relocations, functions from unwind entries, PLT entries by
 * their code.
 */
#include "common/code/call_targets.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/array_grow.h"
#include "common/wire/compiler.h"

#define PLT_ALIGN     8u /* of entries, and of the size of all */
#define ENTRY_CFA     8  /* above the stack pointer, when a function is entered */
#define SP_COLUMN     7
#define CODE_OF_JUMP  0x25ff /* jmp *disp32(%rip) */
#define BYTES_OF_JUMP 6u

/* Functions that take note of who called them, or return more than once. */
static const char *const minding_caller[] = {
    "setjmp",     "_setjmp",     "__sigsetjmp", "sigsetjmp", "__setjmp",   "savectx",
    "getcontext", "swapcontext", "vfork",       "__vfork",   "dlsym",      "dlvsym",
    "dlopen",     "dlmopen",     "mcount",      "_mcount",   "__fentry__", "dl_iterate_phdr",
};

static bool minds_caller(const char *name) {
    for (size_t i = 0; i < HCCT_ARRAY_LEN(minding_caller); i++)
        if (strcmp(name, minding_caller[i]) == 0)
            return true;
    return false;
}

/* ---- what the object says ---- */

static bool is_code(const struct call_targets *targets, uint64_t address) {
    return address >= targets->text->start && address < targets->text->end;
}

static bool is_kept(const struct call_targets *targets, uint64_t address) {
    return address >= targets->kept_from && address < targets->kept_to;
}

static void find_kept(struct call_targets *targets, Elf *elf) {
    size_t n = 0;
    elf_getphdrnum(elf, &n);
    for (size_t i = 0; i < n; i++) {
        GElf_Phdr segment;
        if (gelf_getphdr(elf, (int)i, &segment) != NULL && segment.p_type == PT_GNU_RELRO &&
            segment.p_vaddr <= UINT64_MAX - segment.p_memsz) {
            targets->kept_from = segment.p_vaddr;
            targets->kept_to = segment.p_vaddr + segment.p_memsz;
        }
    }
}

static bool take_relocation(void *arg, const Elf64_Rela *relocation, const char *symbol) {
    struct call_targets *targets = arg;
    uint64_t type = ELF64_R_TYPE(relocation->r_info), own = 0;
    if (type == R_X86_64_RELATIVE && is_kept(targets, relocation->r_offset))
        own = (uint64_t)relocation->r_addend;
    if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT && type != R_X86_64_IRELATIVE &&
        !is_code(targets, own))
        return true;
    targets->failed = !array_grow(&targets->words, targets->n_words, &targets->room_words,
                                  sizeof *targets->words);
    if (!targets->failed)
        targets->words[targets->n_words++] =
            (struct loaded_word){relocation->r_offset, own, own == 0 && minds_caller(symbol)};
    return !targets->failed;
}

static bool take_symbol(void *arg, const char *name, uint64_t address) {
    struct call_targets *targets = arg;
    if (!minds_caller(name))
        return true;
    targets->failed = !array_grow(&targets->minding, targets->n_minding, &targets->room_minding,
                                  sizeof *targets->minding);
    if (!targets->failed)
        targets->minding[targets->n_minding++] = address;
    return !targets->failed;
}

static int by_address(const void *a, const void *b) {
    const uint64_t *x = a, *y = b; /* also of a loaded_word: its first member */
    return (*x > *y) - (*x < *y);
}

bool call_targets_read(struct call_targets *targets, const struct elf_dynamic *dynamic,
                       const struct call_text *text, const struct unwind_collection *entries,
                       uint64_t entries_from) {
    *targets =
        (struct call_targets){.text = text, .entries = entries, .entries_from = entries_from};
    find_kept(targets, dynamic->elf);
    elf_dynamic_relocations(dynamic, take_relocation, targets);
    elf_defined_symbols(dynamic->elf, take_symbol, targets);
    if (targets->n_words > 0)
        qsort(targets->words, targets->n_words, sizeof *targets->words, by_address);
    if (targets->n_minding > 0)
        qsort(targets->minding, targets->n_minding, sizeof *targets->minding, by_address);
    return !targets->failed;
}

void call_targets_clear(struct call_targets *targets) {
    free(targets->words);
    free(targets->minding);
    *targets = (struct call_targets){0};
}

/* ---- unwind entries ---- */

/* The last entry that begins at `offset` or before; NULL: none. Of those that begin at the same
 * address it is the first. */
static const struct unwind_span *entry_before(const struct unwind_collection *entries,
                                              uint64_t offset) {
    size_t low = 0, high = entries->n_spans;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (entries->spans[middle].start <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    while (low > 1 && entries->spans[low - 2].start == entries->spans[low - 1].start)
        low--;
    return low > 0 ? &entries->spans[low - 1] : NULL;
}

/* Only the stack's top is between a function's caller and its first instruction; what an optimizer
 * has split off a function mostly begins with more. */
static bool begins_function(const struct unwind_collection *entries,
                            const struct unwind_span *entry) {
    const struct unwind_rule *rule = &entries->rules[entries->rows[entry->first_row].rule];
    return !entry->is_signal && rule->cfa == UNWIND_CFA_REG && rule->cfa_reg == SP_COLUMN &&
           rule->cfa_off == ENTRY_CFA && rule->ra == UNWIND_AT_CFA;
}

/* ---- PLT entries ---- */

/* The jump of a PLT entry, and its length; an endbr64 and a bnd prefix may stand before it. */
static unsigned read_jump(const struct call_text *text, uint64_t address, uint64_t *word) {
    static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
    const uint8_t *at = text->bytes + (address - text->start);
    uint64_t room = text->end - address, n = 0;
    int32_t displacement;
    uint16_t code;
    if (room >= sizeof endbr64 && memcmp(at, endbr64, sizeof endbr64) == 0)
        n = sizeof endbr64;
    if (room > n && at[n] == 0xf2)
        n++;
    if (room < n + BYTES_OF_JUMP)
        return 0;
    memcpy(&code, at + n, sizeof code);
    memcpy(&displacement, at + n + sizeof code, sizeof displacement);
    *word = address + n + BYTES_OF_JUMP + (uint64_t)(int64_t)displacement;
    return code == CODE_OF_JUMP ? (unsigned)(n + BYTES_OF_JUMP) : 0;
}

/* A function that does nothing but jump to another through the GOT is no PLT entry. Its unwind
 * entry tells: the linker's covers whole entries with their padding, a compiler's one function
 * without. */
static bool may_be_plt(const struct call_targets *targets, uint64_t address) {
    uint64_t offset = address - targets->entries_from;
    const struct unwind_span *entry = entry_before(targets->entries, offset);
    if (entry == NULL || offset >= entry->end)
        return address % PLT_ALIGN == 0;
    return (offset - entry->start) % PLT_ALIGN == 0 && (entry->end - entry->start) % PLT_ALIGN == 0;
}

static const struct loaded_word *find_word(const struct call_targets *targets, uint64_t address) {
    return targets->n_words == 0 ? NULL
                                 : bsearch(&address, targets->words, targets->n_words,
                                           sizeof *targets->words, by_address);
}

/* The word of the PLT entry at that address; NULL: there is none. No entry is made for an object's
 * own function. */
static const struct loaded_word *plt_word(const struct call_targets *targets, uint64_t address,
                                          unsigned *bytes) {
    const struct call_text *text = targets->text;
    uint64_t word;
    if (address < text->start || address >= text->end)
        return NULL;
    *bytes = read_jump(text, address, &word);
    if (*bytes == 0 || !may_be_plt(targets, address))
        return NULL;
    const struct loaded_word *found = find_word(targets, word);
    return found != NULL && found->own == 0 ? found : NULL;
}

unsigned call_target_plt(const struct call_targets *targets, uint64_t address, uint64_t *got) {
    unsigned bytes;
    const struct loaded_word *word = plt_word(targets, address, &bytes);
    if (word == NULL)
        return 0;
    *got = word->address;
    return bytes;
}

/* ---- all of them ---- */

struct call_target call_target_at(const struct call_targets *targets, uint64_t address) {
    unsigned bytes;
    const struct loaded_word *word = plt_word(targets, address, &bytes);
    if (word != NULL)
        return (struct call_target){true, word->minds_caller, word->address};
    if (address < targets->text->start || address >= targets->text->end)
        return (struct call_target){0};
    uint64_t offset = address - targets->entries_from;
    const struct unwind_span *entry = entry_before(targets->entries, offset);
    bool minds = targets->n_minding > 0 && bsearch(&address, targets->minding, targets->n_minding,
                                                   sizeof *targets->minding, by_address) != NULL;
    return (struct call_target){entry != NULL && entry->start == offset &&
                                    begins_function(targets->entries, entry),
                                minds, 0};
}

struct call_target call_target_of_word(const struct call_targets *targets, uint64_t address) {
    const struct loaded_word *word = find_word(targets, address);
    if (word == NULL)
        return (struct call_target){0};
    if (word->own == 0)
        return (struct call_target){true, word->minds_caller, address};
    struct call_target own = call_target_at(targets, word->own);
    return (struct call_target){own.is_one && own.got == 0, own.minds_caller, address};
}
