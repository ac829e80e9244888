/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * marks.h - where marks (hcct.h) are put: into a session's memory, and while there is none into the
 * process's own, from where the next session has them.
 *
 * Any thread, and handlers of signals: a place is taken by one addition, and nothing waits.
 */
#ifndef HCCT_LABELS_MARKS_H
#define HCCT_LABELS_MARKS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/wire/compiler.h"
#include "preload/life/agent.h"

/* One of now. Inside the session. */
void marks_put(struct wire_session *session, const char *name);

/* One of now, without a session. Of more than AGENT_MARKS the last are kept. */
void marks_keep(const char *name);

/* One that can't be kept: reported with the next one that is. */
void marks_lose(void);

/* Private. */
void marks_send_kept(struct wire_session *session);

/* What was kept or lost goes to the session. Any context, inside it. */
static inline void marks_send(struct wire_session *session) {
    const struct agent_process *process = agent.process;
    if (hcct_unlikely(atomic_load_explicit(&process->marks_lost, memory_order_relaxed) != 0 ||
                      atomic_load_explicit(&process->marks, memory_order_relaxed) !=
                          atomic_load_explicit(&process->marks_sent, memory_order_relaxed)))
        marks_send_kept(session);
}

#endif
