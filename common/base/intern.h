/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * intern.h - a hash table from keys to numbers from 1 on.
 *
 * It holds the numbers only; the entries they stand for are the caller's, who also compares keys
 * with them, and hashes them by seeded_hash.h. Open addressing with linear probing, at most three
 * quarters full. Not locked.
 */
#ifndef HCCT_INTERN_H
#define HCCT_INTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/seeded_hash.h"

struct intern_slot {
    uint32_t hash;   /* a part of it */
    uint32_t number; /* 0: free */
};

/* All zero is an empty table. */
struct intern {
    struct intern_slot *slots;
    uint32_t capacity, used;
};

/* Is entry `number` of `entries` what `key` asks for? */
typedef bool intern_equal(const void *entries, uint32_t number, const void *key);

typedef bool intern_choice(const void *arg, uint32_t number);

/* Where the number of `key` is. Zero there: the key is new, and the caller must store its number
 * before the next call. NULL: there is no memory. */
uint32_t *intern_try(struct intern *table, uint64_t hash, intern_equal *equal, const void *entries,
                     const void *key);
/* The same; without memory the program ends (memory.h). */
uint32_t *intern_find(struct intern *table, uint64_t hash, intern_equal *equal, const void *entries,
                      const void *key);
/* The number of `key`, 0: it has none. */
uint32_t intern_get(const struct intern *table, uint64_t hash, intern_equal *equal,
                    const void *entries, const void *key);

/* Room for n keys from the start. */
void intern_reserve(struct intern *table, uint32_t n);

/* Forgets all numbers but those that `keep` says. False: there is no memory, and nothing is
 * forgotten. */
bool intern_keep(struct intern *table, intern_choice *keep, const void *arg);
void intern_free(struct intern *table);

#endif
