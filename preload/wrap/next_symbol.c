/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * next_symbol.c - the hash tables of objects, as the loader has them.
 *
 * What is unusual (an object without such a table, a symbol that is resolved by a call) is left to
 * the loader (dlsym).
 */
#include "preload/wrap/next_symbol.h"

#include <dlfcn.h>
#include <elf.h>
#include <gnu/libc-version.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "preload/life/glibc.h"

/* The agent defines it, but this file is part of what stands before malloc, too. */
#pragma weak _dl_find_object
/* Where there is another C library this one is called, whosever it is. */
#pragma weak dl_iterate_phdr

#define HIDDEN  0x8000u /* in a symbol's version: not the default one */
#define AT_ONCE 32u     /* names */

/* Of an object's table: a filter of names, then chains of symbols by hash. */
struct table {
    uint32_t buckets, first, filter_words, shift;
};

struct object {
    const ElfW(Sym) * symbols;
    const char *names;
    const uint16_t *versions; /* NULL: there are none */
    const struct table *table;
    const uint32_t *old_table; /* of the kind that came before; NULL: it has none */
};

static bool is_relocated(const struct link_map *map, uint64_t pointer) {
    return map->l_addr == 0 || pointer >= map->l_addr;
}

/* What the loader has not relocated counts from `from`; 0: it is left alone. */
static void read_object_at(const struct link_map *map, uint64_t from, struct object *object) {
    *object = (struct object){0};
    for (const ElfW(Dyn) *entry = map->l_ld; entry != NULL && entry->d_tag != DT_NULL; entry++) {
        bool moved = is_relocated(map, entry->d_un.d_ptr);
        const void *at = (const void *)(entry->d_un.d_ptr + (moved ? 0 : from));
        if (!moved && from == 0)
            continue;
        if (entry->d_tag == DT_SYMTAB)
            object->symbols = at;
        else if (entry->d_tag == DT_STRTAB)
            object->names = at;
        else if (entry->d_tag == DT_VERSYM)
            object->versions = at;
        else if (entry->d_tag == DT_GNU_HASH)
            object->table = at;
        else if (entry->d_tag == DT_HASH)
            object->old_table = at;
    }
}

/* Pointers that glibc's loader has not relocated are those of the vdso, which has nothing for us.
 */
static void read_object(const struct link_map *map, struct object *object) {
    read_object_at(map, 0, object);
}

static bool has_hashes(const struct object *object) {
    return object->symbols != NULL && object->names != NULL && object->table != NULL;
}

/* 0: no symbol, or one that is resolved by a call. */
static uint64_t plain_function(const struct link_map *map, const ElfW(Sym) * symbol) {
    bool plain =
        symbol != NULL && ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && symbol->st_value != 0;
    return plain ? map->l_addr + symbol->st_value : 0;
}

static uint32_t hash_of(const char *name) {
    uint32_t hash = 5381;
    for (; *name != '\0'; name++)
        hash = hash * 33 + (unsigned char)*name;
    return hash;
}

/* A sanitizer that stands before strcmp looks for libc's itself by dlsym, and so comes here. */
static bool is_same(const char *a, const char *b) {
    while (*a != '\0' && *a == *b) {
        a++;
        b++;
    }
    return *a == *b;
}

static bool may_have(const uint64_t *filter, const struct table *table, uint32_t hash) {
    uint64_t word = filter[hash / 64 & (table->filter_words - 1)];
    return (word >> hash % 64 & word >> (hash >> table->shift) % 64 & 1) != 0;
}

static const uint64_t *filter_of(const struct table *table) {
    return (const void *)(table + 1);
}

static const uint32_t *buckets_of(const struct table *table) {
    return (const void *)(filter_of(table) + table->filter_words);
}

/* The first symbol of the hash's chain, 0: the object has none of that hash. */
static uint32_t first_of(const struct table *table, uint32_t hash) {
    if (table->buckets == 0 || !may_have(filter_of(table), table, hash))
        return 0;
    uint32_t i = buckets_of(table)[hash % table->buckets];
    return i >= table->first ? i : 0;
}

