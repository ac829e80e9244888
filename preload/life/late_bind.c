/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * late_bind.c - which words of which objects, and what they were.
 *
 * There is no list of wrappers: they are what the agent's own library exports, each with the
 * function that stands first of that name in the process, which is the one that the wrapper calls.
 */
#include "preload/life/late_bind.h"

#include <elf.h>
#include <link.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include "common/wire/compiler.h"
#include "common/wire/wire.h"
#include "preload/blocks/link.h"
#include "preload/life/agent.h"
#include "preload/life/glibc.h"
#include "preload/life/memory.h"
#include "preload/life/modules.h"
#include "preload/life/sys.h"
#include "preload/locks/link.h"
#include "preload/redirect/dynamic.h"
#include "preload/redirect/got.h"
#include "preload/sample/stack.h"
#include "preload/wrap/next_symbol.h"
#include "preload/wrap/real.h"

#define WRAPPERS_MAX 256u
#define PLACES       1024u /* of them by address; a power of two */
#define OBJECTS_MAX  2048u
#define WORDS_MAX    32768u
#define NAP_NS       50000
#define NAPS_MOST    200
#define AWAITED_NAPS 40000

/* What a wrapper is there for. */
enum kind { OF_THREADS, OF_BLOCKS, OF_LOCKS };

struct wrapper {
    const char *name;
    uintptr_t real, own; /* `own`: 0: there is none, but who stands before others calls it */
    enum kind kind;
};

struct object {
    const struct link_map *map;
    struct got_object got;
    uintptr_t *proof; /* one of its words, NULL: it has none, and ... */
    uintptr_t before; /* ... what it is again if the same object is loaded anew at its place */
    bool there;       /* in this search */
    uint16_t number;  /* that it gets when those are forgotten that are not */
};

struct word {
    uintptr_t *at;
    uintptr_t before;
    uint16_t wrapper, object;
    bool lazy;
};

static struct wrapper wrappers[WRAPPERS_MAX];
static unsigned n_wrappers;
static uint16_t by_address[PLACES]; /* of wrappers, counted from 1 */

/* What is changed, in a mapping of its own. */
static struct bound {
    struct object object[OBJECTS_MAX];
    struct word word[WORDS_MAX];
    uint32_t objects, words;
    bool in_libc; /* the object that is being bound is libc */
    bool refused, full;
    struct got_pages pages;
} * bound;

static uint64_t loader_start, loader_end;

static _Atomic uint32_t taken; /* one thread works on all this */
static _Atomic bool is_bound;

#define TRIES 64 /* to find all objects of a list that changes */
static _Atomic uint32_t expected;

static bool take(unsigned naps) {
    uint32_t nobody = 0;
    for (unsigned i = 0; !atomic_compare_exchange_strong(&taken, &nobody, 1); i++, nobody = 0) {
        if (i >= naps)
            return false;
        sys_nap(NAP_NS);
    }
    return true;
}

static void give(void) {
    atomic_store(&taken, 0);
}

/* ---- the wrappers ---- */

/* What others may have for themselves, and who throws exceptions calls time and again though no
 * call is redirected. */
static bool is_wrapper(const char *name) {
    return strncmp(name, "hcct_", 5) != 0 && strncmp(name, "__cyg_", 6) != 0 &&
           strcmp(name, "_dl_find_object") != 0;
}

/* The linker's names of the parts of the code that these stand in (events/link.h). */
extern const char __start_hcct_blocks[] __attribute__((visibility("hidden")));
extern const char __stop_hcct_blocks[] __attribute__((visibility("hidden")));
extern const char __start_hcct_locks[] __attribute__((visibility("hidden")));
extern const char __stop_hcct_locks[] __attribute__((visibility("hidden")));

static bool is_between(uintptr_t address, const char *start, const char *stop) {
    return address >= (uintptr_t)start && address < (uintptr_t)stop;
}

static enum kind kind_of(uintptr_t own) {
    if (is_between(own, __start_hcct_blocks, __stop_hcct_blocks))
        return OF_BLOCKS;
    return is_between(own, __start_hcct_locks, __stop_hcct_locks) ? OF_LOCKS : OF_THREADS;
}

static void take_symbol(const ElfW(Sym) * symbol, const char *name, uint64_t bias) {
    if (symbol->st_shndx == SHN_UNDEF || ELF64_ST_TYPE(symbol->st_info) != STT_FUNC ||
        !is_wrapper(name) || n_wrappers == WRAPPERS_MAX)
        return;
    uintptr_t own = bias + symbol->st_value;
    wrappers[n_wrappers++] = (struct wrapper){.name = name, .own = own, .kind = kind_of(own)};
}

/* Symbols for others come last, in a table that says by chains where it ends: buckets, the first of
 * them, words of a filter, a shift; the filter; buckets; chains. */
