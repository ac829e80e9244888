/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * unwind_compile_test.c - compact unwind tables against elfutils' own interpreter: each row's rule
 * and what dwarf_cfi_addrframe says for the same pc are evaluated on the same made-up registers and
 * memory, and must give the same. The code of _init and _fini, of which that says nothing, is held
 * against its bytes.
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "common/code/unwind_compile.h"
#include "common/code/unwind_rule.h"
#include "common/wire/arch.h"
#include "common/wire/compiler.h"
#include "common/wire/unwind_table.h"
#include "tests/check.h"

#if defined(__x86_64__)
enum { FP_COLUMN = 6, SP_COLUMN = 7, RA_COLUMN = 16 };
#else
enum { FP_COLUMN = 29, SP_COLUMN = 31, RA_COLUMN = 30 };
#endif

#define ROWS_COMPARED 20000 /* of one module; larger ones are sampled at a fixed stride */

/* ---- a machine state that never was ---- */

static uint64_t mix(uint64_t x) {
    x = (x ^ x >> 31) * 0x9e3779b97f4a7c15ull;
    return x ^ x >> 29;
}

static uint64_t made_up_register(unsigned reg, uint64_t pc) {
    return reg == 16 ? pc : mix(reg + 1) & 0x7ffffffffff0ull;
}

static uint64_t made_up_word(uint64_t address) {
    return mix(address + 0x1234567);
}

/* What a frame turns out to be. `_at`: the address where the value is saved. */
struct outcome {
    bool known;
    uint64_t cfa;
    bool ra_undefined, ra_same;
    uint64_t ra_at;
    bool fp_known, fp_same;
    uint64_t fp_at;
};

/* ---- elfutils' view ---- */

/* Evaluates a DWARF expression. False: an operation that this does not know. */
static bool evaluate(const Dwarf_Op *ops, size_t n, uint64_t pc, uint64_t cfa, uint64_t *value) {
    uint64_t stack[64] = {0};
    size_t top = 0; /* stack[top] is the topmost; stack[0] is below all */
    for (size_t i = 0; i < n; i++) {
        uint8_t op = ops[i].atom;
        uint64_t a = ops[i].number, b = ops[i].number2;
        if (top < 1 && (op == DW_OP_deref || op == DW_OP_plus_uconst))
            return false;
        if (top + 1 == HCCT_ARRAY_LEN(stack))
            return false;
        if (op >= DW_OP_breg0 && op <= DW_OP_breg31)
            stack[++top] = made_up_register(op - DW_OP_breg0, pc) + a;
        else if (op == DW_OP_bregx)
            stack[++top] = made_up_register((unsigned)a, pc) + b;
        else if (op >= DW_OP_lit0 && op <= DW_OP_lit31)
            stack[++top] = op - DW_OP_lit0;
        else if (op == DW_OP_call_frame_cfa)
            stack[++top] = cfa;
        else if (op == DW_OP_deref)
            stack[top] = made_up_word(stack[top]);
        else if (op == DW_OP_plus_uconst)
            stack[top] += a;
        else if (top < 2)
            return false;
        else if (op == DW_OP_and)
            top--, stack[top] &= stack[top + 1];
        else if (op == DW_OP_plus)
            top--, stack[top] += stack[top + 1];
        else if (op == DW_OP_ge)
            top--, stack[top] = (int64_t)stack[top] >= (int64_t)stack[top + 1];
        else if (op == DW_OP_shl)
            top--, stack[top] <<= stack[top + 1];
        else
            return false;
    }
    *value = stack[top];
    return top == 1;
}

static void reference_registers(Dwarf_Frame *frame, uint64_t pc, struct outcome *out) {
    Dwarf_Op memory[3], *ops;
    size_t n;
    if (dwarf_frame_register(frame, RA_COLUMN, memory, &ops, &n) != 0)
        return;
    out->ra_undefined = n == 0 && ops == memory;
    out->ra_same = n == 0 && ops == NULL;
    out->known = n == 0 || (ops[n - 1].atom != DW_OP_stack_value &&
                            evaluate(ops, n, pc, out->cfa, &out->ra_at));
    if (dwarf_frame_register(frame, FP_COLUMN, memory, &ops, &n) != 0)
        return;
    out->fp_same = n == 0 && ops == NULL;
    out->fp_known = out->fp_same || (n > 0 && ops[n - 1].atom != DW_OP_stack_value &&
                                     evaluate(ops, n, pc, out->cfa, &out->fp_at));
}

