/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * send.c - NAME for each label that this thread has not sent yet, then LABEL. Each record is
 * published whole.
 */
#include "preload/labels/send.h"

#include "common/wire/ring.h"
#include "preload/labels/table.h"
#include "preload/sample/emit.h"

static bool is_named(const struct labels_sent *labels, uint32_t id) {
    return (labels->named[id / 64] >> id % 64 & 1) != 0;
}

static bool send_name(struct agent_thread *thread, struct wire_slot *slot, uint32_t id) {
    const struct label *label = label_at(id);
    if (!emit_name(thread, slot, WIRE_LABEL | id, label->text, label->length))
        return false;
    thread->stream->labels.named[id / 64] |= 1ull << id % 64;
    return true;
}

bool labels_send_changed(struct agent_thread *thread, struct wire_slot *slot, uint64_t labels) {
    unsigned n = 0;
    for (; n < WIRE_LABELS && labels_nth(labels, n) != 0; n++) {
        uint32_t id = labels_nth(labels, n);
        if (!is_named(&thread->stream->labels, id) && !send_name(thread, slot, id))
            return false;
    }
    uint64_t at = thread->stream->head;
    if (ring_room(slot, WALK_WORDS, at) < EMIT_POP_WORDS + 1 + n)
        return false;
    emit_pop(thread, slot, &at);
    ring_put(slot, WALK_WORDS, at++, wire_word(WIRE_PUSH, WIRE_LABEL | n));
    for (unsigned i = 0; i < n; i++)
        ring_put(slot, WALK_WORDS, at++, labels_nth(labels, i));
    thread->stream->head = at;
    ring_publish(slot, at);
    thread->stream->labels.now = labels;
    return true;
}
