/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * symbolize.c - what the code at an address of one module is.
 *
 * A function's name is its ELF symbol's, as that is the same with and without debug information,
 * and else what DWARF says; inlined functions have names in DWARF only.
 */
#include "common/code/symbolize.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/code/demangle.h"
#include "common/code/dwarf_scope.h"
#include "common/code/symbol.h"
#include "common/code/symbol_table.h"
#include "common/code/unwind_compile.h"
#include "common/wire/unwind_table.h"

#define DEBUGINFOD_SERVERS "DEBUGINFOD_URLS"
#define NOBODY             65534 /* whom the worker becomes where it may: this one's files are anybody's */

struct symbolizer {
    char *path;
    uid_t owner;    /* of the file */
    bool is_misled; /* it has read what is not believed: to be made again */
    Dwfl *dwfl;
    Dwfl_Module *module; /* NULL: not an ELF object */
    struct symbol_table symbols;
    struct dwarf_scopes scopes;
    Dwarf_Addr dwarf_bias; /* of an address, minus that in the debug information */
    struct unwind_table *table;
    bool table_tried;
};

/* Debug files are searched beside the file, too, at a name that its first user has chosen: one is
 * believed that is root's, that of the file's own owner, or our own, and that nobody else may
 * write. */
static bool is_believed(int fd, uid_t owner) {
    struct stat info;
    return fstat(fd, &info) == 0 && (info.st_mode & S_IWOTH) == 0 &&
           ((info.st_mode & S_IWGRP) == 0 || info.st_gid == info.st_uid) &&
           (info.st_uid == 0 || info.st_uid == owner ||
            (info.st_uid == geteuid() && geteuid() != NOBODY));
}

/* `user` is the symbolizer's. A file that is not believed may be in use already, whatever is
 * returned: libdwfl has opened it to compare build-ids. */
static int find_debug_file(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base,
                           const char *file, const char *link, GElf_Word checksum, char **found) {
    struct symbolizer *symbolizer = *user;
    int fd = dwfl_standard_find_debuginfo(module, user, name, base, file, link, checksum, found);
    if (fd >= 0 && symbolizer != NULL && !is_believed(fd, symbolizer->owner))
        symbolizer->is_misled = true;
    return fd;
}

static int find_nothing(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base,
                        const char *file, const char *link, GElf_Word checksum, char **found) {
    (void)module, (void)user, (void)name, (void)base, (void)file, (void)link, (void)checksum;
    (void)found;
    return -1;
}

static const Dwfl_Callbacks no_callbacks = {
    .find_elf = dwfl_build_id_find_elf,
    .find_debuginfo = find_nothing,
};

static const Dwfl_Callbacks any_callbacks = {
    .find_elf = dwfl_build_id_find_elf,
    .find_debuginfo = find_debug_file,
};

/* As libdwfl does, but for what is asked of debuginfod servers, which takes seconds. */
static int find_local_debug_file(Dwfl_Module *module, void **user, const char *name,
                                 Dwarf_Addr base, const char *file, const char *link,
                                 GElf_Word checksum, char **found) {
    const char *servers = getenv(DEBUGINFOD_SERVERS);
    char *kept = servers != NULL ? strdup(servers) : NULL;
    unsetenv(DEBUGINFOD_SERVERS);
    int fd = find_debug_file(module, user, name, base, file, link, checksum, found);
    if (kept != NULL)
        setenv(DEBUGINFOD_SERVERS, kept, 1);
    free(kept);
    return fd;
}

static const Dwfl_Callbacks local_callbacks = {
    .find_elf = dwfl_build_id_find_elf,
    .find_debuginfo = find_local_debug_file,
};

/* Takes fd over. Addresses are to be those in the file: the module is put where it says. */
static void report_module(struct symbolizer *symbolizer, int fd, const Dwfl_Callbacks *callbacks) {
    struct stat info;
    void **user;
    symbolizer->owner = fstat(fd, &info) == 0 ? info.st_uid : 0;
    symbolizer->dwfl = dwfl_begin(callbacks);
    if (symbolizer->dwfl != NULL) {
        dwfl_report_begin(symbolizer->dwfl);
        symbolizer->module =
            dwfl_report_elf(symbolizer->dwfl, "module", symbolizer->path, fd, 0, true);
        dwfl_report_end(symbolizer->dwfl, NULL, NULL);
    }
    if (symbolizer->module == NULL)
        close(fd);
    else if (dwfl_module_info(symbolizer->module, &user, NULL, NULL, NULL, NULL, NULL, NULL) !=
             NULL)
        *user = symbolizer;
}

static struct symbolizer *open_module(int fd, const char *path, const Dwfl_Callbacks *callbacks) {
    struct symbolizer *symbolizer = calloc(1, sizeof *symbolizer);
    if (symbolizer != NULL)
        symbolizer->path = strdup(path);
    if (symbolizer == NULL || symbolizer->path == NULL) {
        free(symbolizer);
        close(fd);
        return NULL;
    }
    report_module(symbolizer, fd, callbacks);
    if (symbolizer->module != NULL)
        symbol_table_load(&symbolizer->symbols, symbolizer->module);
    return symbolizer;
}