static struct outcome reference(Dwarf_Frame *frame, uint64_t pc) {
    struct outcome out = {.known = false};
    Dwarf_Op *ops;
    size_t n;
    if (dwarf_frame_cfa(frame, &ops, &n) == 0 && evaluate(ops, n, pc, 0, &out.cfa))
        reference_registers(frame, pc, &out);
    return out;
}

/* ---- the table's view ---- */

static struct outcome of_rule(const struct unwind_rule *rule, uint64_t pc) {
    struct outcome out = {.known = rule->cfa != UNWIND_CFA_NONE && rule->cfa != UNWIND_CFA_RICH};
    uint64_t base = made_up_register(rule->cfa_reg, pc) + (uint64_t)(int64_t)rule->cfa_off;
    if (rule->cfa == UNWIND_CFA_REG)
        out.cfa = base;
    else if (rule->cfa == UNWIND_CFA_DEREF)
        out.cfa = made_up_word(base) + (uint64_t)(int64_t)rule->cfa_add;
    else if (rule->cfa == UNWIND_CFA_PLT)
        out.cfa =
            made_up_register(SP_COLUMN, pc) + 8 + ((pc & 15) >= (uint64_t)rule->cfa_off ? 8 : 0);
    out.ra_undefined = rule->ra == UNWIND_UNDEFINED;
    out.ra_same = rule->ra == UNWIND_SAME;
    out.ra_at = out.cfa + (uint64_t)(int64_t)rule->ra_off;
    out.fp_same = rule->fp == UNWIND_SAME;
    out.fp_known = rule->fp != UNWIND_UNDEFINED;
    out.fp_at = (rule->fp == UNWIND_AT_REG ? made_up_register(FP_COLUMN, pc) : out.cfa) +
                (uint64_t)(int64_t)rule->fp_off;
    return out;
}

static bool same_outcome(const struct outcome *a, const struct outcome *b) {
    if (a->ra_undefined || b->ra_undefined)
        return a->ra_undefined == b->ra_undefined;
    if (a->cfa != b->cfa || a->ra_same != b->ra_same || a->fp_same != b->fp_same ||
        a->fp_known != b->fp_known)
        return false;
    return (a->ra_same || a->ra_at == b->ra_at) &&
           (!a->fp_known || a->fp_same || a->fp_at == b->fp_at);
}

/* ---- the code of _init and _fini, which has no entry ---- */

/* Of the sections .init and .fini of the file that is being compared. */
static struct init_bounds { uint64_t start, lowered, raised, end; } init[2];
static unsigned n_init, init_rows; /* rows that were compared */

#if ARCH_HAS_LINK
#define LOWERS "\xfd\x7b\xbf\xa9" /* stp x29, x30, [sp, #-16]! */
#define RAISES "\xfd\x7b\xc1\xa8" /* ldp x29, x30, [sp], #16 */

static struct outcome init_outcome(uint64_t sp, bool is_low) {
    return is_low
               ? (struct outcome){.known = true,
                                  .cfa = sp + 16,
                                  .ra_at = sp + 8,
                                  .fp_known = true,
                                  .fp_at = sp}
               : (struct outcome){
                     .known = true, .cfa = sp, .ra_same = true, .fp_known = true, .fp_same = true};
}
#else
#define LOWERS "\x48\x83\xec\x08" /* sub $8, %rsp */
#define RAISES "\x48\x83\xc4\x08" /* add $8, %rsp */

static struct outcome init_outcome(uint64_t sp, bool is_low) {
    uint64_t cfa = sp + (is_low ? 16 : 8);
    return (struct outcome){
        .known = true, .cfa = cfa, .ra_at = cfa - 8, .fp_known = true, .fp_same = true};
}
#endif

/* Where the bytes of an instruction end that is in the section once. */
static uint64_t after_only(const GElf_Shdr *header, const Elf_Data *data, const char bytes[4]) {
    const char *at = memmem(data->d_buf, data->d_size, bytes, 4);
    CHECK(at != NULL);
    return at != NULL ? header->sh_addr + (uint64_t)(at + 4 - (char *)data->d_buf) : 0;
}

