/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * symbol_table.c - a module's ELF symbols by address.
 */
#include "common/code/symbol_table.h"

#include <stdlib.h>
#include <string.h>

/* Higher is better known. */
static int binding_rank(const GElf_Sym *symbol) {
    switch (GELF_ST_BIND(symbol->st_info)) {
    case STB_LOCAL:
        return 0;
    case STB_WEAK:
        return 1;
    default:
        return 2;
    }
}

struct candidate {
    struct code_symbol symbol;
    int rank;
};

/* By address; of one address the best first: a size before none, global before weak before local,
 * then the shortest name (malloc before __libc_malloc), then any fixed order. */
static int by_address_then_merit(const void *a, const void *b) {
    const struct candidate *x = a, *y = b;
    if (x->symbol.start != y->symbol.start)
        return x->symbol.start < y->symbol.start ? -1 : 1;
    if (x->symbol.end_is_given != y->symbol.end_is_given)
        return x->symbol.end_is_given ? -1 : 1;
    if (x->rank != y->rank)
        return y->rank - x->rank;
    size_t p = strlen(x->symbol.name), q = strlen(y->symbol.name);
    return p != q ? (p < q ? -1 : 1) : strcmp(x->symbol.name, y->symbol.name);
}

/* The end of the section that a symbol is in, in the module's addresses. 0: it holds no code. */
static uint64_t section_end(Elf *elf, GElf_Word index, uint64_t bias) {
    GElf_Shdr header;
    Elf_Scn *section = elf_getscn(elf, index);
    if (section == NULL || gelf_getshdr(section, &header) == NULL ||
        (header.sh_flags & SHF_EXECINSTR) == 0)
        return 0;
    return header.sh_addr + header.sh_size + bias;
}

static bool is_code_type(const GElf_Sym *symbol) {
    int type = GELF_ST_TYPE(symbol->st_info);
    return type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE;
}

/* False: not a name for code. */
static bool read_candidate(Dwfl_Module *module, int i, struct candidate *candidate) {
    GElf_Sym raw;
    GElf_Addr address;
    GElf_Word index = SHN_UNDEF;
    Elf *elf = NULL;
    Dwarf_Addr bias = 0;
    const char *name = dwfl_module_getsym_info(module, i, &raw, &address, &index, &elf, &bias);
    if (name == NULL || name[0] == '\0' || name[0] == '$' || elf == NULL || index == SHN_UNDEF ||
        !is_code_type(&raw))
        return false;
    uint64_t limit = section_end(elf, index, bias);
    if (address >= limit)
        return false;
    bool sized = raw.st_size > 0 && raw.st_size <= limit - address;
    candidate->symbol = (struct code_symbol){
        .start = address,
        .end = sized ? address + raw.st_size : limit,
        .name = name,
        .end_is_given = sized,
    };
    candidate->rank = binding_rank(&raw);
    return true;
}

static size_t read_candidates(Dwfl_Module *module, int n, struct candidate *candidates) {
    size_t used = 0;
    for (int i = 0; i < n; i++)
        used += read_candidate(module, i, &candidates[used]);
    return used;
}

/* Sorts, keeps the best of each address, and ends symbols without a size where the next begins. */
static void choose(struct symbol_table *table, struct candidate *candidates, size_t n) {
    qsort(candidates, n, sizeof *candidates, by_address_then_merit);
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && candidates[i].symbol.start == candidates[i - 1].symbol.start)
            continue;
        table->symbols[table->n++] = candidates[i].symbol;
    }
    uint64_t reach = 0;
    for (size_t i = 0; i < table->n; i++) {
        struct code_symbol *symbol = &table->symbols[i];
        if (!symbol->end_is_given && i + 1 < table->n && symbol[1].start < symbol->end)
            symbol->end = symbol[1].start;
        if (symbol->end > reach)
            reach = symbol->end;
        symbol->reach = reach;
    }
}

void symbol_table_load(struct symbol_table *table, Dwfl_Module *module) {
    memset(table, 0, sizeof *table);
    int n = dwfl_module_getsymtab(module);
    if (n <= 0)
        return;
    struct candidate *candidates = calloc((size_t)n, sizeof *candidates);
    table->symbols = calloc((size_t)n, sizeof *table->symbols);
    if (candidates != NULL && table->symbols != NULL)
        choose(table, candidates, read_candidates(module, n, candidates));
    free(candidates);
}

void symbol_table_clear(struct symbol_table *table) {
    free(table->symbols);
    memset(table, 0, sizeof *table);
}

const struct code_symbol *symbol_table_find(const struct symbol_table *table, uint64_t address) {
    size_t low = 0, high = table->n; /* all before low start at or before the address */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (table->symbols[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    /* Symbols may lie inside others, as labels do that have a size. */
    while (low > 0 && address < table->symbols[low - 1].reach)
        if (address < table->symbols[--low].end)
            return &table->symbols[low];
    return NULL;
}
