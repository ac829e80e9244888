/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * followed.c - entries of the module log, and the agent's words beside them.
 */
#include "daemon/ingest/followed.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/array_grow.h"
#include "common/base/clock.h"
#include "common/code/module.h"

/* Without memory the report says less. */
void followed_note(struct followed *followed, uint32_t index, uint32_t module,
                   const struct call_sites *sites) {
    static const struct call_sites unreadable = {.verdict = CALLS_UNREADABLE};
    char *path = module_copy_path(module);
    if (path == NULL ||
        !array_grow(&followed->entries, followed->n, &followed->room, sizeof *followed->entries)) {
        free(path);
        return;
    }
    followed->entries[followed->n++] = (struct followed_entry){
        .index = index, .module = call_module_of(sites != NULL ? sites : &unreadable, path)};
}

/* A program that ends misses calls until now. */
static uint64_t missed_ns(const struct wire_module *said) {
    uint64_t from = said->missed_from_ns;
    uint64_t to = atomic_load_explicit(&said->missed_to_ns, memory_order_relaxed);
    uint64_t now = clock_now();
    if (to == 0 || to > now)
        to = now;
    return from != 0 && from < to ? to - from : 0;
}

/* What the agent has written is not believed beyond what can be. */
static struct call_module as_it_is(const struct followed_entry *entry,
                                   const struct session_memory *memory) {
    struct call_module module = entry->module;
    if (module.verdict != CALLS_FOLLOWED || memory == NULL)
        return module;
    struct wire_module *said = session_memory_module(memory, entry->index);
    unsigned verdict = atomic_load_explicit(&said->verdict, memory_order_acquire);
    uint32_t redirected = atomic_load_explicit(&said->redirected, memory_order_relaxed);
    module.verdict = verdict < CALLS_VERDICTS ? (enum calls_verdict)verdict : CALLS_UNSAID;
    module.redirected = redirected < module.sites ? redirected : module.sites;
    module.missed_ns = missed_ns(said);
    return module;
}

static void add_living(struct call_modules *to, const struct followed *followed,
                       const struct session_memory *memory) {
    for (size_t i = 0; i < followed->n; i++) {
        struct call_module module = as_it_is(&followed->entries[i], memory);
        call_modules_add(to, &module);
    }
}

char *followed_text(const struct followed *followed, const struct session_memory *memory) {
    struct call_modules all = {0};
    if (followed->n == 0 && followed->past.n == 0)
        return NULL;
    call_modules_add_all(&all, &followed->past);
    add_living(&all, followed, memory);
    char *text = call_modules_write(&all);
    call_modules_clear(&all);
    return text;
}

static void forget_entries(struct followed *followed) {
    for (size_t i = 0; i < followed->n; i++)
        free(followed->entries[i].module.path);
    free(followed->entries);
    followed->entries = NULL;
    followed->n = followed->room = 0;
}

static bool is_noted(const struct followed *followed, uint32_t index) {
    for (size_t i = 0; i < followed->n; i++)
        if (followed->entries[i].index == index)
            return true;
    return false;
}

/* The program has ended before its call sites were found; not a child of fork, which has calls
 * redirected as its parent had. */
static void add_unheard(struct followed *followed, const struct session_memory *memory) {
    char path[sizeof((struct wire_module *)0)->path + 1];
    for (uint32_t i = 0; i < session_memory_modules(memory); i++) {
        const struct wire_module *said = session_memory_module(memory, i);
        size_t length = said->path_len;
        if (atomic_load_explicit(&said->filled, memory_order_acquire) == 0 ||
            said->want_sites == 0 || atomic_load(&said->verdict) != CALLS_UNSAID ||
            length >= sizeof path || is_noted(followed, i))
            continue;
        memcpy(path, said->path, length);
        path[length] = '\0';
        call_modules_add(
            &followed->past,
            &(const struct call_module){.path = path, .times = 1, .missed_ns = missed_ns(said)});
    }
}

void followed_end(struct followed *followed, const struct session_memory *memory) {
    add_living(&followed->past, followed, memory);
    add_unheard(followed, memory);
    forget_entries(followed);
}

void followed_add(struct followed *followed, const struct followed *others) {
    call_modules_add_all(&followed->past, &others->past);
}

void followed_clear(struct followed *followed) {
    forget_entries(followed);
    call_modules_clear(&followed->past);
}
