/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * modules.c - the agent's own list beside the session's module log, same indices.
 *
 * A new object is written where the newest entry for its addresses is another's. Of entries that
 * overlap the newest counts, here and for the daemon, which reads streams by the generation of the
 * log (wire.h): so an entry that has another one above it, however that came, is never used again,
 * and a new one that is above another begins a generation. Its place is taken before the loader is
 * asked for good: what comes to the same addresses later is above it.
 *
 * While an object's headers and name are read dlclose waits, for the time of a few preemptions: a
 * word on a stack may point to what nobody runs in.
 */
#include "preload/life/modules.h"

#include <fcntl.h>
#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>
#include <time.h>
#include <unistd.h>

#include "preload/life/confine.h"
#include "preload/life/glibc.h"
#include "preload/life/hooks.h"
#include "preload/life/sys.h"
#include "preload/sample/stack.h"
#include "preload/wrap/libc.h"
#include "preload/wrap/real.h"

#define NAP_NS    20000
#define NAPS_MOST 250 /* of a dlclose, for those who read what it may take away */

struct known {
    uint64_t start, end, bias;
    const void *eh_frame; /* tells two objects at the same addresses apart */
    _Atomic(const struct unwind_table *) table;
};

static hcct_large struct known known[WIRE_MODULES_MAX];
hcct_large _Atomic uint32_t modules_checked[WIRE_MODULES_MAX];
_Atomic uint64_t modules_state = MODULES_ONE_VALIDITY;
static _Atomic uint32_t generation = 1;
static _Atomic bool misleading;  /* modules_mislead */
static _Atomic uint32_t readers; /* of what the loader has said, at this moment */
static char executable[WIRE_MODULE_BYTES];
static uint64_t own_start, own_end;

static void find_agent(void) {
    struct dl_find_object found;
    if (real_dl_find_object((void *)(uintptr_t)modules_start, &found) != 0)
        return;
    own_start = (uintptr_t)found.dlfo_map_start;
    own_end = (uintptr_t)found.dlfo_map_end;
}

bool modules_is_agent(uint64_t address) {
    return address >= own_start && address < own_end;
}

