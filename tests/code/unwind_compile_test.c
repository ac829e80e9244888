/*
 * unwind_compile_test.c - compact unwind tables against elfutils' own interpreter: each row's rule
 * and what dwarf_cfi_addrframe says for the same pc are evaluated on the same made-up registers and
 * memory, and must give the same. Then hostile files and corrupt tables.
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/compiler.h"
#include "common/unwind_table.h"
#include "daemon/code/unwind_compile.h"
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

/* ---- the comparison ---- */

static bool same_at(const struct unwind_table *table, Dwarf_CFI *cfi, uint64_t pc) {
    const struct unwind_row *row = unwind_lookup(table, pc);
    Dwarf_Frame *frame;
    bool found = dwarf_cfi_addrframe(cfi, pc, &frame) == 0;
    if (row == NULL || !found) {
        bool same = !found && (row == NULL || row->rule == UNWIND_RULE_NONE);
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
    CHECK(memcmp(data->d_buf, usual, sizeof(usual)) == 0);
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
    CHECK(table != NULL);
    if (table == NULL)
        return;
    CHECK(unwind_table_check(table, bytes));
    print_account(name, &account);
    Dwarf_CFI *cfi = dwarf_getcfi_elf(elf);
    CHECK(cfi != NULL);
    if (cfi != NULL) {
        compare_all(name, table, cfi);
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

/* ---- files that are not what they should be ---- */

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

/* Without its section table, a file must give the same table. */
static void test_without_sections(const char *image, size_t image_bytes) {
    char *copy = malloc(image_bytes);
    size_t bytes, bytes_without;
    memcpy(copy, image, image_bytes);
    void *table = compile_image(copy, image_bytes, &bytes);
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

static size_t section_offset(const char *image, const char *name, size_t *bytes) {
    const ElfW(Ehdr) *header = (const ElfW(Ehdr) *)(const void *)image;
    const ElfW(Shdr) *section = (const ElfW(Shdr) *)(const void *)(image + header->e_shoff);
    const char *names = image + section[header->e_shstrndx].sh_offset;
    for (unsigned i = 0; i < header->e_shnum; i++)
        if (strcmp(names + section[i].sh_name, name) == 0) {
            *bytes = section[i].sh_size;
            return section[i].sh_offset;
        }
    return 0;
}

/* Each variant is its own heap block, so that the address sanitizer sees a step beyond its end. */
static void test_hostile(const char *image, size_t image_bytes) {
    const int variants = 600;
    int tables = 0;
    size_t frame_bytes = 0, frame_at = section_offset(image, ".eh_frame", &frame_bytes);
    CHECK(frame_at != 0);
    for (int i = 0; i < variants; i++) {
        size_t keep = i % 4 == 0 ? next_random() % image_bytes : image_bytes, bytes;
        char *copy = malloc(keep == 0 ? 1 : keep);
        memcpy(copy, image, keep);
        for (int flips = i % 16; flips > 0 && keep > 0; flips--) {
            size_t at = next_random() % keep;
            if (i % 4 == 1) /* the ELF header and the program headers */
                at = next_random() % 0x400;
            if (i % 4 >= 2)
                at = frame_at + next_random() % frame_bytes;
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

    size_t image_bytes;
    char *image = read_whole("/lib/x86_64-linux-gnu/libgcc_s.so.1", &image_bytes);
    if (image == NULL)
        image = read_whole("/proc/self/exe", &image_bytes);
    test_without_sections(image, image_bytes);
    test_hostile(image, image_bytes);
    test_corrupt_tables(image, image_bytes);
    free(image);
    return check_report();
}
