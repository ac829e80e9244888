/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * opened.c - objects that come while the program runs, whose first calls may be missed.
 */
#include "preload/redirect/opened.h"

#include <errno.h>
#include <time.h>

#include "preload/calls/hot.h"
#include "preload/life/agent.h"
#include "preload/life/confine.h"
#include "preload/life/modules.h"
#include "preload/life/session.h"
#include "preload/redirect/places.h"
#include "preload/redirect/ready.h"
#include "preload/redirect/redirect.h"
#include "preload/sample/ticker.h"

#define WAITS_FOR_OPENED 5000 /* naps until a library that was opened is called all the same */

static _Atomic uint64_t opened_ns; /* the first dlopen since all objects were known, 0: none */
static _Atomic uint64_t learned_from_ns, learned_to_ns; /* what this and dlsym were, meanwhile */

bool opened_is_any(void) {
    return atomic_load(&opened_ns) != 0;
}

void opened_end_missing(struct wire_module *logged) {
    uint64_t learned = atomic_load(&learned_to_ns);
    if (logged->missed_from_ns != 0 && atomic_load(&logged->missed_to_ns) == 0)
        atomic_store(&logged->missed_to_ns, learned != 0 ? learned : ticker_now(CLOCK_MONOTONIC));
}

uint64_t redirect_missed_from(void) {
    uint64_t learning = atomic_load(&learned_from_ns);
    return learning != 0 ? learning : atomic_load(&opened_ns);
}

void redirect_opening(void) {
    uint64_t none = 0;
    uint32_t before;
    struct agent_thread *self = thread_self;
    if (!redirect_is_meant() || opened_is_any() || self == NULL || !agent_owns_memory() ||
        !confine_enter(self, &before))
        return;
    calls_burst_end(self); /* the next one has the calls of what is opened */
    ready_differ_from_parent();
    atomic_compare_exchange_strong(&opened_ns, &none, ticker_now(CLOCK_MONOTONIC));
    confine_leave(self, before);
}

/* Not in what dlclose calls, as nothing becomes ready meanwhile. */
static void await_opened(struct agent_thread *thread, struct wire_session *session) {
    for (int i = 0; i < WAITS_FOR_OPENED && !places_are_kept() &&
                    !redirect_read_sites(thread, session, 0) && !session_is_dead(session);
         i++)
        places_nap();
}

/* One that was there before, at the same place, has its entry, but no stubs any more. While the
 * program waits none of its calls is missed. */
static void learn_opened(struct agent_thread *thread, bool wait) {
    struct wire_session *session = session_enter(thread);
    if (session == NULL)
        return;
    atomic_store(&learned_from_ns, atomic_exchange(&opened_ns, 0));
    atomic_store(&learned_to_ns, ticker_now(CLOCK_MONOTONIC));
    modules_learn_all(thread, session);
    ready_ask_anew();
    if (wait && !agent.settings.encode && agent.settings.burst_length_ns == 0)
        await_opened(thread, session);
    atomic_store(&learned_from_ns, 0);
    atomic_store(&learned_to_ns, 0);
    session_leave(thread);
}

void redirect_learn_opened(bool wait) {
    uint32_t before;
    struct agent_thread *self = thread_self;
    if (!opened_is_any() || self == NULL || !agent_owns_memory() || !confine_enter(self, &before))
        return;
    int saved = errno;
    learn_opened(self, wait);
    confine_leave(self, before);
    errno = saved;
}
