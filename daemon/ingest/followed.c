/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * followed.c - entries of the module log, and the agent's words beside them.
 */
#include "daemon/ingest/followed.h"

#include <stdlib.h>

#include "common/base/array_grow.h"
#include "common/code/module.h"

/* Without memory the report says less. */
void followed_note(struct followed *followed, uint32_t index, uint32_t module,
                   const struct call_sites *sites) {
    static const struct call_sites unreadable = {.verdict = CALLS_UNREADABLE};
    char *path = module_copy_path(module);
    if (path == NULL ||
        !array_grow(&followed->entries, followed->n, &followed->room, sizeof(*followed->entries))) {
        free(path);
        return;
    }
    followed->entries[followed->n++] = (struct followed_entry){
        .index = index, .module = call_module_of(sites != NULL ? sites : &unreadable, path)};
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

void followed_end(struct followed *followed, const struct session_memory *memory) {
    add_living(&followed->past, followed, memory);
    forget_entries(followed);
}

void followed_add(struct followed *followed, const struct followed *others) {
    call_modules_add_all(&followed->past, &others->past);
}

void followed_clear(struct followed *followed) {
    forget_entries(followed);
    call_modules_clear(&followed->past);
}
