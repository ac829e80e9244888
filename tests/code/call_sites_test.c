/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * call_sites_test.c - call sites of a library that has a call for each reason, verdicts, tables
 * that are corrupt, and files that are damaged.
 */
#include <fcntl.h>
#include <gelf.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/code/call_sites_compile.h"
#include "common/wire/compiler.h"
#include "tests/check.h"

#define VARIANTS 600

#if defined(__x86_64__)
#define CALLS_ARE_KNOWN 1
#else
#define CALLS_ARE_KNOWN 0
#endif

struct image {
    char *bytes;
    size_t n;
};

static struct image read_built(const char *name) {
    const char *build = getenv("HCCT_BUILDDIR");
    struct image image = {0};
    struct stat info;
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", build != NULL ? build : ".", name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &info) != 0)
        exit(99);
    image.bytes = malloc((size_t)info.st_size);
    image.n = (size_t)info.st_size;
    CHECK(read(fd, image.bytes, image.n) == (ssize_t)image.n);
    close(fd);
    return image;
}

static struct image copy_of(const struct image *image) {
    struct image copy = {malloc(image->n), image->n};
    memcpy(copy.bytes, image->bytes, image->n);
    return copy;
}

/* The table of an image, which is consistent. */
static struct call_sites *compile(const struct image *image) {
    size_t bytes = 0;
    struct call_sites *table = NULL;
    Elf *elf = elf_memory(image->bytes, image->n);
    if (elf != NULL)
        table = call_sites_compile(elf, &bytes);
    if (table != NULL)
        CHECK(call_sites_check(table, bytes));
    elf_end(elf);
    return table;
}

/* ---- symbols ---- */

static uint64_t address_of(const struct image *image, const char *name) {
    Elf *elf = elf_memory(image->bytes, image->n);
    uint64_t address = 0;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section)) != NULL;) {
        GElf_Shdr header;
        GElf_Sym symbol;
        if (gelf_getshdr(section, &header) == NULL || header.sh_type != SHT_SYMTAB)
            continue;
        for (int i = 0; gelf_getsym(elf_getdata(section, NULL), i, &symbol) != NULL; i++)
            if (strcmp(elf_strptr(elf, header.sh_link, symbol.st_name), name) == 0)
                address = symbol.st_value;
    }
    elf_end(elf);
    CHECK(address != 0);
    return address;
}

/* ---- each reason ---- */

static const struct call_site *site_at(const struct call_sites *table, uint64_t address) {
    for (uint32_t i = 0; i < table->sites; i++)
        if (table->text_start + call_sites_of(table)[i].at == address)
            return &call_sites_of(table)[i];
    return NULL;
}

static void check_site(const struct image *image, const struct call_sites *table, const char *label,
                       const char *routine, const char *target, int frame, int cfa) {
    const struct call_site *site = site_at(table, address_of(image, label));
    CHECK(site != NULL);
    if (site == NULL) {
        fprintf(stderr, "there is no site at %s\n", label);
        return;
    }
    const struct call_callee *callee = &call_sites_callees(table)[site->callee];
    CHECK_UINT(table->text_start + site->routine, address_of(image, routine));
    CHECK_UINT(site->frame, (unsigned)frame);
    CHECK(site->cfa == cfa);
    CHECK((callee->got != 0) == (target == NULL));
    if (target != NULL)
        CHECK_UINT(callee->target, address_of(image, target));
}

/* Its second byte is where a direct call of the same length has its e8. */
static void check_call_by_word(const struct image *image, const struct call_sites *table) {
    const struct call_site *site = site_at(table, address_of(image, "at_word") + 1);
    CHECK(site != NULL);
    if (site == NULL)
        return;
    const struct call_callee *callee = &call_sites_callees(table)[site->callee];
    CHECK(callee->target == 0 && callee->got != 0 && site->cfa == 16);
    CHECK_UINT(table->text_start + site->routine, address_of(image, "indirect"));
}

/* The library's own code has two calls beside those of the file: in _init, and in what the compiler
 * brings along. All numbers are told by the labels alone, so those are asked for by name. */
static void test_sites(const struct image *image, const struct call_sites *table) {
    check_site(image, table, "at_leaf", "plain", "leaf", CALL_FRAME_SP, 16);
    check_site(image, table, "at_puts", "plain", NULL, CALL_FRAME_SP, 16);
    check_site(image, table, "at_pushed", "plain", "leaf", CALL_FRAME_SP, 24);
    check_site(image, table, "at_framed", "framed", "leaf", CALL_FRAME_FP, 16);
    check_site(image, table, "at_67", "prefixed", "leaf", CALL_FRAME_SP, 16);
    check_site(image, table, "at_66_48", "prefixed", "leaf", CALL_FRAME_SP, 16);
    check_site(image, table, "at_f2", "prefixed", "leaf", CALL_FRAME_SP, 16);
    check_site(image, table, "at_kept", "minds_caller", "leaf", CALL_FRAME_SP, 16);
    check_site(image, table, "at_jumps_on", "calls_it", "jumps_on", CALL_FRAME_SP, 16);
    check_call_by_word(image, table);
}

