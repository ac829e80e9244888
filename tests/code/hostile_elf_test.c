/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * hostile_elf_test.c - a small program with debug information, changed in some hundred ways: what
 * becomes of it costs a name or a table, never the daemon, and the next request is answered.
 *
 * This program is its own worker. HOSTILE_VARIANTS says how many variants to try (1000), and
 * HOSTILE_FIRST the number of the first: variant n is always the same.
 */
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <libelf.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/code/elf_protocol.h"
#include "common/code/elf_worker.h"
#include "common/code/module.h"
#include "common/code/unwind_compile.h"
#include "common/wire/compiler.h"
#include "common/wire/unwind_table.h"
#include "tests/check.h"

#define VARIANTS     1000
#define PARTS_MAX    64
#define ADDRESSES    64
#define CHANGES_MAX  12 /* of one variant */
#define ENTRY_SYMBOL "outer_function"

static char directory[] = "/tmp/hostile_elf_test.XXXXXX";

/* ---- the program that is changed ---- */

struct part {
    char name[32];
    uint64_t at, bytes; /* in the file */
};

static struct {
    uint8_t *bytes;
    size_t n;
    struct part part[PARTS_MAX];
    size_t n_parts;
    uint64_t build_id_at;
    uint64_t code_at, code_bytes; /* addresses of .text */
    uint64_t entry;               /* of ENTRY_SYMBOL */
} program;

static void add_part(const char *name, uint64_t at, uint64_t bytes) {
    struct part *part = &program.part[program.n_parts];
    if (bytes == 0 || at + bytes > program.n || program.n_parts == PARTS_MAX)
        return;
    snprintf(part->name, sizeof part->name, "%s", name);
    part->at = at;
    part->bytes = bytes;
    program.n_parts++;
}

static void find_entry(Elf *elf, Elf_Scn *section, const GElf_Shdr *header) {
    Elf_Data *data = elf_getdata(section, NULL);
    GElf_Sym symbol;
    for (int i = 0; data != NULL && gelf_getsym(data, i, &symbol) != NULL; i++) {
        const char *name = elf_strptr(elf, header->sh_link, symbol.st_name);
        if (name != NULL && strcmp(name, ENTRY_SYMBOL) == 0)
            program.entry = symbol.st_value;
    }
}

/* Code and data that nobody parses are left as they are. */
static bool is_parsed(const char *name) {
    static const char *const parsed[] = {".debug_", ".eh_frame", ".note", ".symtab",  ".strtab",
                                         ".dynsym", ".dynstr",   ".gnu",  ".shstrtab"};
    for (size_t i = 0; i < HCCT_ARRAY_LEN(parsed); i++)
        if (strncmp(name, parsed[i], strlen(parsed[i])) == 0)
            return true;
    return false;
}

static void find_sections(Elf *elf) {
    size_t names;
    CHECK(elf_getshdrstrndx(elf, &names) == 0);
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section)) != NULL;) {
        GElf_Shdr header;
        gelf_getshdr(section, &header);
        const char *name = elf_strptr(elf, names, header.sh_name);
        if (name == NULL || header.sh_type == SHT_NOBITS)
            continue;
        if (is_parsed(name))
            add_part(name, header.sh_offset, header.sh_size);
        if (header.sh_type == SHT_SYMTAB)
            find_entry(elf, section, &header);
        if (strcmp(name, ".note.gnu.build-id") == 0)
            program.build_id_at = header.sh_offset + 16;
        if (strcmp(name, ".text") == 0) {
            program.code_at = header.sh_addr;
            program.code_bytes = header.sh_size;
        }
    }
}

