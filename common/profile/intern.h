/*
 * intern.h - a hash table from keys to small numbers from 1 on.
 *
 * It holds the numbers only; the entries they stand for are the caller's, who also compares keys
 * with them. Open addressing with linear probing, at most three quarters full.
 */
#ifndef HCCT_INTERN_H
#define HCCT_INTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All zero is an empty table. */
struct intern {
    struct intern_slot *slots;
    size_t capacity, used;
};

/* Is entry `index` of `entries` what `key` asks for? */
typedef bool intern_equal(const void *entries, uint32_t index, const void *key);

/* Where the number of `key` is. Zero there: the key is new, and the caller must store its number
 * before the next call. */
uint32_t *intern_find(struct intern *table, uint64_t hash, intern_equal *equal, const void *entries,
                      const void *key);
void intern_free(struct intern *table);

/* Hashes of what a key is made of, chained through `hash` (0 at first). */
uint64_t intern_hash(uint64_t hash, uint64_t value);
uint64_t intern_hash_bytes(uint64_t hash, const void *bytes, size_t n);

#endif
