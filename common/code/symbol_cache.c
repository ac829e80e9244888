/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * symbol_cache.c - a hash table whose entries stand in a list, the latest used first.
 *
 * The chains are its own, as entries leave them one by one, by the order of their use.
 * Symbols are kept in the form in which the worker sends them: one piece of memory each.
 */
#include "common/code/symbol_cache.h"

#include <pthread.h>
#include <stdlib.h>

#include "common/base/seeded_hash.h"
#include "common/code/elf_protocol.h"

#define BUCKETS_FIRST 1024u /* a power of two, as it doubles */

struct entry {
    struct entry *next;          /* of the same bucket */
    struct entry *newer, *older; /* by use */
    uint64_t address;
    uint32_t module;
    bool is_entry;
    bool pending;
    char *bytes; /* the symbol, or of a pending one the bare name, or NULL */
    size_t n;
};

struct symbol_cache {
    pthread_mutex_t lock;
    struct entry **buckets;
    size_t n_buckets, n_entries;
    struct entry *newest, *oldest;
    size_t bytes, max_bytes;
};

struct symbol_cache *symbol_cache_new(size_t max_bytes) {
    struct symbol_cache *cache = calloc(1, sizeof *cache);
    if (cache == NULL)
        return NULL;
    cache->buckets = calloc(BUCKETS_FIRST, sizeof(struct entry *));
    if (cache->buckets == NULL) {
        free(cache);
        return NULL;
    }
    cache->n_buckets = BUCKETS_FIRST;
    cache->max_bytes = max_bytes;
    pthread_mutex_init(&cache->lock, NULL);
    return cache;
}

void symbol_cache_free(struct symbol_cache *cache) {
    if (cache == NULL)
        return;
    for (struct entry *entry = cache->newest, *older; entry != NULL; entry = older) {
        older = entry->older;
        free(entry->bytes);
        free(entry);
    }
    pthread_mutex_destroy(&cache->lock);
    free(cache->buckets);
    free(cache);
}

/* ---- the table; all of it under the lock ---- */

static size_t bucket_of(const struct symbol_cache *cache, uint32_t module, uint64_t address,
                        bool is_entry) {
    return seeded_hash(seeded_hash(module, address), is_entry) & (cache->n_buckets - 1);
}

static struct entry *find(const struct symbol_cache *cache, uint32_t module,
                          const struct symbol_query *query) {
    struct entry *entry = cache->buckets[bucket_of(cache, module, query->address, query->is_entry)];
    while (entry != NULL && (entry->address != query->address || entry->module != module ||
                             entry->is_entry != query->is_entry))
        entry = entry->next;
    return entry;
}

static void put_into_bucket(struct symbol_cache *cache, struct entry *entry) {
    size_t bucket = bucket_of(cache, entry->module, entry->address, entry->is_entry);
    entry->next = cache->buckets[bucket];
    cache->buckets[bucket] = entry;
}

/* Without memory the buckets only get longer. */
static void grow(struct symbol_cache *cache) {
    struct entry **buckets = calloc(2 * cache->n_buckets, sizeof(struct entry *));
    if (buckets == NULL)
        return;
    free(cache->buckets);
    cache->buckets = buckets;
    cache->n_buckets *= 2;
    for (struct entry *entry = cache->newest; entry != NULL; entry = entry->older)
        put_into_bucket(cache, entry);
}

/* ---- the order of use ---- */

static void leave_list(struct symbol_cache *cache, struct entry *entry) {
    *(entry->newer != NULL ? &entry->newer->older : &cache->newest) = entry->older;
    *(entry->older != NULL ? &entry->older->newer : &cache->oldest) = entry->newer;
}

static void join_list(struct symbol_cache *cache, struct entry *entry) {
    entry->newer = NULL;
    entry->older = cache->newest;
    *(cache->newest != NULL ? &cache->newest->newer : &cache->oldest) = entry;
    cache->newest = entry;
}

static void touch(struct symbol_cache *cache, struct entry *entry) {
    if (entry == cache->newest)
        return;
    leave_list(cache, entry);
    join_list(cache, entry);
}

/* ---- entries ---- */

static void remove_entry(struct symbol_cache *cache, struct entry *entry) {
    struct entry **link =
        &cache->buckets[bucket_of(cache, entry->module, entry->address, entry->is_entry)];
    while (*link != entry)
        link = &(*link)->next;
    *link = entry->next;
    leave_list(cache, entry);
    cache->n_entries--;
    cache->bytes -= sizeof *entry + entry->n;
    free(entry->bytes);
    free(entry);
}

