/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * table.c - a pool of labels, an open hash table of their numbers, and the keys, each of which is
 * the number of its label "key=[other]". A label is filled before its number can be found, by a
 * compare-and-swap: of two threads that make the same one, the second takes the first one's.
 */
#include "preload/labels/table.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "common/wire/compiler.h"
#include "preload/life/confine.h"
#include "preload/life/memory.h"
#include "preload/life/sys.h"

#define PLACES_BITS 11 /* twice as many as numbers */
#define PLACES      (1u << PLACES_BITS)
#define OTHER       "[other]"

_Static_assert(WIRE_LABEL_IDS < PLACES && LABEL_VALUES + LABEL_KEYS < WIRE_LABEL_IDS, "room");
_Static_assert(LABEL_KEY_BYTES + sizeof("=" OTHER) <= WIRE_LABEL_ROOM, "of each key");
_Static_assert(WIRE_LABEL_ROOM % 8 == 0, "hash_of");

struct labels {
    _Atomic uint32_t used;            /* numbers that were taken, but for 0 */
    _Atomic uint16_t key[LABEL_KEYS]; /* numbers; 0: no key */
    _Atomic uint16_t place[PLACES];   /* numbers; 0: empty */
    struct label label[WIRE_LABEL_IDS];
};

static _Atomic(struct labels *) labels;

/* ---- memory ---- */

static struct labels *map(void) {
    struct agent_thread *self = thread_self;
    uint32_t before = 0;
    if (self != NULL ? !confine_enter(self, &before) : confine_is_quiet())
        return NULL;
    struct labels *made = memory_map(sizeof *made, PROT_READ | PROT_WRITE,
                                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
    struct labels *there = NULL;
    if (made != NULL && !atomic_compare_exchange_strong(&labels, &there, made)) {
        sys2(SYS_munmap, made, sizeof *made); /* another thread was faster */
        made = there;
    }
    if (self != NULL)
        confine_leave(self, before);
    return made;
}

static struct labels *table(void) {
    struct labels *all = atomic_load_explicit(&labels, memory_order_acquire);
    return hcct_likely(all != NULL) ? all : map();
}

const struct label *label_at(uint32_t id) {
    return &atomic_load_explicit(&labels, memory_order_acquire)->label[id % WIRE_LABEL_IDS];
}

/* ---- texts ---- */

bool label_is_key(const char *key, size_t length) {
    if (length == 0 || length > LABEL_KEY_BYTES)
        return false;
    for (size_t i = 0; i < length; i++) {
        char c = key[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        bool other = (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-';
        if (!letter && (i == 0 || !other))
            return false;
    }
    return true;
}

/* As much of a text as fits, without the beginning of a character. */
static size_t cut(const char *text, size_t room) {
    size_t n = strnlen(text, room + 1);
    if (n <= room)
        return n;
    for (n = room; n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80;)
        n--;
    return n;
}

/* Of a text that zeros follow, up to the end of the word of its NUL. */
static uint32_t hash_of(const struct label *it) {
    uint64_t hash = it->length, word;
    for (unsigned i = 0; i < it->length; i += sizeof word) {
        memcpy(&word, it->text + i, sizeof word);
        hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
        hash ^= hash >> 32;
    }
    return (uint32_t)(hash >> 8);
}

static void compose(struct label *it, const char *key, size_t key_length, const char *value) {
    size_t value_length = cut(value, sizeof it->text - 1 - key_length - 1);
    it->length = (uint32_t)(key_length + 1 + value_length);
    memset(it->text + it->length / 8 * 8, 0, 8);
    memcpy(it->text, key, key_length);
    it->text[key_length] = '=';
    memcpy(it->text + key_length + 1, value, value_length);
    it->hash = hash_of(it);
}

static bool is_same(const struct label *it, const struct label *other) {
    return it->hash == other->hash && it->length == other->length &&
           memcmp(it->text, other->text, it->length) == 0;
}

/* ---- the table ---- */

/* The place of a label, or the empty one where it is to be. */
static _Atomic uint16_t *find(struct labels *all, const struct label *wanted) {
    for (uint32_t i = wanted->hash;; i++) {
        _Atomic uint16_t *place = &all->place[i % PLACES];
        uint16_t id = atomic_load_explicit(place, memory_order_acquire);
        if (id == 0 || is_same(&all->label[id], wanted))
            return place;
    }
}

/* A number below `limit`, whose label becomes that one; 0: there is none left. */
static uint16_t take(struct labels *all, const struct label *it, uint32_t limit) {
    uint32_t used = atomic_load_explicit(&all->used, memory_order_relaxed);
    do {
        if (used >= limit)
            return 0;
    } while (!atomic_compare_exchange_weak(&all->used, &used, used + 1));
    all->label[used + 1] = *it;
    return (uint16_t)(used + 1);
}

static uint16_t add(struct labels *all, const struct label *it, uint32_t limit) {
    uint16_t mine = 0;
    for (;;) {
        _Atomic uint16_t *place = find(all, it);
        uint16_t there = atomic_load_explicit(place, memory_order_acquire);
        if (there != 0)
            return there;
        if (mine == 0 && (mine = take(all, it, limit)) == 0)
            return 0;
        if (atomic_compare_exchange_strong(place, &there, mine))
            return mine;
    }
}

/* The number of the key's label "[other]", 0: there is no room for another key. */
static uint16_t key_of(struct labels *all, const char *key, size_t length) {
    struct label other;
    uint16_t mine = 0;
    for (unsigned i = 0; i < LABEL_KEYS; i++) {
        uint16_t there = atomic_load_explicit(&all->key[i], memory_order_acquire);
        if (there == 0 && mine == 0) {
            compose(&other, key, length, OTHER);
            mine = add(all, &other, WIRE_LABEL_IDS - 1);
        }
        if (there == 0 && (mine == 0 || atomic_compare_exchange_strong(&all->key[i], &there, mine)))
            return mine;
        if (label_is_of(&all->label[there], key, length))
            return there;
    }
    return 0;
}

uint32_t label_intern(const char *key, size_t length, const char *value, bool *placed) {
    struct labels *all = table();
    struct label it;
    *placed = false;
    if (all == NULL || length > LABEL_KEY_BYTES)
        return 0;
    compose(&it, key, length, value);
    uint16_t id = atomic_load_explicit(find(all, &it), memory_order_acquire);
    uint16_t other = 0;
    if (hcct_unlikely(id == 0) && label_is_key(key, length) &&
        (other = key_of(all, key, length)) != 0)
        id = add(all, &it, LABEL_VALUES);
    *placed = id != 0;
    return id != 0 ? id : other;
}

bool label_is_before(const struct label *label, const struct label *other) {
    return strcmp(label->text, other->text) < 0;
}
