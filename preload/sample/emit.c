/*
 * emit.c - POP what differs, PUSH what is new, CREDIT the weight, publish once.
 */
#include "preload/sample/emit.h"

#include "common/wire/ring.h"
#include "preload/life/modules.h"

#define HEAD_WORDS                                                                                 \
    6 /* POP, MAP, POP, PUSH of a mark, CREDIT: what a record needs beside frames and HERE         \
       */

static void pop_all(struct agent_thread *thread, struct wire_slot *slot, uint64_t *at) {
    uint32_t depth = thread->told + (thread->told_mark != 0) + (thread->told_here != 0);
    if (depth > 0)
        ring_put(slot, WALK_WORDS, (*at)++, wire_word(WIRE_POP, depth));
    thread->told = thread->agreed = thread->told_mark = 0;
    thread->told_here = 0;
}

void emit_map(struct agent_thread *thread, struct wire_slot *slot, uint64_t *at) {
    uint32_t generation = modules_generation();
    if (hcct_likely(thread->map_seen == generation))
        return;
    pop_all(thread, slot, at);
    ring_put(slot, WALK_WORDS, (*at)++, wire_word(WIRE_MAP, generation));
    thread->map_seen = generation;
}

static void tell_mark(struct agent_thread *thread, struct wire_slot *slot, uint64_t *at,
                      uint32_t mark) {
    if (hcct_likely(thread->told_mark == mark))
        return;
    pop_all(thread, slot, at);
    if (mark != 0) {
        ring_put(slot, WALK_WORDS, (*at)++, wire_word(WIRE_PUSH, mark));
        ring_put(slot, WALK_WORDS, (*at)++, 0);
    }
    thread->told_mark = mark;
}

/* All of the last walk is told, from its first frame down to its pc. */
static bool is_told(const struct agent_thread *thread) {
    uint32_t depth = thread->memo.depth;
    return thread->told == depth && thread->agreed == depth && thread->told_here == thread->here;
}

static void pop_rest(struct agent_thread *thread, struct wire_slot *slot, uint64_t *at) {
    uint32_t levels = thread->told - thread->agreed + (thread->told_here != 0);
    if (levels == 0 || is_told(thread))
        return;
    ring_put(slot, WALK_WORDS, (*at)++, wire_word(WIRE_POP, levels));
    thread->told = thread->agreed;
    thread->told_here = 0;
}

/* How many frames from i on are the same as the one outside of i. */
static uint32_t repeats(const struct memo *memo, uint32_t i) {
    uint32_t n = 0;
    if (i == 0)
        return 0;
    const struct unwind_frame *outer = &memo->frame[i - 1].frame;
    while (i + n < memo->depth && memo->frame[i + n].frame.routine == outer->routine &&
           memo->frame[i + n].frame.site == outer->site)
        n++;
    return n;
}

/* Pushes frames as long as there is room for them and for the credit. True: all of them. */
static bool push_rest(struct agent_thread *thread, struct wire_slot *slot, uint64_t *at) {
    const struct memo *memo = &thread->memo;
    uint64_t room = ring_room(slot, WALK_WORDS, *at);
    while (thread->told < memo->depth) {
        uint64_t before = *at;
        uint32_t again = repeats(memo, thread->told);
        if (room < 3)
            return false;
        if (again > 0) {
            ring_put(slot, WALK_WORDS, (*at)++, wire_word(WIRE_AGAIN, again));
        } else {
            ring_put(slot, WALK_WORDS, (*at)++,
                     wire_word(WIRE_PUSH, memo->frame[thread->told].frame.routine));
            ring_put(slot, WALK_WORDS, (*at)++, memo->frame[thread->told].frame.site);
            again = 1;
        }
        thread->agreed = thread->told += again;
        room -= *at - before;
    }
    return room >= 1;
}

/* The same of the pc in the innermost frame. */
static bool push_here(struct agent_thread *thread, struct wire_slot *slot, uint64_t *at) {
    if (thread->told_here == thread->here)
        return true;
    if (ring_room(slot, WALK_WORDS, *at) < 3)
        return false;
    ring_put(slot, WALK_WORDS, (*at)++, wire_word(WIRE_PUSH, WIRE_HERE));
    ring_put(slot, WALK_WORDS, (*at)++, thread->here);
    thread->told_here = thread->here;
    return true;
}

bool emit_sample(struct agent_thread *thread, struct wire_slot *slot, uint32_t mark,
                 uint64_t weight) {
    uint64_t at = thread->head;
    if (ring_room(slot, WALK_WORDS, at) < HEAD_WORDS)
        return false;
    emit_map(thread, slot, &at);
    tell_mark(thread, slot, &at, mark);
    pop_rest(thread, slot, &at);
    bool all = push_rest(thread, slot, &at) && push_here(thread, slot, &at);
    if (all)
        ring_put(slot, WALK_WORDS, at++, wire_word(WIRE_CREDIT, weight | thread->same_burst));
    thread->head = at;
    ring_publish(slot, at);
    return all;
}

bool emit_can_repeat(const struct agent_thread *thread, struct wire_slot *slot) {
    return thread->memo.depth != 0 && is_told(thread) && thread->map_seen == modules_generation() &&
           ring_room(slot, WALK_WORDS, thread->head) != 0;
}

bool emit_again(struct agent_thread *thread, struct wire_slot *slot, uint64_t weight) {
    if (!emit_can_repeat(thread, slot))
        return false;
    ring_put(slot, WALK_WORDS, thread->head++, wire_word(WIRE_CREDIT, weight));
    ring_publish(slot, thread->head);
    return true;
}