static void test_reasons(const struct call_sites *table) {
    CHECK_UINT(table->verdict, CALLS_FOLLOWED);
    CHECK_UINT(table->left[CALL_LEFT_TARGET], 3);
    CHECK_UINT(table->left[CALL_LEFT_CALLER], 3);
    CHECK_UINT(table->left[CALL_LEFT_RULE], 3);
    CHECK_UINT(table->left[CALL_LEFT_UNDECODED], 2 + 1 + 1);
    CHECK_UINT(table->left[CALL_LEFT_TAIL], 3 + 1);
    CHECK(table->left[CALL_LEFT_INDIRECT] >= 2);
    CHECK(table->left[CALL_LEFT_NO_ENTRY] >= 6);
    CHECK_UINT(table->found[0], table->sites + 3 + 3 + 3 + 4);
    CHECK_UINT(table->found[1], 3 + 1);
}

/* What was found goes by program headers: without a section table it is the same, but for the
 * function of the library's own that takes note of its caller, whose name is gone, and the code of
 * _init. */
static void test_without_sections(const struct image *image, const struct call_sites *table) {
    struct image copy = copy_of(image);
    ElfW(Ehdr) *header = (ElfW(Ehdr) *)(void *)copy.bytes;
    header->e_shoff = 0;
    header->e_shnum = header->e_shstrndx = 0;
    struct call_sites *without = compile(&copy);
    CHECK(without != NULL);
    CHECK_UINT(without->sites, table->sites + 1);
    CHECK_UINT(without->left[CALL_LEFT_CALLER], 2);
    CHECK_UINT(without->left[CALL_LEFT_RULE], table->left[CALL_LEFT_RULE]);
    CHECK_UINT(without->found[1], table->found[1]);
    free(without);
    free(copy.bytes);
}

/* ---- verdicts ---- */

static ElfW(Phdr) * segment_of(struct image *image, uint32_t type, uint32_t flags) {
    ElfW(Ehdr) *header = (ElfW(Ehdr) *)(void *)image->bytes;
    ElfW(Phdr) *segment = (ElfW(Phdr) *)(void *)(image->bytes + header->e_phoff);
    for (unsigned i = 0; i < header->e_phnum; i++)
        if (segment[i].p_type == type && (segment[i].p_flags & flags) == flags)
            return &segment[i];
    exit(99);
}

static void set_machine(struct image *image) {
    ((ElfW(Ehdr) *)(void *)image->bytes)->e_machine = EM_AARCH64;
}

static void set_type(struct image *image) {
    ((ElfW(Ehdr) *)(void *)image->bytes)->e_type = ET_EXEC;
}

static void set_relocatable(struct image *image) {
    ((ElfW(Ehdr) *)(void *)image->bytes)->e_type = ET_REL;
}

static void drop_dynamic(struct image *image) {
    segment_of(image, PT_DYNAMIC, 0)->p_type = PT_NULL;
}

static void set_writable(struct image *image) {
    segment_of(image, PT_LOAD, PF_X)->p_flags |= PF_W;
}

static void add_executable(struct image *image) {
    segment_of(image, PT_LOAD, PF_W)->p_flags |= PF_X;
}

static void shift_text(struct image *image) {
    segment_of(image, PT_LOAD, PF_X)->p_vaddr += 16;
}

static void rename_in(struct image *image, const char *from, const char *to, size_t bytes) {
    char *at = memmem(image->bytes, image->n, from, bytes);
    for (; at != NULL; at = memmem(at + 1, image->n - (size_t)(at + 1 - image->bytes), from, bytes))
        memcpy(at, to, bytes);
}

static void be_ocaml(struct image *image) {
    rename_in(image, "cr_leaf_mark", "caml_call_gc", 13);
}

static void be_go(struct image *image) {
    const ElfW(Phdr) *note = segment_of(image, PT_NOTE, 0);
    ElfW(Nhdr) *head = (ElfW(Nhdr) *)(void *)(image->bytes + note->p_offset);
    CHECK(memcmp(head + 1, "GNU", 4) == 0);
    head->n_type = 4;
    memcpy(head + 1, "Go\0", 4);
}

