/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * emit.c - POP what differs, PUSH what is new, CREDIT the weight, publish once.
 */
#include "preload/sample/emit.h"

#include <string.h>

#include "common/wire/ring.h"
#include "preload/life/modules.h"

#define HEAD_WORDS 6 /* POP, MAP, POP, PUSH of a mark, CREDIT: beside frames and leaf */

static bool has_leaf(const struct unwind_frame *leaf) {
    return (leaf->routine | leaf->site) != 0;
}

void emit_pop(struct agent_thread *thread, struct wire_slot *slot, uint64_t *at) {
    uint32_t depth = thread->stream->sent_frames + (thread->stream->sent_mark != 0) +
                     has_leaf(&thread->stream->sent_leaf);
    if (depth > 0)
        ring_put(slot, WALK_WORDS, (*at)++, wire_word(WIRE_POP, depth));
    thread->stream->sent_frames = thread->stream->common_frames = thread->stream->sent_mark = 0;
    thread->stream->sent_leaf = (struct unwind_frame){0, 0};
}

void emit_map(struct agent_thread *thread, struct wire_slot *slot, uint64_t *at) {
    uint32_t generation = modules_generation();
    if (hcct_likely(thread->stream->map_seen == generation))
        return;
    emit_pop(thread, slot, at);
    ring_put(slot, WALK_WORDS, (*at)++, wire_word(WIRE_MAP, generation));
    thread->stream->map_seen = generation;
}

bool emit_name(struct agent_thread *thread, struct wire_slot *slot, uint64_t frame,
               const char *text, uint64_t bytes) {
    uint64_t at = thread->stream->head, words = (bytes + 7) / 8;
    if (ring_room(slot, WALK_WORDS, at) < 2 + words)
        return false;
    ring_put(slot, WALK_WORDS, at++, wire_word(WIRE_PUSH, WIRE_NAME | bytes));
    ring_put(slot, WALK_WORDS, at++, frame);
    for (uint64_t i = 0; i < words; i++) {
        uint64_t word;
        memcpy(&word, text + 8 * i, sizeof word);
        ring_put(slot, WALK_WORDS, at++, word);
    }
    thread->stream->head = at;
    ring_publish(slot, at);
    return true;
}

static void send_mark(struct agent_thread *thread, struct wire_slot *slot, uint64_t *at,
                      uint32_t mark) {
    if (hcct_likely(thread->stream->sent_mark == mark))
        return;
    emit_pop(thread, slot, at);
    if (mark != 0) {
        ring_put(slot, WALK_WORDS, (*at)++, wire_word(WIRE_PUSH, mark));
        ring_put(slot, WALK_WORDS, (*at)++, 0);
    }
    thread->stream->sent_mark = mark;
}

static bool is_leaf_sent(const struct agent_thread *thread) {
    return unwind_frame_is(&thread->stream->sent_leaf, &thread->leaf);
}

/* All of the last walk was sent, from its first frame down to its leaf. */
static bool is_sent(const struct agent_thread *thread) {
    uint32_t depth = thread->shown.depth;
    return thread->stream->sent_frames == depth && thread->stream->common_frames == depth &&
           is_leaf_sent(thread);
}

static void pop_rest(struct agent_thread *thread, struct wire_slot *slot, uint64_t *at) {
    uint32_t levels = thread->stream->sent_frames - thread->stream->common_frames +
                      has_leaf(&thread->stream->sent_leaf);
    if (levels == 0 || is_sent(thread))
        return;
    ring_put(slot, WALK_WORDS, (*at)++, wire_word(WIRE_POP, levels));
    thread->stream->sent_frames = thread->stream->common_frames;
    thread->stream->sent_leaf = (struct unwind_frame){0, 0};
}

/* How many frames from i on are the same as the one outside of i. */
static uint32_t repeats(const struct agent_thread *thread, uint32_t i) {
    uint32_t n = 0;
    if (i == 0)
        return 0;
    const struct unwind_frame *outer = thread_shown(thread, i - 1);
    while (i + n < thread->shown.depth && unwind_frame_is(thread_shown(thread, i + n), outer))
        n++;
    return n;
}

/* Pushes frames as long as there is room for them and for the credit. True: all of them. */
static bool push_rest(struct agent_thread *thread, struct wire_slot *slot, uint64_t *at) {
    uint64_t room = ring_room(slot, WALK_WORDS, *at);
    while (thread->stream->sent_frames < thread->shown.depth) {
        const struct unwind_frame *frame = thread_shown(thread, thread->stream->sent_frames);
        uint64_t before = *at;
        uint32_t repeated = repeats(thread, thread->stream->sent_frames);
        if (room < 3)
            return false;
        if (repeated > 0) {
            ring_put(slot, WALK_WORDS, (*at)++, wire_word(WIRE_REPEAT, repeated));
        } else {
            ring_put(slot, WALK_WORDS, (*at)++, wire_word(WIRE_PUSH, frame->routine));
            ring_put(slot, WALK_WORDS, (*at)++, frame->site);
            repeated = 1;
        }
        thread->stream->common_frames = thread->stream->sent_frames += repeated;
        room -= *at - before;
    }
    return room >= 1;
}

/* The same of what stands below the innermost frame. */
static bool push_leaf(struct agent_thread *thread, struct wire_slot *slot, uint64_t *at) {
    if (is_leaf_sent(thread) || !has_leaf(&thread->leaf))
        return true;
    if (ring_room(slot, WALK_WORDS, *at) < 3)
        return false;
    ring_put(slot, WALK_WORDS, (*at)++, wire_word(WIRE_PUSH, thread->leaf.routine));
    ring_put(slot, WALK_WORDS, (*at)++, thread->leaf.site);
    thread->stream->sent_leaf = thread->leaf;
    return true;
}

bool emit_sample(struct agent_thread *thread, struct wire_slot *slot, uint32_t mark,
                 uint64_t weight) {
    uint64_t at = thread->stream->head;
    thread->stream->whole = false;
    if (ring_room(slot, WALK_WORDS, at) < HEAD_WORDS)
        return false;
    emit_map(thread, slot, &at);
    send_mark(thread, slot, &at, mark);
    pop_rest(thread, slot, &at);
    bool all = push_rest(thread, slot, &at) && push_leaf(thread, slot, &at);
    thread->stream->whole = all && thread->shown.depth > 0;
    if (all)
        ring_put(slot, WALK_WORDS, at++, wire_word(WIRE_CREDIT, weight | thread->sample_marks));
    thread->stream->head = at;
    ring_publish(slot, at);
    return all;
}

bool emit_can_repeat(const struct agent_thread *thread, struct wire_slot *slot) {
    return thread->stream->whole && thread->stream->map_seen == modules_generation() &&
           ring_room(slot, WALK_WORDS, thread->stream->head) != 0;
}

bool emit_repeat(struct agent_thread *thread, struct wire_slot *slot, uint64_t weight) {
    if (!emit_can_repeat(thread, slot))
        return false;
    ring_put(slot, WALK_WORDS, thread->stream->head++, wire_word(WIRE_CREDIT, weight));
    ring_publish(slot, thread->stream->head);
    return true;
}