static void take_exports(const struct dynamic *d, uint64_t bias) {
    const uint32_t *table = d->hash;
    const uint32_t *buckets =
        (const void *)((const uint64_t *)(const void *)(table + 4) + table[2]);
    const uint32_t *chain = buckets + table[0];
    for (uint32_t b = 0; b < table[0]; b++)
        for (uint32_t i = buckets[b]; i >= table[1]; i++) {
            take_symbol(&d->symbols[i], d->names + d->symbols[i].st_name, bias);
            if ((chain[i - table[1]] & 1) != 0)
                break;
        }
}

/* What wrappers of locks try first, and which has none itself. */
static const char *const trials[] = {"pthread_mutex_trylock", "pthread_rwlock_tryrdlock",
                                     "pthread_rwlock_trywrlock", "pthread_spin_trylock",
                                     "mtx_trylock"};

static void take_trials(void) {
    for (size_t i = 0; i < HCCT_ARRAY_LEN(trials) && n_wrappers < WRAPPERS_MAX; i++)
        wrappers[n_wrappers++] = (struct wrapper){.name = trials[i], .kind = OF_LOCKS};
}

static uint32_t place_of(uintptr_t address) {
    return (uint32_t)((uint64_t)address * 0x9e3779b97f4a7c15ull >> 40) % PLACES;
}

/* Several names may be one function: the first wrapper is as good. */
static void list(unsigned i) {
    uint32_t place = place_of(wrappers[i].real);
    while (by_address[place] != 0 && wrappers[by_address[place] - 1].real != wrappers[i].real)
        place = (place + 1) % PLACES;
    if (by_address[place] == 0)
        by_address[place] = (uint16_t)(i + 1);
}

/* Those of events stand before plain functions, some of which no object has: nobody is asked for
 * these. */
static void find_real(bool events) {
    const char *names[WRAPPERS_MAX];
    void *real[WRAPPERS_MAX];
    unsigned n = 0;
    for (unsigned i = 0; i < n_wrappers; i++)
        if ((wrappers[i].kind != OF_THREADS) == events)
            names[n++] = wrappers[i].name;
    if (n > 0)
        (events ? next_symbols_unasked : next_symbols)(names, real, n);
    for (unsigned i = n_wrappers; i-- > 0;)
        if ((wrappers[i].kind != OF_THREADS) == events)
            wrappers[i].real = (uintptr_t)real[--n];
}

/* Any context. */
static void *real_of(const char *name) {
    for (unsigned i = 0; i < n_wrappers; i++)
        if (wrappers[i].kind != OF_THREADS && strcmp(wrappers[i].name, name) == 0)
            return (void *)wrappers[i].real;
    return NULL;
}

static bool learn_wrappers(void) {
    struct dl_find_object own;
    struct dynamic d = {0};
    if (n_wrappers != 0)
        return true;
    if (real_dl_find_object((void *)_r_debug.r_ldbase, &own) == 0) {
        loader_start = (uintptr_t)own.dlfo_map_start;
        loader_end = (uintptr_t)own.dlfo_map_end;
    }
    if (real_dl_find_object((void *)(uintptr_t)late_bind_begin, &own) != 0)
        return false;
    dynamic_read(own.dlfo_link_map->l_ld, &d);
    if (d.symbols == NULL || d.names == NULL || d.hash == NULL)
        return false;
    take_exports(&d, own.dlfo_link_map->l_addr);
    take_trials();
    find_real(false);
    find_real(true);
    hcct_blocks_link.event.find = hcct_locks_link.find = real_of;
    for (unsigned i = 0; i < n_wrappers; i++)
        if (wrappers[i].own != 0 && wrappers[i].real != 0 && wrappers[i].real != wrappers[i].own)
            list(i);
    return n_wrappers != 0;
}

/* Counted from 1; 0: it is none. */
static unsigned wrapper_of(uintptr_t address) {
    for (uint32_t place = place_of(address); by_address[place] != 0; place = (place + 1) % PLACES)
        if (wrappers[by_address[place] - 1].real == address)
            return by_address[place];
    return 0;
}

/* What the loader would find by it. */
static unsigned wrapper_named(const char *name) {
    for (unsigned i = 0; i < n_wrappers; i++)
        if (wrappers[i].own != 0 && wrappers[i].real != 0 && strcmp(wrappers[i].name, name) == 0)
            return i + 1;
    return 0;
}

/* ---- words ---- */

static void note(uint32_t object, const struct got_word *word, uintptr_t before, unsigned which) {
    bound->object[object].proof = word->at;
    bound->object[object].before = before;
    bound->word[bound->words++] = (struct word){.at = word->at,
                                                .before = before,
                                                .wrapper = (uint16_t)(which - 1),
                                                .object = (uint16_t)object,
                                                .lazy = word->lazy};
}

