/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * intern.c - slots with a part of the hash, so that few keys are compared, and none is hashed
 * again.
 */
#include "common/base/intern.h"

#include <stdlib.h>

#include "common/base/memory.h"

#define CAPACITY_FIRST 64u /* a power of two, as it doubles */
#define ROOM(capacity) ((capacity) / 4 * 3)

static struct intern_slot *home_of(const struct intern *table, uint32_t hash) {
    return &table->slots[hash & (table->capacity - 1)];
}

static struct intern_slot *after(const struct intern *table, struct intern_slot *slot) {
    return ++slot == table->slots + table->capacity ? table->slots : slot;
}

/* The slot of a key, or the free one where it belongs. */
static struct intern_slot *find(const struct intern *table, uint32_t hash, intern_equal *equal,
                                const void *entries, const void *key) {
    struct intern_slot *slot = home_of(table, hash);
    while (slot->number != 0 && !(slot->hash == hash && equal(entries, slot->number, key)))
        slot = after(table, slot);
    return slot;
}

/* Moves to new slots; keep: NULL, all of them. */
static void move(struct intern *table, struct intern_slot *slots, uint32_t capacity,
                 intern_choice *keep, const void *arg) {
    const struct intern old = *table;
    *table = (struct intern){.slots = slots, .capacity = capacity};
    for (uint32_t i = 0; i < old.capacity; i++) {
        const struct intern_slot *from = &old.slots[i];
        if (from->number == 0 || (keep != NULL && !keep(arg, from->number)))
            continue;
        struct intern_slot *to = home_of(table, from->hash);
        while (to->number != 0)
            to = after(table, to);
        *to = *from;
        table->used++;
    }
    free(old.slots);
}

/* New, empty slots; `must`: there is memory, or the work that needs it ends. */
static struct intern_slot *get_slots(uint32_t capacity, bool must) {
    if (must)
        return memory_new(capacity, sizeof(struct intern_slot), "a table of names");
    return calloc(capacity, sizeof(struct intern_slot));
}

void intern_reserve(struct intern *table, uint32_t n) {
    uint32_t capacity = CAPACITY_FIRST;
    while (n >= ROOM(capacity) && capacity <= UINT32_MAX / 2)
        capacity *= 2;
    if (capacity > table->capacity)
        move(table, get_slots(capacity, true), capacity, NULL, NULL);
}

static bool make_room(struct intern *table, bool must) {
    uint32_t capacity = table->capacity > 0 ? 2 * table->capacity : CAPACITY_FIRST;
    if (table->used < ROOM(table->capacity))
        return true;
    struct intern_slot *slots = get_slots(capacity, must);
    if (slots != NULL)
        move(table, slots, capacity, NULL, NULL);
    return slots != NULL;
}

static uint32_t *take(struct intern *table, uint32_t hash, intern_equal *equal, const void *entries,
                      const void *key) {
    struct intern_slot *slot = find(table, hash, equal, entries, key);
    if (slot->number == 0) {
        slot->hash = hash;
        table->used++;
    }
    return &slot->number;
}

uint32_t *intern_try(struct intern *table, uint64_t hash, intern_equal *equal, const void *entries,
                     const void *key) {
    return make_room(table, false) ? take(table, (uint32_t)hash, equal, entries, key) : NULL;
}

uint32_t *intern_find(struct intern *table, uint64_t hash, intern_equal *equal, const void *entries,
                      const void *key) {
    make_room(table, true);
    return take(table, (uint32_t)hash, equal, entries, key);
}

uint32_t intern_get(const struct intern *table, uint64_t hash, intern_equal *equal,
                    const void *entries, const void *key) {
    return table->capacity > 0 ? find(table, (uint32_t)hash, equal, entries, key)->number : 0;
}

bool intern_keep(struct intern *table, intern_choice *keep, const void *arg) {
    uint32_t n = 0, capacity = CAPACITY_FIRST;
    for (uint32_t i = 0; i < table->capacity; i++)
        n += table->slots[i].number != 0 && keep(arg, table->slots[i].number);
    while (n >= ROOM(capacity))
        capacity *= 2;
    struct intern_slot *slots = get_slots(capacity, false);
    if (slots != NULL)
        move(table, slots, capacity, keep, arg);
    return slots != NULL;
}

void intern_free(struct intern *table) {
    free(table->slots);
    *table = (struct intern){0};
}
