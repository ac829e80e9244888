/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * gone.c - objects that go: what was made for their calls goes with them.
 */
#include "preload/calls/hot.h"
#include "preload/life/agent.h"
#include "preload/life/confine.h"
#include "preload/life/modules.h"
#include "preload/life/session.h"
#include "preload/redirect/lookup.h"
#include "preload/redirect/module_list.h"
#include "preload/redirect/opened.h"
#include "preload/redirect/places.h"
#include "preload/redirect/redirect.h"
#include "preload/redirect/text_copy.h"

bool redirect_is_there(const struct redirect_module *m, uint32_t number) {
    return !places_are_kept() && atomic_load(&m->there) == number;
}

void redirect_closing(void) {
    if (calls_self != NULL && calls_self->alive)
        redirect_flush(calls_self);
    places_keep();
    if (!module_list_is_empty())
        places_await();
}

static bool has_gone(const struct redirect_module *m) {
    struct dl_find_object object;
    return !module_object_at(m->text, &object) || (uint64_t)object.dlfo_map_start != m->start ||
           object.dlfo_eh_frame != m->eh_frame;
}

static void forget_gone(void) {
    for (struct redirect_module *m = module_list_next(NULL); m != NULL; m = module_list_next(m)) {
        if (has_gone(m)) {
            atomic_store(&m->there, 0);
            lookup_await_readers();
            text_copy_free(m);
        }
    }
}

/* Objects that have gone before their calls were redirected. */
static void end_missing_of_gone(struct wire_session *session) {
    for (uint32_t i = 0; i < modules_logged(session); i++) {
        struct wire_module *logged = modules_entry(session, i);
        if (atomic_load(&logged->filled) != 0 && logged->want_sites &&
            atomic_load(&logged->verdict) == CALLS_UNSAID && !modules_is_there(session, i))
            opened_end_missing(logged);
    }
}

/* Others may go meanwhile, and another may come to the same place: it has an entry of its own. */
static void note_gone(void) {
    uint32_t before;
    struct agent_thread *self = thread_self;
    if (!redirect_is_meant() || self == NULL || !agent_owns_memory() ||
        !confine_enter(self, &before))
        return;
    struct wire_session *session = session_enter(self);
    if (session != NULL) {
        end_missing_of_gone(session);
        session_leave(self);
    }
    confine_leave(self, before);
}

void redirect_closed(void) {
    note_gone();
    if (!module_list_is_empty() && places_keepers() == 1 && places_begin()) {
        forget_gone();
        places_end();
    }
    places_unkeep();
    places_follow();
}
