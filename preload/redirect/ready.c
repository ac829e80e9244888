/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * ready.c - modules become ready: what the daemon has said of each, and what is said of it in the
 * log.
 */
#include "preload/redirect/ready.h"

#include "common/wire/call_sites.h"
#include "preload/life/agent.h"
#include "preload/life/modules.h"
#include "preload/life/session.h"
#include "preload/life/session_slots.h"
#include "preload/redirect/form.h"
#include "preload/redirect/module_list.h"
#include "preload/redirect/opened.h"
#include "preload/redirect/places.h"
#include "preload/redirect/redirect.h"
#include "preload/redirect/text_copy.h"

#define WAITS_FOR_SITES 50000 /* naps until the program begins all the same */

static _Atomic uint32_t answered;       /* modules of the log that need no other answer ... */
static _Atomic uint32_t answered_epoch; /* ... in this session */
static _Atomic bool as_in_parent;       /* a child: all are as they were at the fork */

static struct redirect_module *module_at(uint64_t text) {
    for (struct redirect_module *m = module_list_next(NULL); m != NULL; m = module_list_next(m))
        if (m->text == text)
            return m;
    return NULL;
}

static enum calls_verdict make_ready(const struct wire_module *logged,
                                     const struct call_sites *table, uint32_t *sites) {
    struct dl_find_object object;
    uint64_t text = logged->bias + table->text_start;
    struct redirect_module *m = module_at(text);
    if (m == NULL) {
        m = module_list_place();
        if (m == NULL)
            return module_list_is_empty() ? CALLS_NO_MEMORY : CALLS_TOO_MANY;
        if (!module_object_at(text, &object) || (uint64_t)object.dlfo_map_start != logged->start)
            return CALLS_TEXT_DIFFERS;
        *m = (struct redirect_module){.form = redirect_form(),
                                      .text = text,
                                      .bytes = table->text_bytes,
                                      .sites = table->sites,
                                      .callees = table->callees,
                                      .start = logged->start,
                                      .eh_frame = object.dlfo_eh_frame};
        enum calls_verdict verdict = text_copy_make(m, logged->bias, table);
        if (verdict != CALLS_FOLLOWED)
            return verdict;
        module_list_add(m);
    }
    *sites = m->sites;
    return CALLS_FOLLOWED;
}

/* Where the linker has left gaps between segments (-z max-page-size), an object is to the loader
 * what it has of code, up to its last byte. */
static bool is_sound(const struct wire_module *logged, const struct call_sites *table,
                     uint64_t room) {
    uint64_t text = logged->bias + table->text_start;
    uint64_t end = (logged->end + WIRE_PAGE - 1) & ~(uint64_t)(WIRE_PAGE - 1);
    return table->magic == CALL_SITES_MAGIC && table->bytes <= room &&
           table->sites_off + (uint64_t)table->sites * sizeof(struct call_site) <= table->bytes &&
           table->callees_off + (uint64_t)table->callees * sizeof(struct call_callee) <=
               table->bytes &&
           table->text_bytes % WIRE_PAGE == 0 && text % WIRE_PAGE == 0 && text >= logged->start &&
           text + table->text_bytes <= end && table->text_bytes > CALL_SITE_BYTES;
}

static void say(struct wire_module *logged, enum calls_verdict verdict, uint32_t sites) {
    if (verdict == CALLS_FOLLOWED)
        opened_end_missing(logged);
    atomic_store(&logged->redirected, sites);
    atomic_store_explicit(&logged->verdict, (uint8_t)verdict, memory_order_release);
}

/* In an earlier session, or in the process that this one was forked from. */
static const struct redirect_module *redirected_before(const struct wire_module *logged) {
    struct dl_find_object object;
    for (const struct redirect_module *m = module_list_next(NULL); m != NULL;
         m = module_list_next(m))
        if (m->start == logged->start && module_object_at(m->text, &object) &&
            object.dlfo_eh_frame == m->eh_frame)
            return m;
    return NULL;
}

/* Nothing is to be done: it was said before, and its object has not gone and come again. */
static bool is_done(struct wire_session *session, uint32_t i, bool redirected) {
    const struct wire_module *logged = modules_entry(session, i);
    uint8_t verdict = atomic_load(&logged->verdict);
    return !logged->want_sites ||
           (verdict == CALLS_FOLLOWED ? redirected || !modules_is_there(session, i)
                                      : verdict != CALLS_UNSAID);
}