static void load_dwarf(struct symbolizer *symbolizer) {
    Dwarf *dwarf = dwfl_module_getdwarf(symbolizer->module, &symbolizer->dwarf_bias);
    if (dwarf != NULL)
        dwarf_scopes_load(&symbolizer->scopes, dwarf);
}

static struct symbolizer *open_once(int fd, const char *path, const Dwfl_Callbacks *callbacks,
                                    bool dwarf) {
    struct symbolizer *symbolizer = open_module(fd, path, callbacks);
    if (dwarf && symbolizer != NULL && symbolizer->module != NULL)
        load_dwarf(symbolizer);
    return symbolizer;
}

static struct symbolizer *open_believed(int fd, const char *path, const Dwfl_Callbacks *callbacks,
                                        bool dwarf) {
    int again = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    struct symbolizer *symbolizer = open_once(fd, path, callbacks, dwarf);
    if (symbolizer != NULL && symbolizer->is_misled) {
        symbolizer_free(symbolizer);
        return again >= 0 ? open_once(again, path, &no_callbacks, dwarf) : NULL;
    }
    if (again >= 0)
        close(again);
    return symbolizer;
}

struct symbolizer *symbolizer_new(int fd, const char *path) {
    return open_believed(fd, path, &any_callbacks, true);
}

struct symbolizer *symbolizer_new_names(int fd, const char *path) {
    return open_believed(fd, path, &local_callbacks, false);
}

void symbolizer_free(struct symbolizer *symbolizer) {
    if (symbolizer == NULL)
        return;
    symbol_table_clear(&symbolizer->symbols);
    dwarf_scopes_clear(&symbolizer->scopes);
    dwfl_end(symbolizer->dwfl);
    free(symbolizer->table);
    free(symbolizer->path);
    free(symbolizer);
}

/* ---- what the unwind entries know ---- */

/* The unwind row of an address, or NULL. The table is made when a symbol is first missing. */
static const struct unwind_row *unwind_row(struct symbolizer *symbolizer, uint64_t address) {
    if (!symbolizer->table_tried && symbolizer->module != NULL) {
        GElf_Addr bias;
        size_t bytes;
        Elf *elf = dwfl_module_getelf(symbolizer->module, &bias);
        symbolizer->table_tried = true;
        if (elf != NULL)
            symbolizer->table = unwind_compile(elf, &bytes, NULL);
    }
    return symbolizer->table != NULL ? unwind_lookup(symbolizer->table, address) : NULL;
}

/* Where the routine that covers an address begins, as far as that is known. */
static uint64_t routine_start(struct symbolizer *symbolizer, uint64_t address) {
    const struct unwind_row *row = unwind_row(symbolizer, address);
    if (row == NULL || (row->rule == UNWIND_RULE_NONE && row->back == 0))
        return address;
    return unwind_routine(symbolizer->table, row);
}

static bool is_signal_frame(struct symbolizer *symbolizer, uint64_t address) {
    const struct unwind_row *row = unwind_row(symbolizer, address);
    return row != NULL && unwind_rules(symbolizer->table)[row->rule].cfa == UNWIND_CFA_SIGNAL;
}

/* The symbol of an address. One without a size covers at most its own unwind entry. The unwind
 * entry of a signal trampoline begins one byte before its symbol. */
static const struct code_symbol *find_symbol(struct symbolizer *symbolizer, uint64_t address) {
    const struct code_symbol *symbol = symbol_table_find(&symbolizer->symbols, address);
    if (symbol == NULL && is_signal_frame(symbolizer, address))
        symbol = symbol_table_find(&symbolizer->symbols, address + 1);
    if (symbol != NULL && !symbol->end_is_given &&
        symbol->start < routine_start(symbolizer, address))
        return NULL;
    return symbol;
}

/* ---- what DWARF knows ---- */

static const char *attribute_string(Dwarf_Die *die, unsigned name) {
    Dwarf_Attribute attribute;
    return dwarf_formstring(dwarf_attr_integrate(die, name, &attribute));
}

static uint64_t attribute_number(Dwarf_Die *die, unsigned name) {
    Dwarf_Attribute attribute;
    Dwarf_Word value;
    return dwarf_formudata(dwarf_attr(die, name, &attribute), &value) == 0 ? value : 0;
}

/* NULL: it has none, or an empty one, which damaged files have. */
static const char *name_of_die(Dwarf_Die *die) {
    const char *name = attribute_string(die, DW_AT_linkage_name);
    if (name == NULL)
        name = attribute_string(die, DW_AT_MIPS_linkage_name);
    if (name == NULL)
        name = dwarf_diename(die);
    return name != NULL && name[0] != '\0' ? name : NULL;
}

