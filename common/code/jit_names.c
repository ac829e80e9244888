/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * jit_names.c - strings that are never moved, and a hash table of their numbers.
 */
#include "common/code/jit_names.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/intern.h"
#include "common/code/module.h"

#define BLOCK 1024u

/* Text of an expected name: no name of a function begins so. */
#define EXPECTED "\001%" PRIx64 " %" PRIx64

struct name {
    char *text; /* NULL: the number is free */
    struct owner *owner;
    uint32_t next_free;
    uint32_t resolved; /* the number of the name that this stands for; JIT_UNNAMED: none */
    bool marked;       /* by the sweep of its owner's */
};

/* A user's share. */
struct owner {
    struct owner *next;
    const struct frame_user *user;
    uint32_t names;
    size_t bytes;
    bool sweeping;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct owner *owners;
static struct name *blocks[JIT_NAMES_MAX / BLOCK + 1];
static uint32_t n_numbers = JIT_UNNAMED + 1;
static uint32_t first_free; /* a number; JIT_UNNAMED: none */
static struct intern by_text;

static struct name *name_of(uint32_t number) {
    return &blocks[number / BLOCK][number % BLOCK];
}

static struct owner *owner_of(const struct frame_user *user) {
    struct owner *owner = owners;
    while (owner != NULL && owner->user != user)
        owner = owner->next;
    if (owner == NULL && (owner = calloc(1, sizeof *owner)) != NULL) {
        owner->user = user;
        owner->next = owners;
        owners = owner;
    }
    return owner;
}

/* ---- the table ---- */

/* A user's name. */
struct key {
    const struct owner *owner;
    const char *text;
};

static bool is_name(const void *none, uint32_t number, const void *key) {
    const struct key *wanted = key;
    (void)none;
    return name_of(number)->owner == wanted->owner &&
           strcmp(name_of(number)->text, wanted->text) == 0;
}

static uint64_t hash(const struct key *key) {
    return seeded_hash_bytes((uintptr_t)key->owner, key->text, strlen(key->text));
}

/* At the end of a sweep of the names of `owner`. */
static bool stays(const void *owner, uint32_t number) {
    return name_of(number)->owner != owner || name_of(number)->marked;
}

/* ---- names ---- */

static uint32_t take_number(void) {
    uint32_t number = first_free;
    if (number != JIT_UNNAMED) {
        first_free = name_of(number)->next_free;
        return number;
    }
    if (n_numbers > JIT_NAMES_MAX)
        return JIT_UNNAMED;
    struct name **block = &blocks[n_numbers / BLOCK];
    if (*block == NULL)
        *block = calloc(BLOCK, sizeof **block);
    return *block != NULL ? n_numbers++ : JIT_UNNAMED;
}

static void give_number(uint32_t number) {
    *name_of(number) = (struct name){.next_free = first_free};
    first_free = number;
}

static uint32_t add(struct owner *owner, const char *text) {
    const struct key key = {owner, text};
    size_t bytes = strlen(text) + 1;
    if (owner->names >= JIT_NAMES_USER_MAX || owner->bytes + bytes > JIT_NAMES_USER_BYTES_MAX)
        return JIT_UNNAMED;
    char *copy = strdup(text);
    uint32_t number = copy != NULL ? take_number() : JIT_UNNAMED;
    uint32_t *slot =
        number != JIT_UNNAMED ? intern_try(&by_text, hash(&key), is_name, NULL, &key) : NULL;
    if (slot == NULL) {
        if (number != JIT_UNNAMED)
            give_number(number);
        free(copy);
        return JIT_UNNAMED;
    }
    *name_of(number) = (struct name){.text = copy, .owner = owner};
    owner->names++;
    owner->bytes += bytes;
    *slot = number;
    return number;
}

static uint32_t intern_locked(struct owner *owner, const char *text) {
    const struct key key = {owner, text};
    uint32_t number = intern_get(&by_text, hash(&key), is_name, NULL, &key);
    if (number == JIT_UNNAMED)
        number = add(owner, text);
    if (number != JIT_UNNAMED)
        name_of(number)->marked |= owner->sweeping;
    return number;
}

uint32_t jit_name_intern_for(struct frame_user *user, const char *text) {
    pthread_mutex_lock(&lock);
    struct owner *owner = owner_of(user);
    uint32_t number = owner != NULL ? intern_locked(owner, text) : JIT_UNNAMED;
    pthread_mutex_unlock(&lock);
    if (number == JIT_UNNAMED)
        frame_request_sweep(user);
    return number;
}

uint32_t jit_name_intern(const char *name) {
    return jit_name_intern_for(frame_own_user(), name);
}

const char *jit_name(uint32_t number) {
    const char *name = NULL;
    pthread_mutex_lock(&lock);
    if (number != JIT_UNNAMED && number < n_numbers) {
        uint32_t resolved = name_of(number)->resolved;
        name = name_of(resolved != JIT_UNNAMED ? resolved : number)->text;
    }
    pthread_mutex_unlock(&lock);
    return name != NULL && *name != *EXPECTED ? name : "[generated code]";
}

/* ---- names that come later ---- */

uint32_t jit_name_expect(struct frame_user *user, uint64_t who, uint64_t address) {
    char text[64];
    snprintf(text, sizeof text, EXPECTED, who, address);
    return jit_name_intern_for(user, text);
}

static bool is_expected(const struct name *name, uint64_t who, uint64_t *address) {
    uint64_t asked;
    return *name->text == *EXPECTED && name->resolved == JIT_UNNAMED &&
           sscanf(name->text, "\001%" SCNx64 " %" SCNx64, &asked, address) == 2 && asked == who;
}

void jit_names_resolve(struct frame_user *user, uint64_t who,
                       const char *find(void *arg, uint64_t address), void *arg) {
    uint64_t address;
    pthread_mutex_lock(&lock);
    struct owner *owner = owner_of(user);
    uint32_t n = owner != NULL ? n_numbers : 0;
    for (uint32_t i = JIT_UNNAMED + 1; i < n; i++) {
        if (name_of(i)->owner != owner || !is_expected(name_of(i), who, &address))
            continue;
        const char *found = find(arg, address);
        if (found != NULL)
            name_of(i)->resolved = intern_locked(owner, found);
    }
    pthread_mutex_unlock(&lock);
}

uint32_t jit_names_count(struct frame_user *user) {
    pthread_mutex_lock(&lock);
    struct owner *owner = owner_of(user);
    uint32_t n = owner != NULL ? owner->names : 0;
    pthread_mutex_unlock(&lock);
    return n;
}

/* ---- sweeps ---- */

void jit_names_sweep_begin(struct frame_user *user) {
    pthread_mutex_lock(&lock);
    struct owner *owner = owner_of(user);
    if (owner != NULL && owner->names > 0) {
        owner->sweeping = true;
        for (uint32_t i = JIT_UNNAMED + 1; i < n_numbers; i++)
            if (name_of(i)->owner == owner)
                name_of(i)->marked = false;
    }
    pthread_mutex_unlock(&lock);
}

static void mark(uint32_t module, uint64_t number) {
    if (module != MODULE_JIT || number <= JIT_UNNAMED || number >= n_numbers)
        return;
    struct name *name = name_of((uint32_t)number);
    name->marked = true;
    if (name->resolved != JIT_UNNAMED)
        name_of(name->resolved)->marked = true;
}

void jit_names_mark(const struct frame_key *key) {
    if (key->routine_module != MODULE_JIT && key->site_module != MODULE_JIT)
        return;
    pthread_mutex_lock(&lock);
    mark(key->routine_module, key->routine);
    mark(key->site_module, key->site);
    pthread_mutex_unlock(&lock);
}

static void drop(struct owner *owner, uint32_t number) {
    struct name *name = name_of(number);
    owner->names--;
    owner->bytes -= strlen(name->text) + 1;
    free(name->text);
    give_number(number);
}

static void drop_unmarked(struct owner *owner) {
    for (uint32_t i = JIT_UNNAMED + 1; i < n_numbers; i++)
        if (name_of(i)->owner == owner && !name_of(i)->marked)
            drop(owner, i);
}

void jit_names_sweep_end(struct frame_user *user, bool whole) {
    pthread_mutex_lock(&lock);
    struct owner *owner = owner_of(user);
    if (owner != NULL && owner->sweeping) {
        owner->sweeping = false;
        if (whole && intern_keep(&by_text, stays, owner))
            drop_unmarked(owner);
    }
    pthread_mutex_unlock(&lock);
}