static bool is_wanted(enum kind kind) {
    const struct agent_settings *set = &agent.settings;
    return kind == OF_THREADS || (kind == OF_BLOCKS && settings_have(set, wire_of_blocks)) ||
           (kind == OF_LOCKS && settings_have(set, wire_of_locks));
}

static unsigned wrapper_for(const struct got_word *word) {
    unsigned which =
        word->lazy ? wrapper_named(word->name) : wrapper_of(*(volatile uintptr_t *)word->at);
    if (which == 0 || !is_wanted(wrappers[which - 1].kind))
        return 0;
    return !bound->in_libc || wrappers[which - 1].kind == OF_BLOCKS ? which : 0;
}

/* Of the object that is being bound: functions that it calls by words for calls alone. */
static bool has_slot[WRAPPERS_MAX];

static void note_slot(void *arg, const struct got_word *word) {
    unsigned which = word->slot ? wrapper_for(word) : 0;
    (void)arg;
    if (which != 0)
        has_slot[which - 1] = true;
}

/* Another word of the same function is there for its address, which the program may compare with
 * one that it has taken before. */
static void bind_word(void *arg, const struct got_word *word) {
    uint32_t object = *(const uint32_t *)arg;
    uintptr_t before = *(volatile uintptr_t *)word->at;
    unsigned which = wrapper_for(word);
    if (which == 0 || (!word->slot && has_slot[which - 1]))
        return;
    if (bound->words == WORDS_MAX) {
        bound->full = true;
        return;
    }
    enum got_changed changed = got_change(&bound->pages, word->at, before, wrappers[which - 1].own);
    if (changed == GOT_CHANGED)
        note(object, word, before, which);
    bound->refused |= changed == GOT_REFUSED;
}

/* A thread that was in the loader for a word when it was changed has filled it since. */
static void bind_again(void) {
    for (uint32_t i = 0; i < bound->words; i++) {
        const struct word *word = &bound->word[i];
        const struct wrapper *wrapper = &wrappers[word->wrapper];
        if (word->lazy && *(volatile uintptr_t *)word->at == wrapper->real)
            (void)got_change(&bound->pages, word->at, wrapper->real, wrapper->own);
    }
}

static void put_back(const struct word *word) {
    (void)got_change(&bound->pages, word->at, wrappers[word->wrapper].own, word->before);
}

/* ---- objects ---- */

static bool is_same(const struct object *object, const struct link_map *map, uint64_t dynamic) {
    return object->map == map && (uintptr_t)object->got.dynamic == dynamic &&
           object->got.bias == map->l_addr;
}

/* The loader's answer for something in it, which takes no lock, is the proof that it is there. */
static bool find_object(const struct link_map *map, struct dl_find_object *found) {
    return map->l_ld != NULL && real_dl_find_object((void *)map->l_ld, found) == 0 &&
           found->dlfo_link_map == map;
}

static bool is_still_there(const struct object *object) {
    struct dl_find_object found;
    return real_dl_find_object((void *)(uintptr_t)object->got.dynamic, &found) == 0 &&
           found.dlfo_link_map == object->map &&
           (uintptr_t)found.dlfo_map_start == object->got.start;
}

static bool has(const struct dl_find_object *found, const void *address) {
    return address >= (const void *)found->dlfo_map_start &&
           address < (const void *)found->dlfo_map_end;
}

/* The kernel's object has no such words. What libc allocates for its callers it asks for as they
 * do, where a preloaded malloc would be asked, too. */
static bool is_left_out(const struct dl_find_object *found) {
    return (uintptr_t)found->dlfo_map_start == (uintptr_t)_r_debug.r_ldbase ||
           has(found, (const void *)(uintptr_t)late_bind_begin) ||
           found->dlfo_link_map->l_name == NULL ||
           strncmp(found->dlfo_link_map->l_name, "linux-vdso", 10) == 0;
}

static void bind_object(const struct link_map *map, const struct dl_find_object *found) {
    if (bound->objects == OBJECTS_MAX) {
        bound->full = true;
        return;
    }
    uint32_t i = bound->objects++;
    bound->in_libc = has(found, (const void *)(uintptr_t)gnu_get_libc_version);
    bound->object[i] = (struct object){.map = map,
                                       .got = {.dynamic = map->l_ld,
                                               .bias = map->l_addr,
                                               .start = (uintptr_t)found->dlfo_map_start,
                                               .end = (uintptr_t)found->dlfo_map_end,
                                               .own = bound->in_libc},
                                       .there = true};
    if (!is_left_out(found)) {
        memset(has_slot, 0, sizeof has_slot);
        got_words(&bound->object[i].got, note_slot, NULL);
        got_words(&bound->object[i].got, bind_word, &i);
    }
    got_done(&bound->pages);
}

