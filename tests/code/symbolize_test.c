/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * symbolize_test.c - names, inlined calls and lines of small programs built here, against binutils'
 * addr2line; then the same programs stripped in the ways that distributions strip theirs.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/code/symbolize.h"
#include "common/wire/compiler.h"
#include "tests/check.h"

#define ADDRESSES_MAX 400
#define STEP          5 /* bytes between the addresses that are asked for */

static char directory[] = "/tmp/symbolize_test.XXXXXX";
static const char *source_directory = ".";

/* Runs a shell command. False when it fails, which is a missing tool. */
__attribute__((format(printf, 1, 2))) static bool run(const char *format, ...) {
    char command[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(command, sizeof command, format, arguments);
    va_end(arguments);
    return system(command) == 0;
}

/* ---- addresses of a program's own functions ---- */

struct addresses {
    uint64_t at[ADDRESSES_MAX];
    size_t n;
};

/* All functions whose name has `pattern` in it, sampled. */
static void collect(const char *program, const char *pattern, struct addresses *into) {
    char command[1024], line[4096];
    uint64_t start, bytes;
    snprintf(command, sizeof command, "nm -S %s/%s | grep -i ' [tw] ' | grep -E '%s'", directory,
             program, pattern);
    into->n = 0;
    FILE *symbols = popen(command, "r");
    while (symbols != NULL && fgets(line, sizeof line, symbols) != NULL)
        if (sscanf(line, "%" SCNx64 " %" SCNx64, &start, &bytes) == 2)
            for (uint64_t at = start; at < start + bytes && into->n < ADDRESSES_MAX; at += STEP)
                into->at[into->n++] = at;
    if (symbols != NULL)
        pclose(symbols);
    CHECK(into->n > 3);
}

/* ---- what addr2line says ---- */

struct expected {
    uint32_t n;
    char name[16][2048];
    char place[16][2048]; /* "file:line" */
};

/* addr2line leaves "/./" in paths. */
static void tidy(char *path) {
    for (char *dot; (dot = strstr(path, "/./")) != NULL;)
        memmove(dot, dot + 2, strlen(dot + 2) + 1);
}

/* The next address's lines of `addr2line -a -i -f -C`: the address, then pairs of lines. `line`
 * holds the line that was read last. */
static bool next_expected(FILE *from, char *line, size_t room, struct expected *expected) {
    expected->n = 0;
    if (strncmp(line, "0x", 2) != 0)
        return false;
    while (fgets(line, (int)room, from) != NULL && strncmp(line, "0x", 2) != 0) {
        uint32_t i = expected->n;
        line[strcspn(line, "\n")] = '\0';
        snprintf(expected->name[i], sizeof expected->name[i], "%.2000s", line);
        if (fgets(line, (int)room, from) == NULL)
            break;
        line[strcspn(line, " \n")] = '\0'; /* a discriminator may follow */
        snprintf(expected->place[i], sizeof expected->place[i], "%.2000s", line);
        tidy(expected->place[i]);
        if (expected->n + 1 < HCCT_ARRAY_LEN(expected->name))
            expected->n++;
    }
    if (feof(from))
        line[0] = '\0';
    return true;
}

static bool same_line(const struct symbol_line *line, const char *name, const char *place,
                      bool is_last) {
    char got[2100];
    snprintf(got, sizeof got, "%s:%u", line->file != NULL ? line->file : "??", line->line);
    if (place[0] != '?' && strchr(place, '?') == NULL && strcmp(got, place) != 0)
        return false;
    /* Of a function that is local to its file, addr2line may know the plain name only. */
    return is_last ? strstr(line->name, name) != NULL : strcmp(line->name, name) == 0;
}

static bool same_symbol(const struct symbol *symbol, const struct expected *expected) {
    if (symbol->n_lines != expected->n)
        return false;
    for (uint32_t i = 0; i < symbol->n_lines; i++)
        if (!same_line(&symbol->lines[i], expected->name[i], expected->place[i],
                       i + 1 == expected->n))
            return false;
    return true;
}

static void print_difference(uint64_t address, const struct symbol *symbol,
                             const struct expected *expected) {
    fprintf(stderr, "%#" PRIx64 ":\n", address);
    for (uint32_t i = 0; i < symbol->n_lines; i++)
        fprintf(stderr, "  got  %s %s:%u\n", symbol->lines[i].name, symbol->lines[i].file,
                symbol->lines[i].line);
    for (uint32_t i = 0; i < expected->n; i++)
        fprintf(stderr, "  want %s %s\n", expected->name[i], expected->place[i]);
}

static struct symbolizer *open_program(const char *program) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", directory, program);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    CHECK(fd >= 0);
    return fd >= 0 ? symbolizer_new(fd, path) : NULL;
}

