/*
 * frame.c - position-independent frames: keys in pages that never move, and a hash table of ids.
 */
#include "daemon/code/frame.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define FRAMES_MAX  (1u << 22)
#define PAGE_FRAMES 4096u
#define FIRST_ID    (FRAME_OVERFLOW + 1)
#define SLOTS_FIRST 4096u

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct frame_key *pages[FRAMES_MAX / PAGE_FRAMES];
static uint32_t n_ids = FIRST_ID; /* the next id */
static uint32_t *slots;           /* ids by hash; 0 is free */
static uint32_t n_slots;          /* a power of two */

static struct frame_key *key_of(uint32_t id) {
    return &pages[id / PAGE_FRAMES][id % PAGE_FRAMES];
}

static uint32_t hash_key(const struct frame_key *key) {
    const uint64_t part[] = {key->routine, key->site,
                             (uint64_t)key->routine_module << 32 | key->site_module};
    uint64_t hash = 0;
    for (int i = 0; i < 3; i++) {
        hash = (hash ^ part[i]) * 0x9e3779b97f4a7c15ull;
        hash ^= hash >> 32;
    }
    return (uint32_t)hash;
}

static bool same_key(const struct frame_key *a, const struct frame_key *b) {
    return a->routine == b->routine && a->site == b->site &&
           a->routine_module == b->routine_module && a->site_module == b->site_module;
}

/* The slot of a key, or the free one where it belongs. */
static uint32_t *find_slot(const struct frame_key *key) {
    uint32_t slot = hash_key(key) & (n_slots - 1);
    while (slots[slot] != 0 && !same_key(key_of(slots[slot]), key))
        slot = (slot + 1) & (n_slots - 1);
    return &slots[slot];
}

/* Doubles the table before it is half full. */
static bool grow_slots(void) {
    if (n_ids < n_slots / 2)
        return true;
    uint32_t wanted = n_slots == 0 ? SLOTS_FIRST : 2 * n_slots;
    uint32_t *grown = calloc(wanted, sizeof(*grown));
    if (grown == NULL)
        return false;
    free(slots);
    slots = grown;
    n_slots = wanted;
    for (uint32_t id = FIRST_ID; id < n_ids; id++)
        *find_slot(key_of(id)) = id;
    return true;
}

static uint32_t add_key(uint32_t *slot, const struct frame_key *key) {
    struct frame_key **page = &pages[n_ids / PAGE_FRAMES];
    if (*page == NULL)
        *page = calloc(PAGE_FRAMES, sizeof(**page));
    if (*page == NULL)
        return FRAME_OVERFLOW;
    *key_of(n_ids) = *key;
    *slot = n_ids;
    return n_ids++;
}

uint32_t frame_intern(const struct frame_key *key) {
    uint32_t id = FRAME_OVERFLOW;
    pthread_mutex_lock(&lock);
    if (grow_slots()) {
        uint32_t *slot = find_slot(key);
        if (*slot != 0)
            id = *slot;
        else if (n_ids < FRAMES_MAX)
            id = add_key(slot, key);
    }
    pthread_mutex_unlock(&lock);
    return id;
}

bool frame_get(uint32_t id, struct frame_key *key) {
    pthread_mutex_lock(&lock);
    bool exists = id >= FIRST_ID && id < n_ids;
    if (exists)
        *key = *key_of(id);
    pthread_mutex_unlock(&lock);
    return exists;
}
