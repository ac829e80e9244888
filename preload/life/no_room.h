/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * no_room.h - what is counted of threads without room for our handler (handler_room.h), on its way
 * to the daemon.
 */
#ifndef HCCT_NO_ROOM_H
#define HCCT_NO_ROOM_H

#include <stdatomic.h>

#include "common/wire/compiler.h"
#include "preload/life/agent.h"

/* The rest of the function below. */
void no_room_report(struct wire_session *session);
/* What no session has heard of yet is this one's to report. Any context, inside the session. */
static inline void no_room_tell(struct wire_session *session) {
    const struct agent_no_room *no_room = &agent.process->no_room;
    if (hcct_unlikely(atomic_load_explicit(&no_room->threads, memory_order_relaxed) != 0 ||
                      atomic_load_explicit(&no_room->ns, memory_order_relaxed) != 0))
        no_room_report(session);
}

#endif
