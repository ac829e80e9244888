/*
 * emit.c - POP what differs, PUSH what is new, CREDIT the weight, publish once.
 */
#include "preload/emit.h"

#include "common/ring.h"
#include "preload/modules.h"

#define HEAD_WORDS 4 /* POP, MAP, POP, CREDIT: what a record needs beside its PUSHes */

struct context {
    const struct unwind_frame *frames; /* innermost first */
    uint32_t n;
    uint32_t mark; /* 0, or an outermost pseudo-frame above frames[n - 1] */
    uint32_t depth;
};

/* Frame i of the context, counted from the outermost. */
static struct unwind_frame frame_at(const struct context *c, uint32_t i) {
    if (c->mark != 0) {
        if (i == 0)
            return (struct unwind_frame){.routine = c->mark};
        i--;
    }
    return c->frames[c->n - 1 - i];
}

static uint32_t common_prefix(const struct agent_thread *thread, const struct context *c) {
    uint32_t limit = thread->depth < c->depth ? thread->depth : c->depth, i = 0;
    while (i < limit) {
        struct unwind_frame f = frame_at(c, i);
        if (f.routine != thread->shadow[i].routine || f.site != thread->shadow[i].site)
            break;
        i++;
    }
    return i;
}

/* Addresses may mean something else than they did: everything is told anew. */
static void tell_map(struct agent_thread *thread, struct wire_slot *slot, uint64_t *at) {
    uint32_t generation = modules_generation();
    if (thread->map_seen == generation)
        return;
    if (thread->depth > 0)
        ring_put(slot, (*at)++, wire_word(WIRE_POP, thread->depth));
    ring_put(slot, (*at)++, wire_word(WIRE_MAP, generation));
    thread->depth = 0;
    thread->map_seen = generation;
}

static void pop_to(struct agent_thread *thread, struct wire_slot *slot, uint64_t *at,
                   uint32_t depth) {
    if (thread->depth == depth)
        return;
    ring_put(slot, (*at)++, wire_word(WIRE_POP, thread->depth - depth));
    thread->depth = depth;
}

/* Pushes frames as long as there is room for them and for the credit. True: all of them. */
static bool push_rest(struct agent_thread *thread, struct wire_slot *slot, uint64_t *at,
                      const struct context *c) {
    uint64_t room = ring_room(slot, *at);
    while (thread->depth < c->depth) {
        if (room < 3)
            return false;
        struct unwind_frame f = frame_at(c, thread->depth);
        ring_put(slot, (*at)++, wire_word(WIRE_PUSH, f.routine));
        ring_put(slot, (*at)++, f.site);
        thread->shadow[thread->depth++] = f;
        room -= 2;
    }
    return room >= 1;
}

bool emit_sample(struct agent_thread *thread, struct wire_slot *slot, uint32_t n, uint32_t mark) {
    struct context c = {thread->scratch, n, mark, n + (mark != 0)};
    uint64_t at = thread->head;
    if (ring_room(slot, at) < HEAD_WORDS)
        return false;
    tell_map(thread, slot, &at);
    pop_to(thread, slot, &at, common_prefix(thread, &c));
    bool all = push_rest(thread, slot, &at, &c);
    if (all)
        ring_put(slot, at++, wire_word(WIRE_CREDIT, thread->owed_ns));
    thread->head = at;
    ring_publish(slot, at);
    if (all)
        thread->owed_ns = 0;
    return all;
}