void modules_start(void) {
    find_agent();
    long n = sys4(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", executable, sizeof executable - 1);
    executable[n > 0 ? n : 0] = '\0';
}

void modules_reset(void) {
    for (uint32_t i = 0; i < WIRE_MODULES_MAX; i++) {
        if (atomic_load_explicit(&modules_checked[i], memory_order_relaxed) == MODULES_NOT_FILLED)
            break;
        atomic_store(&modules_checked[i], MODULES_NOT_FILLED);
        atomic_store(&known[i].table, NULL);
    }
    atomic_store(&misleading, false);
}

/* ---- objects that go ---- */

static bool is_one_closing(void) {
    return (uint32_t)atomic_load(&modules_state) != 0;
}

/* One that was stopped while it reads is not waited for. */
static void await_readers(void) {
    struct agent_thread *self = thread_self;
    uint32_t before;
    if (atomic_load(&readers) == 0 || self == NULL || !agent_owns_memory() ||
        !confine_enter(self, &before))
        return;
    for (int i = 0; i < NAPS_MOST && atomic_load(&readers) != 0; i++)
        sys_nap(NAP_NS);
    confine_leave(self, before);
}

/* Before it is asked who closes: who begins to waits. */
bool modules_reading(void) {
    atomic_fetch_add(&readers, 1);
    if (!is_one_closing())
        return true;
    atomic_fetch_sub(&readers, 1);
    return false;
}

void modules_read(void) {
    atomic_fetch_sub(&readers, 1);
}

void modules_closing(void) {
    atomic_fetch_add(&modules_state, MODULES_ONE_VALIDITY + 1);
    await_readers();
}

/* In a child that was forked in dlclose nobody is in it. */
void modules_closed(void) {
    uint64_t state = atomic_load(&modules_state), one;
    do
        one = (uint32_t)state != 0 ? 1 : 0;
    while (
        !atomic_compare_exchange_weak(&modules_state, &state, state + MODULES_ONE_VALIDITY - one));
}

void modules_recheck(void) {
    atomic_fetch_add(&modules_state, MODULES_ONE_VALIDITY);
}

/* A page that is written to is copied in a child. */
void modules_alone(void) {
    if ((uint32_t)atomic_load(&modules_state) != 0)
        atomic_fetch_and(&modules_state, ~(uint64_t)UINT32_MAX);
    if (atomic_load(&readers) != 0)
        atomic_store(&readers, 0);
}

uint32_t modules_generation(void) {
    return atomic_load_explicit(&generation, memory_order_acquire);
}

struct wire_module *modules_entry(struct wire_session *session, uint32_t i) {
    return (struct wire_module *)(void *)((char *)session + WIRE_MODULES_OFFSET +
                                          (size_t)i * WIRE_MODULE_BYTES);
}

uint32_t modules_logged(struct wire_session *session) {
    uint32_t n = atomic_load_explicit(&session->modules_used, memory_order_acquire);
    return n < WIRE_MODULES_MAX ? n : WIRE_MODULES_MAX;
}

bool modules_mislead(void) {
    return atomic_load_explicit(&misleading, memory_order_relaxed);
}

/* ---- what an object is, read from its own mapped headers ---- */

/* A note segment's GNU build-id. The object is mapped: code of it is on this very stack. */
static void find_build_id(const char *note, const char *end, struct wire_module *module) {
    while (note + sizeof(ElfW(Nhdr)) <= end) {
        const ElfW(Nhdr) *n = (const void *)note;
        const char *name = note + sizeof *n;
        const char *id = name + ((n->n_namesz + 3) & ~3u);
        if (id + n->n_descsz > end || id < name)
            return;
        if (n->n_type == NT_GNU_BUILD_ID && n->n_namesz == 4 && memcmp(name, "GNU", 4) == 0) {
            uint32_t length =
                n->n_descsz < sizeof module->build_id ? n->n_descsz : sizeof module->build_id;
            memcpy(module->build_id, id, length);
            module->build_id_len = (uint8_t)length;
            return;
        }
        note = id + ((n->n_descsz + 3) & ~3u);
    }
}

/* The loader says of a program with a hole between its segments that it ends where its code does,
 * which may be within the first page. */
static void read_headers(const struct dl_find_object *found, uint64_t bias,
                         struct wire_module *module) {
    const char *start = found->dlfo_map_start, *end = found->dlfo_map_end;
    const ElfW(Ehdr) *header = (const void *)start;
    size_t bytes = (size_t)(end - start) < WIRE_PAGE ? (size_t)(end - start) : WIRE_PAGE;
    if (bytes < sizeof *header || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
        header->e_phoff + header->e_phnum * sizeof(ElfW(Phdr)) > bytes)
        return;
    const ElfW(Phdr) *segment = (const void *)(start + header->e_phoff);
    for (unsigned i = 0; i < header->e_phnum && module->build_id_len == 0; i++) {
        uint64_t at = bias + segment[i].p_vaddr;
        if (segment[i].p_type == PT_NOTE && at >= (uint64_t)(uintptr_t)start &&
            at + segment[i].p_filesz <= (uint64_t)(uintptr_t)end)
            find_build_id((const char *)(uintptr_t)at,
                          (const char *)(uintptr_t)at + segment[i].p_filesz, module);
    }
}

/* As much of it as an entry holds. */
static const char *path_of(const struct dl_find_object *found, size_t *length) {
    const char *name = found->dlfo_link_map->l_name;
    const char *path = name != NULL && name[0] != '\0' ? name : executable;
    size_t n = strlen(path), room = sizeof((struct wire_module *)0)->path;
    *length = n < room ? n : room;
    return path;
}

static void describe(const struct dl_find_object *found, uint32_t since,
                     struct wire_module *module) {
    const struct link_map *map = found->dlfo_link_map;
    size_t length;
    const char *path = path_of(found, &length);
    module->start = (uintptr_t)found->dlfo_map_start;
    module->end = (uintptr_t)found->dlfo_map_end;
    module->bias = map->l_addr;
    module->is_vdso = module->start == libc_getauxval(AT_SYSINFO_EHDR);
    module->want_sites = !module->is_vdso && agent_hooks.wants_sites(path, module->start);
    module->missed_from_ns = agent_hooks.missed_from();
    atomic_store(&module->missed_to_ns, 0);
    memcpy(module->path, path, length);
    module->path_len = (uint16_t)length;
    module->build_id_len = 0;
    module->generation = since;
    read_headers(found, module->bias, module);
}

/* ---- look-up ---- */

/* Objects of one layout may follow each other at one address, so the path is compared, too. */
static bool same(const struct known *k, const struct wire_module *logged,
                 const struct dl_find_object *found) {
    size_t length;
    if (k->start != (uintptr_t)found->dlfo_map_start || k->end != (uintptr_t)found->dlfo_map_end ||
        k->eh_frame != found->dlfo_eh_frame)
        return false;
    const char *path = path_of(found, &length);
    return logged->path_len == length && memcmp(logged->path, path, length) == 0;
}

/* Of an object that was there before, its table: one that is loaded again needs not wait for the
 * daemon. */
static const struct unwind_table *table_of_old(struct wire_session *session, uint32_t i) {
    const struct wire_module *module = modules_entry(session, i);
    for (uint32_t k = i; k-- > 0;) {
        const struct wire_module *old = modules_entry(session, k);
        const struct unwind_table *table =
            atomic_load_explicit(&known[k].table, memory_order_acquire);
        if (table != NULL && old->end - old->start == module->end - module->start &&
            old->start - old->bias == module->start - module->bias &&
            old->path_len == module->path_len && old->build_id_len == module->build_id_len &&
            memcmp(old->path, module->path, module->path_len) == 0 &&
            memcmp(old->build_id, module->build_id, module->build_id_len) == 0)
            return table;
    }
    return NULL;
}

/* A place in both lists. UINT32_MAX: there is no room (yet). */
static uint32_t take_place(struct wire_session *session) {
    uint32_t i = modules_logged(session), ready;
    do {
        ready = atomic_load_explicit(&session->modules_ready, memory_order_acquire);
        if (i >= ready || i >= WIRE_MODULES_MAX) {
            atomic_fetch_add(&session->modules_missing, 1);
            return UINT32_MAX;
        }
    } while (!atomic_compare_exchange_weak(&session->modules_used, &i, i + 1));
    return i;
}

/* Entry i says that it is of nothing. */
static void fill_with_nothing(struct wire_session *session, uint32_t i) {
    struct wire_module *module = modules_entry(session, i);
    module->start = module->end = 1; /* beginning and end of nothing */
    module->path_len = module->build_id_len = 0;
    known[i].start = known[i].end = 1;
    atomic_store(&modules_checked[i], MODULES_GONE);
    atomic_store_explicit(&module->filled, 1, memory_order_release);
}

/* Entry i, from generation `since` on, of what was there at validity `now`. */
static void fill(struct wire_session *session, uint32_t i, const struct dl_find_object *found,
                 uint32_t since, uint32_t now) {
    struct wire_module *module = modules_entry(session, i);
    describe(found, since, module);
    struct known *k = &known[i];
    k->start = module->start;
    k->end = module->end;
    k->bias = module->bias;
    k->eh_frame = found->dlfo_eh_frame;
    atomic_store(&k->table, table_of_old(session, i));
    atomic_store_explicit(&module->filled, 1, memory_order_release);
    atomic_store_explicit(&modules_checked[i], now, memory_order_release);
}

/* The loader still knows objects whose memory has just gone: one that a thread closed when its
 * process forked, or that nothing on this stack keeps. */
static bool is_mapped(const struct dl_find_object *found) {
    uint64_t map = (uintptr_t)found->dlfo_link_map;
    if (!stack_is_readable((uintptr_t)found->dlfo_map_start) || !stack_is_readable(map))
        return false;
    const char *name = found->dlfo_link_map->l_name;
    return name == NULL || stack_is_readable((uintptr_t)name);
}

static bool ask(void *pc, struct dl_find_object *found) {
    return real_dl_find_object(pc, found) == 0 && is_mapped(found);
}

bool modules_is_there(struct wire_session *session, uint32_t i) {
    struct dl_find_object found;
    const struct known *k = &known[i];
    uint32_t checked = atomic_load_explicit(&modules_checked[i], memory_order_acquire);
    if (checked == MODULES_NOT_FILLED || checked == MODULES_GONE)
        return false;
    atomic_fetch_add(&readers, 1);
    bool there =
        ask((void *)(uintptr_t)k->start, &found) && same(k, modules_entry(session, i), &found);
    atomic_fetch_sub(&readers, 1);
    return there;
}

static bool overlaps(const struct known *k, const struct dl_find_object *found) {
    return k->start < (uintptr_t)found->dlfo_map_end && k->end > (uintptr_t)found->dlfo_map_start;
}

/* The entry of what was found, if no other one is above it, or may be. UINT32_MAX: it has none. */
static uint32_t confirm(struct wire_session *session, const struct dl_find_object *found,
                        uint32_t now) {
    for (uint32_t i = modules_logged(session); i-- > 0;) {
        uint32_t checked = atomic_load_explicit(&modules_checked[i], memory_order_acquire);
        if (checked == MODULES_NOT_FILLED)
            return UINT32_MAX;
        if (!overlaps(&known[i], found))
            continue;
        if (!same(&known[i], modules_entry(session, i), found))
            return UINT32_MAX;
        while (checked != MODULES_GONE)
            if (atomic_compare_exchange_weak(&modules_checked[i], &checked, now))
                return i;
        return UINT32_MAX;
    }
    return UINT32_MAX;
}

/* What the new entry i hides is not used again. The generation from which on it does so: who finds
 * one of the others gone, or the new entry, is in it already. */
static uint32_t hide_others(uint32_t i, const struct dl_find_object *found) {
    uint32_t since = modules_generation();
    bool hides = false;
    for (uint32_t k = i; k-- > 0;) {
        uint32_t checked = atomic_load_explicit(&modules_checked[k], memory_order_acquire);
        if (checked == MODULES_NOT_FILLED || !overlaps(&known[k], found))
            continue;
        if (!hides)
            since = atomic_fetch_add(&generation, 1) + 1;
        hides = true;
        atomic_store(&modules_checked[k], MODULES_GONE);
    }
    return since;
}

/* There is no room for it. */
static void note_missing(struct wire_session *session, const struct dl_find_object *found) {
    for (uint32_t i = modules_logged(session); i-- > 0;)
        if (atomic_load_explicit(&modules_checked[i], memory_order_acquire) != MODULES_NOT_FILLED &&
            overlaps(&known[i], found))
            atomic_store(&misleading, true);
}

/* A new entry for what covers pc, if something still does. */
static uint32_t append(struct wire_session *session, uint64_t pc, uint32_t now, bool *exists) {
    struct dl_find_object found;
    uint32_t i = take_place(session);
    if (i == UINT32_MAX)
        return UINT32_MAX;
    *exists = ask((void *)(uintptr_t)pc, &found);
    if (!*exists) {
        fill_with_nothing(session, i);
        return UINT32_MAX;
    }
    fill(session, i, &found, hide_others(i, &found), now);
    atomic_store(&misleading, false); /* there is room again; who finds none says so anew */
    return i;
}

/* Asks the loader who covers pc, and gives that object's entry, old or new. */
static uint32_t ask_loader(struct wire_session *session, uint64_t pc, uint32_t now, bool *exists) {
    struct dl_find_object found;
    uint32_t i = UINT32_MAX;
    atomic_fetch_add(&readers, 1);
    *exists = ask((void *)(uintptr_t)pc, &found);
    if (*exists)
        i = confirm(session, &found, now);
    if (*exists && i == UINT32_MAX) {
        i = append(session, pc, now, exists);
        if (*exists && i == UINT32_MAX)
            note_missing(session, &found);
    }
    atomic_fetch_sub(&readers, 1);
    return i;
}

static bool covers(uint32_t i, uint64_t pc, uint32_t now) {
    return modules_was_found(i, now) && pc >= known[i].start && pc < known[i].end;
}

hcct_noinline static uint32_t search(struct wire_session *session, uint64_t pc, uint32_t now,
                                     bool *exists) {
    *exists = true;
    for (uint32_t i = modules_logged(session); i-- > 0;)
        if (covers(i, pc, now))
            return i;
    return ask_loader(session, pc, now, exists);
}

/* The table that the daemon has named for entry i. Its header is checked once. */
static const struct unwind_table *table_of(struct wire_session *session, uint32_t i,
                                           bool *pending) {
    const struct unwind_table *table = atomic_load_explicit(&known[i].table, memory_order_acquire);
    *pending = false;
    if (table != NULL)
        return table;
    uint64_t at = atomic_load_explicit(&modules_entry(session, i)->table, memory_order_acquire);
    *pending = at == WIRE_TABLE_PENDING;
    uint64_t arena = agent.process->arena_bytes;
    if (at < UNWIND_TABLE_ALIGN || at > arena - sizeof *table || at % UNWIND_TABLE_ALIGN != 0)
        return NULL;
    table = (const void *)((const char *)atomic_load(&agent.process->arena) + at);
    if (table->magic != UNWIND_TABLE_MAGIC || table->bytes > arena - at)
        return NULL;
    atomic_store_explicit(&known[i].table, table, memory_order_release);
    return table;
}

bool modules_find(struct agent_thread *thread, struct wire_session *session, uint64_t pc,
                  struct unwind_module *module) {
    uint32_t now = modules_validity();
    uint16_t *cached = &thread->module_cache[(pc >> 16) % THREAD_MODULE_CACHE];
    uint32_t i = *cached != 0 ? *cached - 1u : UINT32_MAX;
    if (i == UINT32_MAX || !covers(i, pc, now)) {
        bool exists;
        i = search(session, pc, now, &exists);
        if (!exists)
            return agent_hooks.find_stubs(pc, module);
        if (i == UINT32_MAX) { /* the daemon is making room for the log */
            *module = (struct unwind_module){.start = pc, .end = pc + 1, .pending = true};
            return true;
        }
        *cached = (uint16_t)(i + 1);
    }
    module->start = known[i].start;
    module->end = known[i].end;
    module->bias = known[i].bias;
    module->table = table_of(session, i, &module->pending);
    module->number = i + 1;
    return true;
}

/* Most words point to no code, and to few pages; what is asked of the loader is bounded. */
#define MISSES_MAX 512u

void modules_learn_pointed(struct agent_thread *thread, struct wire_session *session, uint64_t word,
                           struct modules_missed *missed) {
    struct unwind_module module;
    uint64_t page = word / WIRE_PAGE;
    uint64_t *same_hash = &missed->page[page % MODULES_MISSED];
    if (word < ARCH_LOWEST_CODE || word >> ARCH_ADDRESS_BITS != 0 || *same_hash == page ||
        missed->n == MISSES_MAX)
        return;
    atomic_fetch_add(&readers, 1); /* before it is asked who closes: who begins to waits */
    /* nobody runs in what a stale word points to: it may be going right now */
    bool may = !agent_hooks.late && !is_one_closing();
    if (may && !modules_find(thread, session, word, &module)) {
        *same_hash = page;
        missed->n++;
    }
    atomic_fetch_sub(&readers, 1);
}

/* ---- what is loaded at the start ---- */

struct learning {
    struct agent_thread *thread;
    struct wire_session *session;
};

/* An address in it, 0: there is none. */
static uint64_t code_of(const struct dl_phdr_info *info) {
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type == PT_LOAD && (segment->p_flags & PF_X) != 0)
            return info->dlpi_addr + segment->p_vaddr;
    }
    return 0;
}

static int learn(struct dl_phdr_info *info, size_t size, void *arg) {
    const struct learning *l = arg;
    struct unwind_module module;
    uint64_t code = code_of(info);
    (void)size;
    if (code != 0)
        modules_find(l->thread, l->session, code, &module);
    return 0;
}

static int note(struct dl_phdr_info *info, size_t size, void *arg) {
    uint32_t *n = arg;
    uint64_t code = code_of(info);
    (void)size;
    if (code != 0 && *n < WIRE_MODULES_MAX)
        known[(*n)++].start = code;
    return 0;
}

void modules_note_all(void) {
    uint32_t n = 0;
    libc_iterate_objects(note, &n);
}

void modules_learn_again(struct agent_thread *thread, struct wire_session *session) {
    struct unwind_module module;
    /* an entry is read before it is written anew: none is learned twice */
    for (uint32_t i = 0; i < WIRE_MODULES_MAX && known[i].start != 0; i++)
        modules_find(thread, session, known[i].start, &module);
}

void modules_learn_all(struct agent_thread *thread, struct wire_session *session) {
    struct learning l = {thread, session};
    libc_iterate_objects(learn, &l);
}
