/*
 * jit_names.c - strings that are never moved, and a hash table of their numbers.
 */
#include "daemon/code/jit_names.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS_FIRST 1024u

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char **names;
static uint32_t n_names = JIT_UNNAMED + 1;
static size_t name_bytes;
static uint32_t *slots;  /* numbers by hash; JIT_UNNAMED is free */
static uint32_t n_slots; /* a power of two */

static uint32_t hash_name(const char *name) {
    uint64_t hash = 0xcbf29ce484222325ull;
    for (; *name != '\0'; name++)
        hash = (hash ^ (unsigned char)*name) * 0x100000001b3ull;
    return (uint32_t)(hash ^ hash >> 32);
}

/* The slot of a name, or the free one where it belongs. */
static uint32_t *find_slot(const char *name) {
    uint32_t slot = hash_name(name) & (n_slots - 1);
    while (slots[slot] != JIT_UNNAMED && strcmp(names[slots[slot]], name) != 0)
        slot = (slot + 1) & (n_slots - 1);
    return &slots[slot];
}

/* Room for one more: the table is at most half full. */
static bool make_room(void) {
    if (n_names < n_slots / 2)
        return true;
    uint32_t wanted = n_slots == 0 ? SLOTS_FIRST : 2 * n_slots;
    char **grown_names = realloc(names, wanted / 2 * sizeof *names);
    if (grown_names == NULL)
        return false;
    names = grown_names;
    uint32_t *grown = calloc(wanted, sizeof *grown);
    if (grown == NULL)
        return false;
    free(slots);
    slots = grown;
    n_slots = wanted;
    for (uint32_t i = JIT_UNNAMED + 1; i < n_names; i++)
        *find_slot(names[i]) = i;
    return true;
}

static uint32_t add(uint32_t *slot, const char *name) {
    size_t bytes = strlen(name) + 1;
    if (n_names > JIT_NAMES_MAX || name_bytes + bytes > JIT_NAMES_BYTES_MAX)
        return JIT_UNNAMED;
    names[n_names] = strdup(name);
    if (names[n_names] == NULL)
        return JIT_UNNAMED;
    name_bytes += bytes;
    *slot = n_names;
    return n_names++;
}

uint32_t jit_name_intern(const char *name) {
    uint32_t number = JIT_UNNAMED;
    pthread_mutex_lock(&lock);
    if (make_room()) {
        uint32_t *slot = find_slot(name);
        number = *slot != JIT_UNNAMED ? *slot : add(slot, name);
    }
    pthread_mutex_unlock(&lock);
    return number;
}

const char *jit_name(uint32_t number) {
    const char *name = "[generated code]";
    pthread_mutex_lock(&lock);
    if (number != JIT_UNNAMED && number < n_names)
        name = names[number];
    pthread_mutex_unlock(&lock);
    return name;
}
