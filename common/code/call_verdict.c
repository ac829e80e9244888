/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * call_verdict.c - a list of questions, of which the first that is answered with yes decides.
 */
#include "common/code/call_verdict.h"

#include <string.h>

#include "common/wire/compiler.h"

#define HOOK     "__cyg_profile_func_enter"
#define GO_NOTE  "Go"
#define TEXT_MAX UINT32_MAX

/* What the questions are about. */
struct subject {
    Elf *elf;
    GElf_Ehdr header;
    struct elf_dynamic dynamic;
    struct call_segment *segment;
};

static bool is_of_another_kind(struct subject *subject) {
    return subject->header.e_ident[EI_CLASS] != ELFCLASS64 ||
           subject->header.e_ident[EI_DATA] != ELFDATA2LSB;
}

static bool is_of_another_machine(struct subject *subject) {
    return subject->header.e_machine != EM_X86_64;
}

static bool is_static(struct subject *subject) {
    bool is_program = subject->header.e_type == ET_EXEC || subject->dynamic.is_program;
    return !subject->dynamic.is_there || (is_program && !subject->dynamic.names_loader);
}

/* ---- languages ---- */

static bool is_go_note(Elf_Data *data) {
    GElf_Nhdr note;
    size_t offset = 0, name, content;
    while (data != NULL && (offset = gelf_getnote(data, offset, &note, &name, &content)) > 0)
        if (note.n_namesz >= sizeof GO_NOTE &&
            strcmp((const char *)data->d_buf + name, GO_NOTE) == 0)
            return true;
    return false;
}

static bool is_go(struct subject *subject) {
    size_t n;
    if (elf_getphdrnum(subject->elf, &n) != 0)
        return false;
    for (size_t i = 0; i < n; i++) {
        GElf_Phdr segment;
        if (gelf_getphdr(subject->elf, (int)i, &segment) != NULL && segment.p_type == PT_NOTE &&
            segment.p_offset <= INT64_MAX &&
            is_go_note(elf_getdata_rawchunk(subject->elf, (int64_t)segment.p_offset,
                                            segment.p_filesz,
                                            segment.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR)))
            return true;
    }
    return false;
}

/* The run-time system of native code; its symbols are exported for what is loaded later. */
static bool look_for_ocaml(void *found, const char *name, uint64_t address) {
    (void)address;
    bool is_it = strcmp(name, "caml_call_gc") == 0 || strcmp(name, "caml_frametable") == 0;
    *(bool *)found = is_it;
    return !is_it;
}

static bool is_ocaml(struct subject *subject) {
    bool found = false;
    elf_defined_symbols(subject->elf, look_for_ocaml, &found);
    return found;
}

/* ---- code ---- */

/* A relocation, not a symbol, as libc defines the hooks without calling them. */
static bool look_for_hook(void *found, const Elf64_Rela *relocation, const char *symbol) {
    (void)relocation;
    *(bool *)found = strcmp(symbol, HOOK) == 0;
    return !*(bool *)found;
}

static bool has_own_hooks(struct subject *subject) {
    bool found = false;
    elf_dynamic_relocations(&subject->dynamic, look_for_hook, &found);
    return found;
}

static bool has_text_relocations(struct subject *subject) {
    return subject->dynamic.text_relocations;
}

static bool has_odd_segments(struct subject *subject) {
    size_t n, found = 0;
    if (elf_getphdrnum(subject->elf, &n) != 0)
        return true;
    for (size_t i = 0; i < n; i++) {
        GElf_Phdr segment;
        if (gelf_getphdr(subject->elf, (int)i, &segment) == NULL)
            return true;
        if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0)
            continue;
        found++;
        *subject->segment = (struct call_segment){
            .address = segment.p_vaddr, .offset = segment.p_offset, .bytes = segment.p_filesz};
        if ((segment.p_flags & PF_W) != 0 || segment.p_memsz != segment.p_filesz ||
            segment.p_filesz == 0 || segment.p_filesz > TEXT_MAX - 2 * CALL_SITES_PAGE ||
            segment.p_vaddr > UINT64_MAX / 2 || segment.p_offset > INT64_MAX / 2 ||
            (segment.p_vaddr - segment.p_offset) % CALL_SITES_PAGE != 0)
            return true;
    }
    return found != 1;
}

enum calls_verdict call_verdict_of(Elf *elf, struct call_segment *segment,
                                   struct elf_dynamic *dynamic) {
    static const struct {
        bool (*is_so)(struct subject *subject);
        enum calls_verdict verdict;
    } questions[] = {{is_of_another_kind, CALLS_MACHINE},
                     {has_own_hooks, CALLS_OWN_HOOKS}, /* on each machine */
                     {is_of_another_machine, CALLS_MACHINE},
                     {is_static, CALLS_STATIC},
                     {is_go, CALLS_GO},
                     {is_ocaml, CALLS_OCAML},
                     {has_text_relocations, CALLS_TEXT_RELOCATIONS},
                     {has_odd_segments, CALLS_SEGMENTS}};
    struct subject subject = {.elf = elf, .segment = segment};
    if (gelf_getehdr(elf, &subject.header) == NULL || !elf_dynamic_read(elf, &subject.dynamic) ||
        (subject.header.e_type != ET_EXEC && subject.header.e_type != ET_DYN))
        return CALLS_UNREADABLE;
    for (size_t i = 0; i < HCCT_ARRAY_LEN(questions); i++)
        if (questions[i].is_so(&subject))
            return questions[i].verdict;
    *dynamic = subject.dynamic;
    return CALLS_FOLLOWED;
}