static void find_init(Elf *elf) {
    GElf_Ehdr file;
    size_t names;
    n_init = 0;
    if (gelf_getehdr(elf, &file) == NULL || elf_getshdrstrndx(elf, &names) != 0)
        return;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section)) != NULL;) {
        GElf_Shdr header;
        gelf_getshdr(section, &header);
        const char *name = elf_strptr(elf, names, header.sh_name);
        if (n_init == HCCT_ARRAY_LEN(init) ||
            (strcmp(name, ".init") != 0 && strcmp(name, ".fini") != 0))
            continue;
        const Elf_Data *data = elf_rawdata(section, NULL);
        init[n_init++] = (struct init_bounds){
            .start = header.sh_addr,
            .lowered = after_only(&header, data, LOWERS),
            .raised = after_only(&header, data, RAISES),
            .end = header.sh_addr + header.sh_size,
        };
    }
}

static bool same_in_init(const struct unwind_table *table, const struct unwind_row *row,
                         uint64_t pc) {
    for (unsigned i = 0; i < n_init; i++) {
        if (pc < init[i].start || pc >= init[i].end)
            continue;
        bool is_low = pc >= init[i].lowered && pc < init[i].raised;
        struct outcome want = init_outcome(made_up_register(SP_COLUMN, pc), is_low);
        struct outcome got = of_rule(&unwind_rules(table)[row->rule], pc);
        init_rows++;
        return got.known && unwind_routine(table, row) == init[i].start &&
               same_outcome(&want, &got);
    }
    return row->rule == UNWIND_RULE_NONE;
}

static void check_init(const struct unwind_table *table) {
    unsigned different = 0;
    for (unsigned i = 0; i < n_init; i++)
        for (uint64_t pc = init[i].start; pc < init[i].end; pc++) {
            const struct unwind_row *row = unwind_lookup(table, pc);
            different += row == NULL || !same_in_init(table, row, pc);
        }
    CHECK_UINT(different, 0);
}

/* ---- the comparison ---- */

static bool same_at(const struct unwind_table *table, Dwarf_CFI *cfi, uint64_t pc) {
    const struct unwind_row *row = unwind_lookup(table, pc);
    Dwarf_Frame *frame;
    bool found = dwarf_cfi_addrframe(cfi, pc, &frame) == 0;
    if (row == NULL || !found) {
        bool same = !found && (row == NULL || same_in_init(table, row, pc));
        if (found)
            free(frame);
        return same;
    }
    const struct unwind_rule *rule = &unwind_rules(table)[row->rule];
    Dwarf_Addr start, end;
    bool is_signal;
    dwarf_frame_info(frame, &start, &end, &is_signal);
    struct outcome want = reference(frame, pc), got = of_rule(rule, pc);
    free(frame);
    if (pc < start || pc >= end)
        return false;
    if (is_signal || rule->cfa == UNWIND_CFA_SIGNAL)
        return is_signal && rule->cfa == UNWIND_CFA_SIGNAL;
    if (!got.known) /* too rich; how many there are is checked elsewhere */
        return true;
    return same_outcome(&want, &got);
}

static void compare_all(const char *name, const struct unwind_table *table, Dwarf_CFI *cfi) {
    const struct unwind_row *rows = unwind_rows(table);
    uint32_t stride = table->rows / ROWS_COMPARED + 1;
    unsigned different = 0;
    for (uint32_t i = 0; i < table->rows; i += stride) {
        uint64_t pc = table->text_start + rows[i].pc;
        uint64_t after = i + 1 < table->rows ? rows[i + 1].pc : table->text_span;
        if (!same_at(table, cfi, pc) || !same_at(table, cfi, table->text_start + after - 1)) {
            if (different++ < 5)
                fprintf(stderr, "%s: rule at %#" PRIx64 " differs\n", name, pc);
        }
    }
    CHECK_UINT(different, 0);
    CHECK(unwind_lookup(table, table->text_start - 1) == NULL);
    CHECK(unwind_lookup(table, table->text_start + table->text_span) == NULL);
}

/* The linker's own search table, in .eh_frame_hdr, names the start of each entry. */
static void compare_starts(const struct unwind_table *table, Elf *elf) {
    size_t n_segments = 0;
    GElf_Phdr segment = {0};
    elf_getphdrnum(elf, &n_segments);
    for (size_t i = 0; i < n_segments && segment.p_type != PT_GNU_EH_FRAME; i++)
        gelf_getphdr(elf, (int)i, &segment);
    Elf_Data *data =
        elf_getdata_rawchunk(elf, (int64_t)segment.p_offset, segment.p_filesz, ELF_T_BYTE);
    CHECK(segment.p_type == PT_GNU_EH_FRAME && data != NULL);
    if (data == NULL)
        return;
    const uint8_t usual[] = {1, DW_EH_PE_pcrel | DW_EH_PE_sdata4, DW_EH_PE_udata4,
                             DW_EH_PE_datarel | DW_EH_PE_sdata4};
    CHECK(memcmp(data->d_buf, usual, sizeof usual) == 0);
    const int32_t *word = (const int32_t *)data->d_buf + 2;
    unsigned n = (unsigned)*word++, different = 0;
    for (unsigned i = 0; i < n; i++) {
        uint64_t start = segment.p_vaddr + (uint64_t)(int64_t)word[2 * i];
        const struct unwind_row *row = unwind_lookup(table, start);
        different += row == NULL || row->back != 0 || unwind_routine(table, row) != start;
    }
    CHECK(n > 0);
    CHECK_UINT(different, 0);
}