/* What the daemon has said of it. False: nothing yet. */
static bool hear(struct wire_session *session, uint32_t i) {
    struct wire_module *logged = modules_entry(session, i);
    if (atomic_load_explicit(&logged->filled, memory_order_acquire) == 0)
        return false;
    const struct redirect_module *before = redirected_before(logged);
    if (is_done(session, i, before != NULL))
        return true;
    if (before != NULL) {
        say(logged, CALLS_FOLLOWED, before->sites);
        return true;
    }
    uint64_t at = atomic_load_explicit(&logged->sites, memory_order_acquire);
    if (at == WIRE_TABLE_PENDING)
        return false;
    if (redirect_is_interposer(logged->start)) {
        say(logged, CALLS_INTERPOSES, 0);
        return true;
    }
    uint64_t arena = agent.process->arena_bytes;
    if (at == WIRE_TABLE_NONE || at % 64 != 0 || at > arena - sizeof(struct call_sites))
        return true;
    const struct call_sites *table =
        (const void *)((const char *)atomic_load(&agent.process->arena) + at);
    uint32_t sites = 0;
    if (!is_sound(logged, table, arena - at))
        return true;
    enum calls_verdict verdict = make_ready(logged, table, &sites);
    say(logged, verdict, sites);
    return true;
}

static void forget_answered(struct agent_thread *thread) {
    if (atomic_load(&answered_epoch) == thread->epoch)
        return;
    atomic_store(&answered, 0);
    atomic_store(&answered_epoch, thread->epoch);
}

/* How many modules of the log are still to be heard of. */
static uint32_t look(struct agent_thread *thread, struct wire_session *session) {
    uint32_t waited_for = 0, n = modules_logged(session);
    forget_answered(thread);
    for (uint32_t i = atomic_load(&answered); i < n; i++) {
        bool heard = hear(session, i);
        waited_for += !heard;
        if (heard && waited_for == 0 && !opened_is_any())
            atomic_store(&answered, i + 1);
    }
    return waited_for;
}

bool ready_is_all_answered(const struct agent_thread *thread, struct wire_session *session) {
    return atomic_load(&answered_epoch) == thread->epoch &&
           atomic_load(&answered) == modules_logged(session);
}

void ready_ask_anew(void) {
    atomic_store(&answered, 0);
}

void ready_after_fork_child(bool all) {
    atomic_store(&answered_epoch, 0);
    atomic_store(&as_in_parent, all);
}

bool ready_is_as_in_parent(void) {
    return atomic_load(&as_in_parent);
}

void ready_differ_from_parent(void) {
    atomic_store(&as_in_parent, false);
}

bool redirect_read_sites(struct agent_thread *thread, struct wire_session *session, uint64_t pc) {
    struct unwind_module module;
    if (!redirect_is_meant())
        return true;
    if (places_are_kept() || session_slot(thread, session) == NULL)
        return false;
    if (pc != 0)
        modules_find(thread, session, pc, &module);
    if (ready_is_all_answered(thread, session))
        return true;
    if (!places_begin())
        return false;
    uint32_t to_come = look(thread, session);
    places_set();
    places_end();
    return to_come == 0 || ready_is_as_in_parent();
}

static bool has_tables(struct wire_session *session) {
    for (uint32_t i = 0; i < modules_logged(session); i++)
        if (atomic_load(&modules_entry(session, i)->table) == WIRE_TABLE_PENDING)
            return false;
    return true;
}

/* All that is loaded is in the log; else there was no room, which the daemon makes when it is
 * missed. */
static bool is_all_logged(struct agent_thread *thread, struct wire_session *session) {
    uint32_t before = atomic_load(&session->modules_missing);
    modules_learn_all(thread, session);
    return atomic_load(&session->modules_missing) == before;
}

/* Walks are to reach the root from the first call on, so all tables are waited for, too. The daemon
 * looks at the log of a process that has a slot. */
static bool is_ready(struct agent_thread *thread, struct wire_session *session) {
    bool has_slot = session_slot(thread, session) != NULL;
    uint32_t to_come = look(thread, session);
    return has_slot && to_come == 0 && has_tables(session);
}

void redirect_await(struct agent_thread *thread, struct wire_session *session) {
    bool logged = false;
    if (!redirect_is_meant() || !places_begin())
        return;
    for (int i = 0; i < WAITS_FOR_SITES && !session_is_dead(session); i++) {
        logged = logged || is_all_logged(thread, session);
        if (logged && is_ready(thread, session))
            break;
        places_nap();
    }
    places_end();
}
