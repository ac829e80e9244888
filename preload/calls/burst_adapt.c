/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * burst_adapt.c - bursts of calls that are left out (adapt.h): where they would begin, what those
 * that are seen have seen.
 *
 * One that is left out costs its tick and a walk. What a burst has seen is read where it was
 * written, in the ring: of so many of its calls, which site has called which function.
 */
#include "common/wire/ring.h"
#include "preload/calls/burst_parts.h"
#include "preload/sample/walk.h"

#define FRAMES  8u    /* the outermost, which say of what class a burst is */
#define SAMPLED 2048u /* calls of a burst */
#define MOST    100u  /* of a class, one is seen in so many at least */
#define POPS    ((uint64_t)WIRE_POPS_MAX << WIRE_POPS_SHIFT)
#define SPREAD  0x9e3779b97f4a7c15ull

static bool is_asked_for(void) {
    return agent.settings.burst_error_ppm != 0;
}

/* What a burst counts has to be a number that the daemon takes. */
static struct adapt_law law(void) {
    const struct agent_settings *set = &agent.settings;
    uint64_t most = WIRE_BURST_MAX / (set->burst_period_ns / set->burst_length_ns + 1);
    return (struct adapt_law){set->burst_error_ppm, most < MOST ? most : MOST};
}

static uint64_t key_of(const struct memo *memo) {
    uint64_t key = 1;
    for (uint32_t i = 0; i < memo->depth && i < FRAMES; i++) {
        const struct unwind_frame *frame = &memo->frame[i].frame;
        key = (key ^ frame->routine) * SPREAD;
        key = (key ^ key >> 32 ^ frame->site) * SPREAD;
    }
    return key ^ key >> 32;
}

bool call_burst_is_left_out(struct agent_thread *thread, struct wire_session *session,
                            const ucontext_t *uc) {
    struct calls *c = thread->calls;
    if (!is_asked_for() || c == NULL || c->group != 0)
        return false; /* one that could not begin at once is drawn already */
    const struct adapt_law l = law();
    c->class_key = walk_whole(thread, session, uc) ? key_of(&thread->memo) : 0;
    c->group = adapt_draw(&c->adapt, &l, c->class_key, c->period.times, &thread->random);
    if (c->group == 0)
        call_burst_wait_for_next(thread);
    return c->group == 0;
}

/* ---- what was seen ---- */

static void count(const struct calls *c, uint32_t calls[ADAPT_PARTS]) {
    uint64_t to = call_burst_position(c), from = c->burst_from;
    const uint64_t *ring = ring_words(c->slot);
    if (to - from > CALLS_RING)
        from = to - CALLS_RING;
    uint64_t step = (to - from) / SAMPLED + 1;
    for (uint64_t at = from; at < to; at += step) {
        uint64_t hash = (ring[at % CALLS_RING] & ~POPS) * SPREAD;
        calls[hash >> 59] += (uint32_t)step;
    }
}

_Static_assert(ADAPT_PARTS == 1u << (64 - 59), "a hash is a part");

void call_burst_learn(struct calls *c) {
    if (!is_asked_for() || c->slot == NULL)
        return;
    uint32_t calls[ADAPT_PARTS] = {0};
    count(c, calls);
    adapt_seen(&c->adapt, c->class_key, c->period.times, c->group, calls);
    c->group = 0;
}
