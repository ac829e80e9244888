/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * send.h - what the daemon is to know of numbered contexts.
 */
#ifndef HCCT_CONTEXT_SEND_H
#define HCCT_CONTEXT_SEND_H

#include <stdbool.h>

#include "preload/context/table.h"
#include "preload/life/agent.h"

/* Private. */
void context_send_rest(struct context_table *all, struct wire_session *session);

/* The session has room for contexts. Any context, inside the session. */
bool context_may_send(void);

/* All that was numbered and not sent yet, as far as the daemon has made room for it; asks for more.
 * Any context, inside the session. */
static inline void context_send(struct wire_session *session) {
    struct context_table *all =
        atomic_load_explicit(&agent.process->contexts, memory_order_acquire);
    if (hcct_unlikely(all != NULL))
        context_send_rest(all, session);
}

#endif