/* Each address of `program` resolves as addr2line resolves it in `reference`. */
static void compare(const char *program, const char *reference, const struct addresses *addresses) {
    static struct expected expected;
    char command[ADDRESSES_MAX * 12 + 600], line[8192] = "";
    unsigned different = 0, inlined = 0;
    struct symbolizer *symbolizer = open_program(program);
    int used =
        snprintf(command, sizeof command, "addr2line -a -C -f -i -e %s/%s", directory, reference);
    for (size_t i = 0; i < addresses->n; i++)
        used +=
            snprintf(command + used, sizeof command - (size_t)used, " %" PRIx64, addresses->at[i]);
    FILE *answers = popen(command, "r");
    CHECK(symbolizer != NULL && answers != NULL && fgets(line, sizeof line, answers) != NULL);
    for (size_t i = 0; symbolizer != NULL && i < addresses->n; i++) {
        struct symbol_query query = {.address = addresses->at[i]};
        struct symbol symbol;
        CHECK(next_expected(answers, line, sizeof line, &expected));
        CHECK(symbolizer_resolve(symbolizer, &query, &symbol));
        inlined += symbol.n_lines > 1;
        if (!same_symbol(&symbol, &expected) && different++ < 3)
            print_difference(addresses->at[i], &symbol, &expected);
        symbol_clear(&symbol);
    }
    printf("%s: %zu addresses, %u in inlined code\n", program, addresses->n, inlined);
    CHECK_UINT(different, 0);
    CHECK(inlined > 0);
    pclose(answers);
    symbolizer_free(symbolizer);
}

/* ---- single names ---- */

static struct symbol resolve(struct symbolizer *symbolizer, uint64_t address, bool is_entry) {
    struct symbol_query query = {.address = address, .is_entry = is_entry};
    struct symbol symbol = {0};
    CHECK(symbolizer_resolve(symbolizer, &query, &symbol));
    return symbol;
}

/* 0: no such symbol. */
static uint64_t address_of(const char *path, const char *nm_options, const char *name) {
    char command[1024];
    uint64_t address = 0;
    snprintf(command, sizeof command, "nm %s %s | grep -E ' %s$'", nm_options, path, name);
    FILE *symbols = popen(command, "r");
    CHECK(symbols != NULL);
    if (symbols == NULL)
        return 0;
    if (fscanf(symbols, "%" SCNx64, &address) != 1)
        address = 0;
    pclose(symbols);
    return address;
}

/* The line of the source on which `text` is. */
static unsigned line_of(const char *text) {
    char path[512], line[1024];
    unsigned number = 0;
    snprintf(path, sizeof path, "%s/tests/code/inlined.c", source_directory);
    FILE *source = fopen(path, "re");
    CHECK(source != NULL);
    while (source != NULL && fgets(line, sizeof line, source) != NULL) {
        number++;
        if (strstr(line, text) != NULL)
            break;
    }
    if (source != NULL)
        fclose(source);
    return number;
}

static uint64_t address_in(const char *program, const char *name) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", directory, program);
    return address_of(path, "", name);
}

static void check_entry(const char *program, uint64_t address, const char *name,
                        const char *system_name, unsigned line) {
    struct symbolizer *symbolizer = open_program(program);
    struct symbol symbol = resolve(symbolizer, address, true);
    CHECK_UINT(symbol.n_lines, 1);
    CHECK_STR(symbol.lines[0].name, name);
    CHECK_STR(symbol.lines[0].system_name, system_name);
    CHECK_UINT(symbol.lines[0].line, line);
    CHECK_UINT(symbol.lines[0].start_line, line);
    CHECK((symbol.lines[0].file != NULL) == (line != 0));
    symbol_clear(&symbol);
    symbolizer_free(symbolizer);
}

/* The part that gcc splits off a function; then without any symbols: one name for the whole
 * routine, from its unwind entry, for its entry and for an address within. */
static void test_names(void) {
    uint64_t whole = address_in("inlined", "outer_function");
    uint64_t cold = address_in("inlined", "with_cold_part.cold");
    unsigned line = line_of("unsigned outer_function(unsigned");
    char by_address[64];
    check_entry("inlined", whole, "outer_function", "outer_function", line);
    if (cold != 0) /* clang leaves such functions whole */
        check_entry("inlined", cold, "with_cold_part", "with_cold_part.cold",
                    line_of("unsigned with_cold_part(unsigned"));
    check_entry("inlined.linked", whole, "outer_function", "outer_function", line);
    snprintf(by_address, sizeof by_address, "inlined.stripped+0x%" PRIx64, whole);
    check_entry("inlined.stripped", whole, by_address, by_address, 0);
    struct symbolizer *symbolizer = open_program("inlined.stripped");
    struct symbol symbol = resolve(symbolizer, whole + 11, false);
    CHECK_STR(symbol.lines[0].name, by_address);
    symbol_clear(&symbol);
    symbolizer_free(symbolizer);
    /* What a program exports keeps its name. */
    check_entry("inlined.exporting", address_in("inlined.exporting.full", "outer_function"),
                "outer_function", "outer_function", 0);
}