static void print_account(const char *name, const struct unwind_account *account) {
    static const char *const why[UNWIND_LACKS] = {"frame address", "return address", "rules full",
                                                  "broken program", "entry"};
    uint64_t lacking = 0;
    printf("%s: %" PRIu64 " entries, %" PRIu64 " rows", name, account->entries, account->rows);
    for (int i = 0; i < UNWIND_LACKS; i++) {
        lacking += account->lack[i];
        if (account->lack[i] > 0)
            printf(", without a rule (%s): %" PRIu64, why[i], account->lack[i]);
    }
    printf("\n");
    CHECK(lacking * 100 <= account->rows); /* a rule for at least 99 % */
}

static void test_elf(const char *name, Elf *elf) {
    size_t bytes = 0;
    struct unwind_account account;
    struct unwind_table *table = unwind_compile(elf, &bytes, &account);
    CHECK(table != NULL || strcmp(name, "vdso") == 0); /* aarch64's has no entries */
    if (table == NULL)
        return;
    CHECK(unwind_table_check(table, bytes));
    print_account(name, &account);
    Dwarf_CFI *cfi = dwarf_getcfi_elf(elf);
    CHECK(cfi != NULL);
    find_init(elf);
    if (cfi != NULL) {
        compare_all(name, table, cfi);
        check_init(table);
        compare_starts(table, elf);
        dwarf_cfi_end(cfi);
    }
    free(table);
}

static void test_file(const char *path, bool must_exist) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        CHECK(!must_exist);
        return;
    }
    Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    CHECK(elf != NULL);
    test_elf(path, elf);
    elf_end(elf);
    close(fd);
}

static void test_vdso(void) {
    char *image = (char *)getauxval(AT_SYSINFO_EHDR);
    if (image == NULL)
        return;
    const ElfW(Ehdr) *header = (const ElfW(Ehdr) *)(const void *)image;
    Elf *elf = elf_memory(image, header->e_shoff + header->e_shnum * header->e_shentsize);
    CHECK(elf != NULL);
    test_elf("vdso", elf);
    elf_end(elf);
}

/* Of the dynamic linker's entry on aarch64: the return address was pushed before its frame begins.
 */
static void test_links(void) {
    const struct cfi_state state = {.cfa = {.how = CFI_OFFSET, .reg = 31, .offset = 208},
                                    .ra = {.how = CFI_OFFSET, .offset = 8},
                                    .eh = {.how = CFI_OFFSET, .offset = -144}};
    struct unwind_rule rule;
    enum unwind_lack lack;
    CHECK(unwind_rule_of(unwind_machine(EM_AARCH64), &state, &rule, &lack));
    CHECK(rule.cfa == UNWIND_CFA_REG && rule.cfa_reg == 31 && rule.cfa_off == 224);
    CHECK(rule.ra == UNWIND_AT_CFA && rule.ra_off == -8 && rule.fp == UNWIND_SAME);
}

int main(void) {
    static const char *const files[] = {
        "/proc/self/exe",
        "/lib/x86_64-linux-gnu/libc.so.6",
        "/lib64/ld-linux-x86-64.so.2",
        "/lib/x86_64-linux-gnu/libm.so.6",
        "/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
        "/usr/lib/x86_64-linux-gnu/libcrypto.so.3",
        "/lib/aarch64-linux-gnu/libc.so.6",
        "/usr/bin/python3.11",
    };
    elf_version(EV_CURRENT);
    for (size_t i = 0; i < HCCT_ARRAY_LEN(files); i++)
        test_file(files[i], i == 0);
    test_vdso();
    test_links();
#if defined(__x86_64__)
    CHECK(init_rows > 0); /* of this program, if of no other */
#endif
    return check_report();
}