/* NULL: it has none of that name, or only versions of it that are not the default. */
static const ElfW(Sym) * find(const struct object *object, const char *name, uint32_t hash) {
    const struct table *table = object->table;
    const uint32_t *chain = buckets_of(table) + table->buckets;
    uint32_t i = first_of(table, hash);
    for (bool last = i == 0; !last; i++) {
        const ElfW(Sym) *symbol = &object->symbols[i];
        uint32_t word = chain[i - table->first];
        last = (word & 1) != 0;
        if ((word | 1) == (hash | 1) && symbol->st_shndx != SHN_UNDEF &&
            (object->versions == NULL || (object->versions[i] & HIDDEN) == 0) &&
            is_same(object->names + symbol->st_name, name))
            return symbol;
    }
    return NULL;
}

/* A table of the old kind tells how many symbols there are. */
static const ElfW(Sym) * find_among_all(const struct object *object, const char *name) {
    for (uint32_t i = 0; i < object->old_table[1]; i++)
        if (object->symbols[i].st_shndx != SHN_UNDEF &&
            is_same(object->names + object->symbols[i].st_name, name))
            return &object->symbols[i];
    return NULL;
}

enum symbol_answer symbol_beside(const void *code, const char *name) {
    struct dl_find_object found;
    struct object object;
    if (sizeof(void *) != 8 || !glibc_is_here() || _dl_find_object == NULL ||
        _dl_find_object((void *)(uintptr_t)code, &found) != 0)
        return SYMBOL_UNKNOWN;
    read_object(found.dlfo_link_map, &object);
    if (object.symbols == NULL || object.names == NULL)
        return SYMBOL_UNKNOWN;
    if (object.table != NULL)
        return find(&object, name, hash_of(name)) != NULL ? SYMBOL_THERE : SYMBOL_MISSING;
    if (object.old_table != NULL)
        return find_among_all(&object, name) != NULL ? SYMBOL_THERE : SYMBOL_MISSING;
    return SYMBOL_UNKNOWN;
}

/* Names that are looked for together. */
struct search {
    const char *const *names;
    void **found; /* NULL: not yet */
    uint32_t hash[AT_ONCE];
    unsigned n;
    bool unasked; /* objects come and go meanwhile, and the loader is not asked for symbols */
};

/* _dl_find_object can't be asked, as it is one of the names. */
static const struct link_map *this_object(void) {
    const struct link_map *map = &_r_debug != NULL ? _r_debug.r_map : NULL;
    while (map != NULL && map->l_ld != _DYNAMIC)
        map = map->l_next;
    return map;
}

static bool from_first;

void next_symbol_from_first(void) {
    from_first = true;
}

static const struct link_map *next_object(void) {
    if (from_first && &_r_debug != NULL)
        return _r_debug.r_map;
    const struct link_map *map = this_object();
    return map != NULL ? map->l_next : NULL;
}

/* ---- what is unusual ---- */

/* dlsym itself, which the agent stands before, too: in whatever object there is one, also of
 * another C library, whose loader leaves pointers as they are in the file. */