static bool is_as_it_was(const struct object *object) {
    return object->proof == NULL || *(volatile uintptr_t *)object->proof != object->before;
}

/* False: it is not known to the loader yet. What it knows has all its words, and their rights. */
static bool see(const struct link_map *map) {
    struct dl_find_object found;
    if (!find_object(map, &found))
        return false;
    for (uint32_t i = 0; i < bound->objects; i++)
        if (is_same(&bound->object[i], map, (uintptr_t)map->l_ld) &&
            is_as_it_was(&bound->object[i])) {
            bound->object[i].there = true;
            return true;
        }
    bind_object(map, &found);
    return true;
}

#define NO_NUMBER UINT16_MAX

static void number_objects(void) {
    uint16_t n = 0;
    for (uint32_t i = 0; i < bound->objects; i++)
        bound->object[i].number = bound->object[i].there ? n++ : NO_NUMBER;
}

/* Their words are nobody's, or another object's. */
static void forget_gone(void) {
    uint32_t objects = 0, words = 0;
    number_objects();
    for (uint32_t i = 0; i < bound->words; i++) {
        struct word word = bound->word[i];
        word.object = bound->object[word.object].number;
        if (word.object != NO_NUMBER)
            bound->word[words++] = word;
    }
    for (uint32_t i = 0; i < bound->objects; i++)
        if (bound->object[i].number != NO_NUMBER)
            bound->object[objects++] = bound->object[i];
    bound->objects = objects;
    bound->words = words;
}

static bool is_list_whole(void) {
    return ((volatile struct r_debug *)&_r_debug)->r_state == RT_CONSISTENT;
}

#define LIST_MAX 16384 /* an element that is changed meanwhile may lead in a circle */

/* An element may have been freed where nobody has said so (libc closes objects itself): what is
 * read there is checked. */
static bool see_all(void) {
    const struct link_map *map = _r_debug.r_map;
    bool all = true;
    for (uint32_t i = 0; i < bound->objects; i++)
        bound->object[i].there = false;
    for (int n = 0; map != NULL && n < LIST_MAX; n++, map = map->l_next) {
        if (!is_list_whole() || !stack_is_readable((uintptr_t)map & ~7ull))
            return false;
        all &= see(map);
    }
    return all && map == NULL && is_list_whole();
}

/* What has come in a list that was not whole is looked for again. */
static bool search(void) {
    if (!modules_reading())
        return false;
    bool whole = is_list_whole() && see_all();
    if (!whole)
        for (uint32_t i = 0; i < bound->objects; i++)
            bound->object[i].there = is_still_there(&bound->object[i]);
    forget_gone();
    bind_again();
    got_done(&bound->pages);
    bound->pages.same = 0;
    modules_read();
    return whole;
}

/* ---- from outside ---- */

static bool unbind(void) {
    if (!modules_reading())
        return false;
    for (uint32_t i = 0; i < bound->objects; i++)
        bound->object[i].there = is_still_there(&bound->object[i]);
    forget_gone();
    for (uint32_t i = 0; i < bound->words; i++)
        put_back(&bound->word[i]);
    got_done(&bound->pages);
    bound->pages.same = 0;
    bound->words = bound->objects = 0;
    modules_read();
    return true;
}

bool late_bind_is_loader(uint64_t pc) {
    return pc >= loader_start && pc < loader_end;
}

bool late_bind_begin(void) {
    if (bound == NULL)
        bound = memory_map(sizeof *bound, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
    if (bound == NULL || !learn_wrappers() || !take(NAPS_MOST))
        return false;
    bound->refused = bound->full = false;
    atomic_store(&expected, search() ? 0 : TRIES);
    bool good = !bound->refused && !bound->full;
    if (!good)
        (void)unbind();
    atomic_store(&is_bound, good);
    give();
    return good;
}

bool late_bind_end(void) {
    if (bound == NULL)
        return true;
    atomic_store(&is_bound, false);
    if (!take(NAPS_MOST))
        return false;
    bool all = unbind();
    give();
    return all;
}

void late_bind_expect(void) {
    atomic_store(&expected, TRIES);
}

void late_bind_search_all(void) {
    if (!atomic_load(&is_bound) || !take(0))
        return;
    uint32_t tries = atomic_exchange(&expected, 0), none = 0;
    if (atomic_load(&is_bound) && !search() && tries > 1)
        atomic_compare_exchange_strong(&expected, &none, tries - 1);
    give();
}

void late_bind_search(void) {
    if (atomic_load_explicit(&expected, memory_order_relaxed) != 0)
        late_bind_search_all();
}

void late_bind_await(void) {
    for (int i = 0; i < AWAITED_NAPS && atomic_load(&taken) != 0; i++)
        sys_nap(NAP_NS);
}

void late_bind_alone(void) {
    atomic_store(&taken, 0);
}
