/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * send.h - what a thread is at work for, sent to the daemon when it has changed.
 */
#ifndef HCCT_LABELS_SEND_H
#define HCCT_LABELS_SEND_H

#include <stdbool.h>

#include "preload/labels/marks.h"
#include "preload/labels/otel.h"
#include "preload/life/session.h"
#include "preload/life/thread.h"

/* Private. */
bool labels_send_changed(struct agent_thread *thread, struct wire_slot *slot, uint64_t labels);

/* Before a sample: what is credited from here on begins with the labels that the thread has. False:
 * the ring has no room to say so. Signal context, inside the session. */
static inline bool labels_send(struct agent_thread *thread, struct wire_session *session,
                               struct wire_slot *slot) {
    session_tell_labels(session);
    marks_send(session);
    if (hcct_unlikely(!agent.settings.labels))
        return true;
    const _Atomic uint64_t *now = thread->labels;
    uint64_t labels =
        hcct_likely(now != NULL) ? atomic_load_explicit(now, memory_order_relaxed) : 0;
    if (hcct_unlikely(atomic_load_explicit(&otel_is_there, memory_order_acquire)))
        labels = otel_add_labels(thread, labels);
    return hcct_likely(labels == thread->stream->labels.now) ||
           labels_send_changed(thread, slot, labels);
}

#endif
