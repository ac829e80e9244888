/*
 * intern.c - the hash table of intern.h.
 */
#include "common/profile/intern.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"

struct intern_slot {
    uint64_t hash;
    uint32_t index; /* 0: empty */
};

/* A multiply and two folds: each bit of the value reaches the low bits, which choose the slot. */
uint64_t intern_hash(uint64_t hash, uint64_t value) {
    hash = (hash ^ value) + 0x9e3779b97f4a7c15ull;
    hash = (hash ^ hash >> 31) * 0xd6e8feb86659fd93ull;
    return hash ^ hash >> 32;
}

uint64_t intern_hash_bytes(uint64_t hash, const void *bytes, size_t n) {
    const char *next = bytes;
    uint64_t word;

    hash = intern_hash(hash, n);
    for (; n >= sizeof(word); n -= sizeof(word), next += sizeof(word)) {
        memcpy(&word, next, sizeof(word));
        hash = intern_hash(hash, word);
    }
    word = 0;
    memcpy(&word, next, n);
    return intern_hash(hash, word);
}

static void enlarge(struct intern *table) {
    struct intern_slot *old = table->slots;
    size_t old_capacity = table->capacity;

    table->capacity = old_capacity > 0 ? old_capacity * 2 : 64;
    table->slots = memory_new(table->capacity, sizeof(*table->slots), "a table of names");
    for (size_t i = 0; i < old_capacity; i++) {
        size_t at = old[i].hash & (table->capacity - 1);

        if (old[i].index == 0)
            continue;
        while (table->slots[at].index != 0)
            at = (at + 1) & (table->capacity - 1);
        table->slots[at] = old[i];
    }
    free(old);
}

uint32_t *intern_find(struct intern *table, uint64_t hash, intern_equal *equal, const void *entries,
                      const void *key) {
    if (table->used + 1 > table->capacity / 4 * 3)
        enlarge(table);
    for (size_t at = hash;; at++) {
        struct intern_slot *slot = &table->slots[at & (table->capacity - 1)];

        if (slot->index == 0) {
            slot->hash = hash;
            table->used++;
            return &slot->index;
        }
        if (slot->hash == hash && equal(entries, slot->index, key))
            return &slot->index;
    }
}

void intern_free(struct intern *table) {
    free(table->slots);
    memset(table, 0, sizeof(*table));
}