static void set_flag(struct image *image, ElfW(Sxword) from, ElfW(Sxword) tag, ElfW(Xword) value) {
    const ElfW(Phdr) *dynamic = segment_of(image, PT_DYNAMIC, 0);
    ElfW(Dyn) *entry = (ElfW(Dyn) *)(void *)(image->bytes + dynamic->p_offset);
    while (entry->d_tag != from && entry->d_tag != DT_NULL)
        entry++;
    CHECK(entry->d_tag == from);
    entry->d_tag = tag;
    entry->d_un.d_val = value;
}

static void add_textrel(struct image *image) {
    set_flag(image, DT_RELACOUNT, DT_TEXTREL, 0);
}

static void add_textrel_flag(struct image *image) {
    set_flag(image, DT_RELACOUNT, DT_FLAGS, DF_TEXTREL);
}

static void be_static_pie(struct image *image) {
    set_flag(image, DT_RELACOUNT, DT_FLAGS_1, DF_1_PIE);
}

static void drop_frames(struct image *image) {
    segment_of(image, PT_GNU_EH_FRAME, 0)->p_type = PT_NULL;
    rename_in(image, ".eh_frame", ".oh_frame", 10);
}

/* Each site becomes a nop of the same length. */
static void drop_calls(struct image *image) {
    static const char nop[] = {0x0f, 0x1f, 0x44, 0x00, 0x00};
    const ElfW(Phdr) *text = segment_of(image, PT_LOAD, PF_X);
    struct call_sites *table = compile(image);
    for (uint32_t i = 0; i < table->sites; i++)
        memcpy(image->bytes + text->p_offset +
                   (table->text_start + call_sites_of(table)[i].at - text->p_vaddr),
               nop, sizeof nop);
    free(table);
}

static void test_verdicts(const struct image *image) {
    static const struct {
        void (*change)(struct image *image);
        enum calls_verdict verdict;
    } cases[] = {
        {set_machine, CALLS_MACHINE},
        {set_type, CALLS_STATIC},
        {be_static_pie, CALLS_STATIC},
        {set_relocatable, CALLS_UNREADABLE},
        {drop_dynamic, CALLS_STATIC},
        {set_writable, CALLS_SEGMENTS},
        {add_executable, CALLS_SEGMENTS},
        {shift_text, CALLS_SEGMENTS},
        {be_ocaml, CALLS_OCAML},
        {be_go, CALLS_GO},
        {add_textrel, CALLS_TEXT_RELOCATIONS},
        {add_textrel_flag, CALLS_TEXT_RELOCATIONS},
        {drop_frames, CALLS_NO_ENTRIES},
        {drop_calls, CALLS_NO_SITES},
    };
    for (size_t i = 0; i < HCCT_ARRAY_LEN(cases); i++) {
        struct image copy = copy_of(image);
        cases[i].change(&copy);
        struct call_sites *table = compile(&copy);
        CHECK(table != NULL);
        if (table->verdict != cases[i].verdict)
            fprintf(stderr, "change %zu:\n", i);
        CHECK_UINT(table->verdict, cases[i].verdict);
        CHECK(table->sites == 0);
        free(table);
        free(copy.bytes);
    }
}

static void test_others(void) {
    static const struct {
        const char *name;
        enum calls_verdict verdict;
    } files[] = {{"tests/client/libcalled.so", CALLS_OWN_HOOKS},
                 {"tests/client/instrumented_target", CALLS_OWN_HOOKS},
                 {"tests/client/static_target", CALLS_STATIC}};
    for (size_t i = 0; i < HCCT_ARRAY_LEN(files); i++) {
        struct image image = read_built(files[i].name);
        struct call_sites *table = compile(&image);
        CHECK(table != NULL);
        CHECK_UINT(table->verdict, files[i].verdict);
        free(table);
        free(image.bytes);
    }
}

/* ---- corrupt tables ---- */

#define CORRUPTION(name, statement)                                                                \
    static void name(struct call_sites *table, struct call_site *site,                             \
                     struct call_callee *callee) {                                                 \
        (void)table, (void)site, (void)callee;                                                     \
        statement;                                                                                 \
    }

