/*
 * next_symbol.c - the hash tables of objects, as the loader has them.
 *
 * What is unusual (an object without such a table, a symbol that is resolved by a call) is left to
 * dlsym.
 */
#include "preload/wrap/next_symbol.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "preload/life/glibc.h"

#define HIDDEN 0x8000u /* in a symbol's version: not the default one */

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

/* Pointers that the loader has not relocated are those of the vdso, which has nothing for us. */
static bool is_relocated(const struct link_map *map, uint64_t pointer) {
    return map->l_addr == 0 || pointer >= map->l_addr;
}

static void read_object(const struct link_map *map, struct object *object) {
    *object = (struct object){0};
    for (const ElfW(Dyn) *entry = map->l_ld; entry != NULL && entry->d_tag != DT_NULL; entry++) {
        const void *at = (const void *)entry->d_un.d_ptr;
        if (!is_relocated(map, entry->d_un.d_ptr))
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

static uint32_t hash_of(const char *name) {
    uint32_t hash = 5381;
    for (; *name != '\0'; name++)
        hash = hash * 33 + (unsigned char)*name;
    return hash;
}

static bool may_have(const uint64_t *filter, const struct table *table, uint32_t hash) {
    uint64_t word = filter[hash / 64 & (table->filter_words - 1)];
    return (word >> hash % 64 & word >> (hash >> table->shift) % 64 & 1) != 0;
}

/* NULL: it has none of that name, or only versions of it that are not the default. */
static const ElfW(Sym) * find(const struct object *object, const char *name, uint32_t hash) {
    const struct table *table = object->table;
    const uint64_t *filter = (const void *)(table + 1);
    const uint32_t *bucket = (const void *)(filter + table->filter_words);
    const uint32_t *chain = bucket + table->buckets;
    if (table->buckets == 0 || !may_have(filter, table, hash))
        return NULL;
    uint32_t i = bucket[hash % table->buckets];
    if (i < table->first)
        return NULL;
    for (bool last = false; !last; i++) {
        const ElfW(Sym) *symbol = &object->symbols[i];
        uint32_t word = chain[i - table->first];
        last = (word & 1) != 0;
        if ((word | 1) == (hash | 1) && symbol->st_shndx != SHN_UNDEF &&
            (object->versions == NULL || (object->versions[i] & HIDDEN) == 0) &&
            strcmp(object->names + symbol->st_name, name) == 0)
            return symbol;
    }
    return NULL;
}

/* Such a table tells how many symbols there are. */
static bool is_among(const struct object *object, uint32_t symbols, const char *name) {
    for (uint32_t i = 0; i < symbols; i++)
        if (object->symbols[i].st_shndx != SHN_UNDEF &&
            strcmp(object->names + object->symbols[i].st_name, name) == 0)
            return true;
    return false;
}

enum symbol_answer symbol_beside(const void *code, const char *name) {
    struct dl_find_object found;
    struct object object;
    if (sizeof(void *) != 8 || _dl_find_object == NULL ||
        _dl_find_object((void *)(uintptr_t)code, &found) != 0)
        return SYMBOL_UNKNOWN;
    read_object(found.dlfo_link_map, &object);
    if (object.symbols == NULL || object.names == NULL)
        return SYMBOL_UNKNOWN;
    if (object.table != NULL)
        return find(&object, name, hash_of(name)) != NULL ? SYMBOL_THERE : SYMBOL_MISSING;
    if (object.old_table != NULL)
        return is_among(&object, object.old_table[1], name) ? SYMBOL_THERE : SYMBOL_MISSING;
    return SYMBOL_UNKNOWN;
}

void *next_symbol(const char *name) {
    struct dl_find_object self;
    struct object object;
    uint32_t hash = hash_of(name);
    if (sizeof(void *) != 8 || _dl_find_object == NULL ||
        _dl_find_object((void *)(uintptr_t)next_symbol, &self) != 0)
        return dlsym(RTLD_NEXT, name);
    for (const struct link_map *map = self.dlfo_link_map->l_next; map != NULL; map = map->l_next) {
        read_object(map, &object);
        if (object.symbols == NULL && object.table == NULL)
            continue; /* the vdso, or it has no symbols at all */
        if (object.symbols == NULL || object.names == NULL || object.table == NULL)
            break;
        const ElfW(Sym) *symbol = find(&object, name, hash);
        if (symbol == NULL)
            continue;
        if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || symbol->st_value == 0)
            break;
        return (void *)(map->l_addr + symbol->st_value);
    }
    return dlsym(RTLD_NEXT, name);
}