/* A file's name, made absolute by the directory that its unit was compiled in, without "/./". */
static char *file_name(Dwarf_Die *unit, const char *file) {
    const char *directory = attribute_string(unit, DW_AT_comp_dir);
    bool relative = file != NULL && file[0] != '/' && directory != NULL;
    char *name;
    if (file == NULL ||
        asprintf(&name, "%s%s%s", relative ? directory : "", relative ? "/" : "", file) < 0)
        return NULL;
    for (char *dot = name; (dot = strstr(dot, "/./")) != NULL;)
        memmove(dot, dot + 2, strlen(dot + 2) + 1);
    return name;
}

static void set_line(struct symbol_line *line, Dwarf_Die *unit, const char *file, uint64_t number) {
    line->file = file_name(unit, file);
    line->line = number <= UINT32_MAX ? (uint32_t)number : 0;
}

static void set_line_of_address(struct symbol_line *line, Dwarf_Die *unit, uint64_t address) {
    Dwarf_Line *source = dwarf_getsrc_die(unit, address);
    int number = 0;
    if (source == NULL)
        return;
    dwarf_lineno(source, &number);
    set_line(line, unit, dwarf_linesrc(source, NULL, NULL), (uint64_t)number);
}

/* Where an inlined function was called. */
static void set_line_of_call(struct symbol_line *line, Dwarf_Die *unit, Dwarf_Die *inlined) {
    Dwarf_Files *files;
    size_t n;
    uint64_t file = attribute_number(inlined, DW_AT_call_file);
    const char *name = NULL;
    if (file > 0 && dwarf_getsrcfiles(unit, &files, &n) == 0 && file < n)
        name = dwarf_filesrc(files, file, NULL, NULL);
    set_line(line, unit, name, attribute_number(inlined, DW_AT_call_line));
}

static uint32_t declared_at(Dwarf_Die *die) {
    int line = 0;
    return dwarf_decl_line(die, &line) == 0 && line > 0 ? (uint32_t)line : 0;
}

/* ---- putting it together ---- */

static bool set_names(struct symbol_line *line, const char *system_name) {
    line->system_name = strndup(system_name, DEMANGLE_NAME_MAX);
    line->name = demangle(system_name);
    return line->system_name != NULL && line->name != NULL;
}

/* The names of the function itself: of its symbol, else of `die` (which may be NULL). */
static bool set_function_names(struct symbolizer *symbolizer, uint64_t address, Dwarf_Die *die,
                               struct symbol_line *line) {
    const struct code_symbol *symbol = find_symbol(symbolizer, address);
    const char *name = symbol != NULL ? symbol->name : die != NULL ? name_of_die(die) : NULL;
    if (name != NULL)
        return set_names(line, name);
    uint64_t start = routine_start(symbolizer, address);
    line->name = symbol_last_resort_name(symbolizer->path, start);
    line->system_name = symbol_last_resort_name(symbolizer->path, start);
    return line->name != NULL && line->system_name != NULL;
}

static bool resolve_entry(struct symbolizer *symbolizer, uint64_t address,
                          struct dwarf_chain *chain, struct symbol_line *line) {
    Dwarf_Die *function = chain->n > 0 ? &chain->die[0] : NULL;
    if (function != NULL) {
        line->start_line = declared_at(function);
        set_line(line, &chain->unit, dwarf_decl_file(function), line->start_line);
    }
    return set_function_names(symbolizer, address, function, line);
}

/* lines[0] is the innermost: the reverse of the chain. */
static bool resolve_site(struct symbolizer *symbolizer, uint64_t address, bool has_unit,
                         struct dwarf_chain *chain, struct symbol *symbol) {
    if (has_unit)
        set_line_of_address(&symbol->lines[0], &chain->unit, address - symbolizer->dwarf_bias);
    for (unsigned i = 0; i + 1 < chain->n; i++) {
        Dwarf_Die *inlined = &chain->die[chain->n - 1 - i];
        const char *name = name_of_die(inlined);
        symbol->lines[i].start_line = declared_at(inlined);
        set_line_of_call(&symbol->lines[i + 1], &chain->unit, inlined);
        if (!set_names(&symbol->lines[i], name != NULL ? name : "?"))
            return false;
    }
    Dwarf_Die *function = chain->n > 0 ? &chain->die[0] : NULL;
    struct symbol_line *last = &symbol->lines[symbol->n_lines - 1];
    if (function != NULL)
        last->start_line = declared_at(function);
    return set_function_names(symbolizer, address, function, last);
}

bool symbolizer_resolve(struct symbolizer *symbolizer, const struct symbol_query *query,
                        struct symbol *symbol) {
    struct dwarf_chain chain = {.n = 0};
    uint64_t address = query->address;
    bool has_unit = dwarf_scopes_find(&symbolizer->scopes, address - symbolizer->dwarf_bias,
                                      !query->is_entry, &chain);
    symbol->n_lines = chain.n > 0 ? chain.n : 1;
    symbol->lines = calloc(symbol->n_lines, sizeof *symbol->lines);
    bool ok = symbol->lines != NULL &&
              (query->is_entry ? resolve_entry(symbolizer, address, &chain, &symbol->lines[0])
                               : resolve_site(symbolizer, address, has_unit, &chain, symbol));
    if (!ok)
        symbol_clear(symbol);
    return ok;
}