static bool read_program(void) {
    char path[512];
    GElf_Ehdr header;
    const char *build = getenv("HCCT_BUILDDIR");
    snprintf(path, sizeof path, "%s/tests/code/hostile_target", build != NULL ? build : ".");
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat file;
    if (fd < 0 || fstat(fd, &file) != 0)
        return false;
    program.n = (size_t)file.st_size;
    program.bytes = malloc(program.n);
    bool ok = read(fd, program.bytes, program.n) == (ssize_t)program.n;
    close(fd);
    Elf *elf = elf_memory((char *)program.bytes, program.n);
    if (!ok || elf == NULL || gelf_getehdr(elf, &header) == NULL)
        return false;
    add_part("header", 0, header.e_ehsize);
    add_part("segments", header.e_phoff, (uint64_t)header.e_phnum * header.e_phentsize);
    add_part("sections", header.e_shoff, (uint64_t)header.e_shnum * header.e_shentsize);
    find_sections(elf);
    elf_end(elf);
    return program.entry != 0 && program.code_bytes != 0;
}

/* ---- variants ---- */

static uint64_t next_random(uint64_t *state) {
    *state = *state * 6364136223846793005ull + 1442695040888963407ull;
    return *state >> 33;
}

static void change(uint8_t *bytes, const struct part *part, uint64_t *state) {
    static const uint64_t numbers[] = {0,         1,          0x7f,      0x80,      0xff,
                                       INT32_MAX, UINT32_MAX, INT64_MAX, UINT64_MAX};
    uint64_t at = part->at + next_random(state) % part->bytes;
    uint64_t number = numbers[next_random(state) % HCCT_ARRAY_LEN(numbers)];
    size_t size = (size_t)1 << next_random(state) % 4;
    if (next_random(state) % 2 == 0)
        bytes[at] ^= (uint8_t)(1u << next_random(state) % 8);
    else if (at + size <= part->at + part->bytes)
        memcpy(bytes + at, &number, size);
}

static uint32_t write_module(const char *name, const uint8_t *bytes) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    CHECK(fd >= 0 && write(fd, bytes, program.n) == (ssize_t)program.n);
    close(fd);
    return module_intern_path(path);
}

/* Variant n: one part is changed in a few places, or a few parts in one. Another build-id tells it
 * from the others. */
static uint32_t make_variant(unsigned n, struct part *changed) {
    uint64_t state = n * 0x9e3779b97f4a7c15ull + 1;
    uint8_t *bytes = malloc(program.n);
    char name[32];
    memcpy(bytes, program.bytes, program.n);
    *changed = program.part[next_random(&state) % program.n_parts];
    for (uint64_t i = 1 + next_random(&state) % CHANGES_MAX; i > 0; i--)
        change(bytes, n % 4 == 0 ? &program.part[next_random(&state) % program.n_parts] : changed,
               &state);
    if (program.build_id_at != 0)
        memcpy(bytes + program.build_id_at, &n, sizeof n);
    snprintf(name, sizeof name, "variant%u", n);
    uint32_t module = write_module(name, bytes);
    free(bytes);
    return module;
}

/* ---- requests ---- */

static unsigned failures, tables;

static void check_symbols(const struct symbol *symbols, size_t n) {
    for (size_t i = 0; i < n; i++) {
        CHECK(symbols[i].n_lines > 0);
        for (uint32_t k = 0; k < symbols[i].n_lines; k++)
            CHECK(symbols[i].lines[k].name != NULL && symbols[i].lines[k].name[0] != '\0');
    }
}

/* Every other one as an entry, all over the code and one beyond. */
static void ask_symbols(struct elf_worker *worker, uint32_t module, bool names_only) {
    struct symbol_query query[ADDRESSES];
    struct symbol symbol[ADDRESSES];
    for (unsigned i = 0; i < ADDRESSES; i++)
        query[i] = (struct symbol_query){
            .address = program.code_at + program.code_bytes * i / (ADDRESSES - 1),
            .is_entry = i % 2 == 0,
        };
    query[1].address = program.entry + 3;
    failures += !(names_only ? elf_worker_names : elf_worker_symbols)(worker, module, query,
                                                                      ADDRESSES, symbol);
    check_symbols(symbol, ADDRESSES);
    for (unsigned i = 0; i < ADDRESSES; i++)
        symbol_clear(&symbol[i]);
}