static struct entry *add_entry(struct symbol_cache *cache, uint32_t module,
                               const struct symbol_query *query) {
    struct entry *entry = calloc(1, sizeof *entry);
    if (entry == NULL)
        return NULL;
    entry->module = module;
    entry->address = query->address;
    entry->is_entry = query->is_entry;
    entry->pending = true;
    if (cache->n_entries >= cache->n_buckets)
        grow(cache);
    put_into_bucket(cache, entry);
    join_list(cache, entry);
    cache->n_entries++;
    cache->bytes += sizeof *entry;
    return entry;
}

/* The newest stays, whatever its size: somebody is about to use it. */
static void make_room(struct symbol_cache *cache) {
    while (cache->bytes > cache->max_bytes && cache->oldest != cache->newest)
        remove_entry(cache, cache->oldest);
}

/* ---- for all ---- */

enum symbol_state symbol_cache_get(struct symbol_cache *cache, uint32_t module,
                                   const struct symbol_query *query, struct symbol *symbol) {
    enum symbol_state state = SYMBOL_ABSENT;
    pthread_mutex_lock(&cache->lock);
    struct entry *entry = find(cache, module, query);
    if (entry != NULL) {
        state = entry->pending                                       ? SYMBOL_PENDING
                : elf_get_symbols(entry->bytes, entry->n, symbol, 1) ? SYMBOL_KNOWN
                                                                     : SYMBOL_ABSENT;
        touch(cache, entry);
    }
    pthread_mutex_unlock(&cache->lock);
    return state;
}

bool symbol_cache_reserve(struct symbol_cache *cache, uint32_t module,
                          const struct symbol_query *query) {
    pthread_mutex_lock(&cache->lock);
    bool reserved = find(cache, module, query) == NULL && add_entry(cache, module, query) != NULL;
    if (reserved)
        make_room(cache);
    pthread_mutex_unlock(&cache->lock);
    return reserved;
}

/* The bytes become the entry's. */
static void fill(struct symbol_cache *cache, struct entry *entry, struct elf_bytes *bytes) {
    cache->bytes = cache->bytes - entry->n + bytes->n;
    free(entry->bytes);
    entry->bytes = bytes->bytes;
    entry->n = bytes->n;
    bytes->bytes = NULL;
    touch(cache, entry);
    make_room(cache);
}

void symbol_cache_put(struct symbol_cache *cache, uint32_t module, const struct symbol_query *query,
                      const struct symbol *symbol) {
    struct elf_bytes bytes = {0};
    elf_put_symbol(&bytes, symbol);
    pthread_mutex_lock(&cache->lock);
    struct entry *entry = find(cache, module, query);
    if (entry == NULL && !bytes.failed)
        entry = add_entry(cache, module, query);
    if (entry != NULL && bytes.failed) {
        remove_entry(cache, entry);
    } else if (entry != NULL) {
        entry->pending = false;
        fill(cache, entry, &bytes);
    }
    pthread_mutex_unlock(&cache->lock);
    free(bytes.bytes);
}

void symbol_cache_put_name(struct symbol_cache *cache, uint32_t module,
                           const struct symbol_query *query, const struct symbol *symbol) {
    struct elf_bytes bytes = {0};
    elf_put_symbol(&bytes, symbol);
    pthread_mutex_lock(&cache->lock);
    struct entry *entry = find(cache, module, query);
    if (entry != NULL && entry->pending && !bytes.failed)
        fill(cache, entry, &bytes);
    pthread_mutex_unlock(&cache->lock);
    free(bytes.bytes);
}

bool symbol_cache_get_name(struct symbol_cache *cache, uint32_t module,
                           const struct symbol_query *query, struct symbol *symbol) {
    pthread_mutex_lock(&cache->lock);
    struct entry *entry = find(cache, module, query);
    bool has = entry != NULL && entry->pending && entry->bytes != NULL &&
               elf_get_symbols(entry->bytes, entry->n, symbol, 1);
    pthread_mutex_unlock(&cache->lock);
    return has;
}

void symbol_cache_drop(struct symbol_cache *cache, uint32_t module,
                       const struct symbol_query *query) {
    pthread_mutex_lock(&cache->lock);
    struct entry *entry = find(cache, module, query);
    if (entry != NULL)
        remove_entry(cache, entry);
    pthread_mutex_unlock(&cache->lock);
}

size_t symbol_cache_bytes(struct symbol_cache *cache) {
    pthread_mutex_lock(&cache->lock);
    size_t bytes = cache->bytes;
    pthread_mutex_unlock(&cache->lock);
    return bytes;
}