static const ElfW(Sym) * find_in(const struct dl_phdr_info *info, const char *name) {
    struct link_map map = {.l_addr = info->dlpi_addr};
    struct object object;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            map.l_ld = (void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    if (map.l_ld == _DYNAMIC)
        return NULL;
    read_object_at(&map, map.l_addr, &object);
    if (object.symbols == NULL || object.names == NULL)
        return NULL;
    return object.table != NULL       ? find(&object, name, hash_of(name))
           : object.old_table != NULL ? find_among_all(&object, name)
                                      : NULL;
}

static uint64_t dlsym_in(const struct dl_phdr_info *info) {
    const struct link_map map = {.l_addr = info->dlpi_addr};
    return plain_function(&map, find_in(info, "dlsym"));
}

bool symbol_thread_local(const struct dl_phdr_info *info, const char *name, uint64_t *offset) {
    const ElfW(Sym) *symbol = find_in(info, name);
    if (symbol == NULL || ELF64_ST_TYPE(symbol->st_info) != STT_TLS)
        return false;
    *offset = symbol->st_value;
    return true;
}

static int find_dlsym(struct dl_phdr_info *info, size_t size, void *found) {
    (void)size;
    *(uint64_t *)found = dlsym_in(info);
    return *(uint64_t *)found != 0;
}

typedef int iterate(int (*see)(struct dl_phdr_info *, size_t, void *), void *arg);

static void *ask_loader(const char *name) {
    static _Atomic uint64_t found;
    uint64_t at = atomic_load_explicit(&found, memory_order_relaxed);
    if (at == 0) {
        iterate *own = (iterate *)libc_symbol("dl_iterate_phdr");
        (own != NULL ? own : dl_iterate_phdr)(find_dlsym, &at);
        atomic_store_explicit(&found, at, memory_order_relaxed);
    }
    return at != 0 ? ((void *(*)(void *, const char *))at)(RTLD_NEXT, name) : NULL;
}

/* ---- many names ---- */

/* A program that has just begun has nothing of these tables in its caches: each step of all
 * searches is asked for before the first of them waits for it. */
static void expect(const struct object *object, const struct search *search) {
    const struct table *table = object->table;
    const uint32_t *chain = buckets_of(table) + table->buckets;
    uint32_t first[AT_ONCE];
    for (unsigned k = 0; k < search->n && table->buckets != 0; k++) {
        __builtin_prefetch(&filter_of(table)[search->hash[k] / 64 & (table->filter_words - 1)]);
        __builtin_prefetch(&buckets_of(table)[search->hash[k] % table->buckets]);
    }
    for (unsigned k = 0; k < search->n; k++) {
        first[k] = search->found[k] == NULL ? first_of(table, search->hash[k]) : 0;
        if (first[k] == 0)
            continue;
        __builtin_prefetch(&chain[first[k] - table->first]);
        __builtin_prefetch(&object->symbols[first[k]]);
        if (object->versions != NULL)
            __builtin_prefetch(&object->versions[first[k]]);
    }
    for (unsigned k = 0; k < search->n; k++)
        if (first[k] != 0)
            __builtin_prefetch(object->names + object->symbols[first[k]].st_name);
}

/* What is unusual is left to dlsym. */
static void *take(const struct link_map *map, const ElfW(Sym) * symbol, const char *name) {
    uint64_t function = plain_function(map, symbol);
    return function != 0 ? (void *)function : ask_loader(name);
}

static void search_object(const struct link_map *map, const struct object *object,
                          struct search *search) {
    expect(object, search);
    for (unsigned k = 0; k < search->n; k++) {
        const ElfW(Sym) *symbol =
            search->found[k] == NULL ? find(object, search->names[k], search->hash[k]) : NULL;
        if (symbol != NULL)
            search->found[k] = search->unasked ? (void *)plain_function(map, symbol)
                                               : take(map, symbol, search->names[k]);
    }
}

static bool is_done(const struct search *search) {
    unsigned k = 0;
    while (k < search->n && search->found[k] != NULL)
        k++;
    return k == search->n;
}

static bool is_left_out(const struct search *search, const struct link_map *map) {
    struct dl_find_object found;
    return search->unasked &&
           (map->l_ld == NULL || map->l_ld == _DYNAMIC || _dl_find_object(map->l_ld, &found) != 0 ||
            found.dlfo_link_map != map);
}

/* Up to an object that is unusual. */
static void search_objects(struct search *search) {
    struct object object;
    if (sizeof(void *) != 8)
        return;
    for (const struct link_map *map = next_object(); map != NULL && !is_done(search);
         map = map->l_next) {
        if (is_left_out(search, map))
            continue;
        read_object(map, &object);
        if (object.symbols == NULL && object.table == NULL)
            continue; /* the vdso, or it has no symbols at all */
        if (!has_hashes(&object))
            return;
        search_object(map, &object, search);
    }
}

static void look_for(const char *const *names, void **found, unsigned n, bool unasked) {
    for (unsigned done = 0; done < n; done += AT_ONCE) {
        struct search search = {.names = names + done, .found = found + done, .unasked = unasked};
        search.n = n - done < AT_ONCE ? n - done : AT_ONCE;
        for (unsigned k = 0; k < search.n; k++) {
            search.found[k] = NULL;
            search.hash[k] = hash_of(search.names[k]);
        }
        search_objects(&search);
        for (unsigned k = 0; k < search.n; k++)
            if (search.found[k] == NULL && !unasked)
                search.found[k] = ask_loader(search.names[k]);
    }
}

void next_symbols(const char *const *names, void **found, unsigned n) {
    look_for(names, found, n, false);
}

void next_symbols_unasked(const char *const *names, void **found, unsigned n) {
    look_for(names, found, n, true);
}

void *next_symbol(const char *name) {
    void *found;
    next_symbols(&name, &found, 1);
    return found;
}

/* ---- one name, and nothing of libc ---- */

/* In an object that has a table with hashes; 0: in none, or no plain function. */
static uint64_t next_plain(const char *name) {
    uint32_t hash = hash_of(name);
    for (const struct link_map *map = next_object(); map != NULL; map = map->l_next) {
        struct object object;
        read_object(map, &object);
        const ElfW(Sym) *symbol = has_hashes(&object) ? find(&object, name, hash) : NULL;
        if (symbol != NULL)
            return plain_function(map, symbol);
    }
    return 0;
}

/* ---- libc's ---- */

void *libc_symbol(const char *name) {
    struct dl_find_object found;
    struct object object;
    if (!glibc_is_here() || _dl_find_object((void *)(uintptr_t)gnu_get_libc_version, &found) != 0)
        return NULL;
    read_object(found.dlfo_link_map, &object);
    const ElfW(Sym) *symbol = has_hashes(&object) ? find(&object, name, hash_of(name)) : NULL;
    return (void *)plain_function(found.dlfo_link_map, symbol);
}

/* ---- of all objects ---- */

static bool is_plain(const ElfW(Sym) * symbol) {
    unsigned type = ELF64_ST_TYPE(symbol->st_info);
    return type == STT_OBJECT || type == STT_FUNC;
}

void *symbol_anywhere(const char *name) {
    uint32_t hash = hash_of(name);
    if (sizeof(void *) != 8 || &_r_debug == NULL)
        return NULL;
    for (const struct link_map *map = _r_debug.r_map; map != NULL; map = map->l_next) {
        struct object object;
        read_object(map, &object);
        const ElfW(Sym) *symbol = has_hashes(&object) ? find(&object, name, hash) : NULL;
        if (symbol != NULL && is_plain(symbol))
            return (void *)(map->l_addr + symbol->st_value);
    }
    return NULL;
}

/* ---- from an address ---- */

static const char *name_of(const struct object *object, uint64_t value) {
    const struct table *table = object->table;
    const uint32_t *chain = buckets_of(table) + table->buckets;
    for (uint32_t b = 0; b < table->buckets; b++) {
        uint32_t i = buckets_of(table)[b];
        for (bool last = i < table->first; !last; i++) {
            const ElfW(Sym) *symbol = &object->symbols[i];
            last = (chain[i - table->first] & 1) != 0;
            if (symbol->st_value == value && symbol->st_shndx != SHN_UNDEF)
                return object->names + symbol->st_name;
        }
    }
    return NULL;
}

uint64_t next_behind(uint64_t own) {
    struct object object;
    const struct link_map *map = this_object();
    if (map == NULL || sizeof(void *) != 8)
        return 0;
    read_object(map, &object);
    const char *name = has_hashes(&object) ? name_of(&object, own - map->l_addr) : NULL;
    return name != NULL ? next_plain(name) : 0;
}

void *next_by_itself(const char *name) {
    uint64_t function = next_plain(name);
    return function != 0 ? (void *)function : ask_loader(name);
}