CORRUPTION(bad_magic, table->magic++)
CORRUPTION(bad_bytes, table->bytes++)
CORRUPTION(bad_start, table->text_start++)
CORRUPTION(far_start, table->text_start = UINT64_MAX - 4095)
CORRUPTION(bad_text, table->text_bytes++)
CORRUPTION(long_text, table->text_bytes = 1ull << 40)
CORRUPTION(bad_offset, table->file_offset++)
CORRUPTION(bad_verdict, table->verdict = CALLS_VERDICTS)
CORRUPTION(no_verdict, table->verdict = CALLS_UNSAID)
CORRUPTION(refused, table->verdict = CALLS_GO)
CORRUPTION(no_sites, table->sites = 0)
CORRUPTION(many_sites, table->sites = UINT32_MAX)
CORRUPTION(bad_sites_off, table->sites_off = UINT64_MAX - 3)
CORRUPTION(odd_sites_off, table->sites_off++)
CORRUPTION(bad_callees, table->callees = UINT32_MAX)
CORRUPTION(few_callees, table->callees = 1)
CORRUPTION(bad_callees_off, table->callees_off = table->bytes)
CORRUPTION(bad_order, site[1].at = site[0].at)
CORRUPTION(overlap, site[1].at = site[0].at + 4)
CORRUPTION(beyond, site[table->sites - 1].at = (uint32_t)table->text_bytes - 4)
CORRUPTION(bad_routine, site[2].routine = site[2].at + 1)
CORRUPTION(bad_callee, site[2].callee = table->callees)
CORRUPTION(bad_frame, site[2].frame = 2)
CORRUPTION(bad_target, callee[1].target = table->text_start - 1)
CORRUPTION(far_target, callee[1].target = table->text_start + table->text_bytes)

static void (*const corruptions[])(struct call_sites *, struct call_site *,
                                   struct call_callee *) = {
    bad_magic,     bad_bytes,     bad_start,   far_start,   bad_text,        long_text, bad_offset,
    bad_verdict,   no_verdict,    refused,     no_sites,    many_sites,      overlap,   beyond,
    bad_sites_off, odd_sites_off, bad_callees, few_callees, bad_callees_off, bad_order, bad_routine,
    bad_callee,    bad_frame,     bad_target,  far_target};

static void test_corrupt(const struct call_sites *table) {
    CHECK(!call_sites_check(table, 0));
    CHECK(!call_sites_check(table, table->bytes - 1));
    for (size_t i = 0; i < HCCT_ARRAY_LEN(corruptions); i++) {
        struct call_sites *copy = malloc(table->bytes);
        memcpy(copy, table, table->bytes);
        char *base = (char *)copy;
        corruptions[i](copy, (void *)(base + copy->sites_off), (void *)(base + copy->callees_off));
        if (call_sites_check(copy, table->bytes))
            fprintf(stderr, "corruption %zu was not noticed\n", i);
        CHECK(!call_sites_check(copy, table->bytes));
        free(copy);
    }
}

/* ---- damaged files ---- */

static uint64_t random_state = 42;

static uint64_t next_random(void) {
    random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
    return random_state >> 33;
}

/* Each variant is its own heap block, so that the address sanitizer sees a step beyond its end. */
static void test_hostile(const struct image *image) {
    int followed = 0;
    for (int i = 0; i < VARIANTS; i++) {
        struct image copy = copy_of(image);
        size_t keep = i % 4 == 0 ? 1 + next_random() % image->n : image->n;
        size_t range = i % 4 == 1 ? 0x1400 : keep; /* headers, symbols, relocations */
        copy.bytes = realloc(copy.bytes, keep);
        copy.n = keep;
        for (int flips = i % 32; flips > 0; flips--)
            copy.bytes[next_random() % (range < keep ? range : keep)] ^=
                (char)(1 << next_random() % 8);
        struct call_sites *table = compile(&copy);
        followed += table != NULL && table->verdict == CALLS_FOLLOWED;
        free(table);
        free(copy.bytes);
    }
    printf("damaged files: calls of %d of %d could be followed\n", followed, VARIANTS);
    CHECK(followed > 0 && followed < VARIANTS);
}

static void test_known(void) {
    struct image image = read_built("tests/code/call_reasons.so");
    struct call_sites *table = compile(&image);
    CHECK(table != NULL);
    test_sites(&image, table);
    test_reasons(table);
    test_without_sections(&image, table);
    test_verdicts(&image);
    test_others();
    test_corrupt(table);
    test_hostile(&image);
    free(table);
    free(image.bytes);
}

static void check_verdict(const char *path, unsigned verdict) {
    struct image image = read_built(path);
    struct call_sites *table = compile(&image);
    CHECK(table != NULL);
    CHECK_UINT(table->verdict, verdict);
    free(table);
    free(image.bytes);
}

/* On another machine the verdict says so, but of what reports its calls itself. */
static void test_unknown(void) {
    check_verdict("tests/targets/other_build.so", CALLS_MACHINE);
    check_verdict("tests/client/libcalled.so", CALLS_OWN_HOOKS);
}

int main(void) {
    elf_version(EV_CURRENT);
    if (CALLS_ARE_KNOWN)
        test_known();
    else
        test_unknown();
    return check_report();
}