/* A debug file that somebody else has put beside a program says nothing of it. */
static void test_forged_debug_file(void) {
    uint64_t whole = address_in("inlined", "outer_function");
    char by_address[64];
    if (geteuid() != 0) {
        printf("another user's debug file can be made by root only\n");
        return;
    }
    snprintf(by_address, sizeof by_address, "inlined.linked+0x%" PRIx64, whole);
    CHECK(run("chown 65533 %s/inlined.debug", directory));
    check_entry("inlined.linked", whole, by_address, by_address, 0);
    CHECK(run("chown 65533 %s/inlined.linked", directory)); /* by the program's owner it does */
    check_entry("inlined.linked", whole, "outer_function", "outer_function",
                line_of("unsigned outer_function(unsigned"));
    CHECK(run("chmod o+w %s/inlined.debug", directory));
    check_entry("inlined.linked", whole, by_address, by_address, 0);
    CHECK(run("chown 0 %s/inlined.linked %s/inlined.debug && chmod o-w %s/inlined.debug", directory,
              directory, directory));
}

static void test_not_elf(void) {
    CHECK(
        run("echo 'no ELF file at all, but long enough to have had a header' >%s/text", directory));
    check_entry("text", 0x1234, "text+0x1234", "text+0x1234", 0);
}

/* Public names win over the library's own names for the same code. */
static void test_libc(void) {
    static const char *const names[] = {"malloc", "free", "qsort", "printf", "pthread_create"};
    static const char path[] = "/lib/x86_64-linux-gnu/libc.so.6";
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    struct symbolizer *symbolizer = symbolizer_new(fd, path);
    for (size_t i = 0; i < HCCT_ARRAY_LEN(names); i++) {
        char pattern[64];
        snprintf(pattern, sizeof pattern, "%s@.*", names[i]);
        uint64_t address = address_of(path, "-D", pattern);
        struct symbol symbol = resolve(symbolizer, address, true);
        CHECK_STR(symbol.lines[0].name, names[i]);
        symbol_clear(&symbol);
        symbol = resolve(symbolizer, address + 1, false);
        CHECK_STR(symbol.lines[symbol.n_lines - 1].name, names[i]);
        symbol_clear(&symbol);
    }
    symbolizer_free(symbolizer);
}

/* ---- the programs ---- */

static bool build_programs(void) {
    /* Not $CC: of what clang inlines, binutils' addr2line does not see all. */
    const char *cc = "gcc", *cxx = "g++";
    const char *to = directory;
    return run("%s -O2 -g -o %s/inlined %s/tests/code/inlined.c", cc, to, source_directory) &&
           run("%s -O2 -g -o %s/shapes %s/tests/code/shapes.cc", cxx, to, source_directory) &&
           run("%s -O2 -rdynamic -o %s/inlined.exporting.full %s/tests/code/inlined.c", cc, to,
               source_directory) &&
           run("cd %s && objcopy --only-keep-debug inlined inlined.debug && "
               "objcopy --strip-all --add-gnu-debuglink=inlined.debug inlined inlined.linked && "
               "strip -o inlined.stripped --remove-section=.note.gnu.build-id inlined && "
               "strip -o inlined.exporting inlined.exporting.full",
               to);
}

static void test_rust(struct addresses *addresses) {
    if (!run("rustc -O -g -o %s/nested %s/tests/code/nested.rs 2>/dev/null", directory,
             source_directory)) {
        printf("no rustc: Rust is not tested\n");
        return;
    }
    collect("nested", "geometry", addresses);
    compare("nested", "nested", addresses);
}

int main(void) {
    static struct addresses addresses;
    unsetenv("DEBUGINFOD_URLS");
    if (getenv("srcdir") != NULL)
        source_directory = getenv("srcdir");
    if (mkdtemp(directory) == NULL || !run("addr2line --version >/dev/null 2>&1") ||
        !build_programs()) {
        fprintf(stderr, "skipped: needs gcc, g++, addr2line, nm, objcopy, strip\n");
        return 77;
    }
    collect("inlined", "outer_function|with_cold|complain| main", &addresses);
    compare("inlined", "inlined", &addresses);
    compare("inlined.linked", "inlined", &addresses);
    collect("shapes", "drawing| main", &addresses);
    compare("shapes", "shapes", &addresses);
    test_rust(&addresses);
    test_names();
    test_forged_debug_file();
    test_not_elf();
    test_libc();
    run("rm -rf %s", directory);
    return check_report();
}