static void ask_table(struct elf_worker *worker, uint32_t module) {
    size_t bytes = 0;
    void *table = elf_worker_compile(worker, module, TABLE_UNWIND, &bytes);
    if (table != NULL)
        CHECK(unwind_table_check(table, bytes));
    tables += table != NULL;
    free(table);
}

static void check_good(struct elf_worker *worker, uint32_t good) {
    const struct symbol_query query = {.address = program.entry, .is_entry = true};
    struct symbol symbol;
    CHECK(elf_worker_symbols(worker, good, &query, 1, &symbol));
    CHECK_STR(symbol.lines[0].name, ENTRY_SYMBOL);
    symbol_clear(&symbol);
}

static unsigned number_of(const char *variable, unsigned otherwise) {
    const char *text = getenv(variable);
    return text != NULL ? (unsigned)strtoul(text, NULL, 10) : otherwise;
}

static void try_variant(struct elf_worker *worker, uint32_t good, unsigned n) {
    struct part changed;
    unsigned failed = failures;
    int wrong = check_failed;
    int64_t begin = elf_now();
    uint32_t module = make_variant(n, &changed);
    ask_table(worker, module);
    ask_symbols(worker, module, true);
    ask_symbols(worker, module, false);
    double seconds = (double)(elf_now() - begin) / 1e9;
    if (failures != failed || seconds > 2 || check_failed != wrong)
        printf("variant %u (%s): %u requests failed, %d checks, %.1f s\n", n, changed.name,
               failures - failed, check_failed - wrong, seconds);
    if (failures != failed || n % 16 == 0)
        check_good(worker, good);
}

/* Functions whose names are empty have one all the same. */
static void try_empty_names(struct elf_worker *worker) {
    static const char *const names[] = {"innermost", "middle", ENTRY_SYMBOL};
    static const uint8_t own_id[] = "empty names";
    uint8_t *bytes = malloc(program.n);
    unsigned emptied = 0;
    memcpy(bytes, program.bytes, program.n);
    for (size_t i = 0; i < HCCT_ARRAY_LEN(names); i++) {
        size_t n = strlen(names[i]) + 1;
        for (uint8_t *at = bytes; (at = memmem(at, program.n - (size_t)(at - bytes), names[i], n));
             emptied++)
            *at = 0;
    }
    CHECK(emptied >= HCCT_ARRAY_LEN(names));
    if (program.build_id_at != 0)
        memcpy(bytes + program.build_id_at, own_id, sizeof own_id);
    uint32_t module = write_module("empty", bytes);
    ask_symbols(worker, module, true);
    ask_symbols(worker, module, false);
    free(bytes);
}

static void try_variants(unsigned first, unsigned n) {
    struct elf_worker *worker = elf_worker_new("/proc/self/exe");
    uint32_t good = write_module("good", program.bytes);
    check_good(worker, good);
    try_empty_names(worker);
    for (unsigned i = first; i < first + n; i++)
        try_variant(worker, good, i);
    check_good(worker, good);
    elf_worker_free(worker);
    CHECK(waitpid(-1, NULL, WNOHANG) == -1); /* no child is left behind */
    CHECK(n < VARIANTS || tables > 0);
    printf("%u variants: %u tables, %u requests failed\n", n, tables, failures);
}

int main(int argc, char **argv) {
    char command[128];
    if (argc > 1 && strcmp(argv[1], "--elf-worker") == 0)
        return elf_worker_main(3);
    unsetenv("DEBUGINFOD_URLS");
    elf_version(EV_CURRENT);
    if (mkdtemp(directory) == NULL || !read_program()) {
        fprintf(stderr, "tests/code/hostile_target is not there, or not as expected\n");
        return 1;
    }
    chmod(directory, 0755); /* the worker is another user, when we are root */
    try_variants(number_of("HOSTILE_FIRST", 1), number_of("HOSTILE_VARIANTS", VARIANTS));
    snprintf(command, sizeof command, "rm -rf %s", directory);
    CHECK(system(command) == 0);
    free(program.bytes);
    return check_report();
}
