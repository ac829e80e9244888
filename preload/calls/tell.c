/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * tell.c - words into the ring, at the pace of the daemon.
 */
#include "preload/calls/calls.h"

#include <errno.h>
#include <linux/futex.h>
#include <time.h>

#include "common/wire/ring.h"
#include "preload/life/agent.h"
#include "preload/life/confine.h"
#include "preload/life/modules.h"
#include "preload/life/session.h"
#include "preload/life/signal.h"
#include "preload/life/sys.h"

#define AHEAD 16384u /* words that the hot path may write before it has to come here */

/* The daemon wakes a waiting thread. A wake-up that was missed costs that, and a daemon that was
 * killed. */
#define WAIT_NS 2000000l

/* True: the daemon may have read by now. The application's errno stays, there is no libc call. */
static bool wait_for_daemon(struct calls *c) {
    const struct timespec limit = {.tv_nsec = WAIT_NS};
    if (confine_is_quiet())
        return false;
    session_count(c->slot, WIRE_WAITS, 1);
    atomic_store(&c->slot->waiting, 1);
    if (ring_room(c->slot, CALLS_RING, c->head) > CALLS_RING / 2)
        return true;
    uint64_t mask; /* a handler that reports calls would wait for room, too */
    bool blocked = signal_block_all(&mask);
    sys4(SYS_futex, &c->slot->waiting, FUTEX_WAIT, 1, &limit);
    if (blocked)
        signal_put_back(mask);
    return calls_is_read(c);
}

static bool have_room(struct calls *c, uint64_t words) {
    while (ring_room(c->slot, CALLS_RING, c->head) < words)
        if (!wait_for_daemon(c))
            return calls_lose(c);
    return true;
}

bool calls_make_room(struct calls *c) {
    if (!session_seems_alive(c->session))
        return calls_lose(c);
    if (!have_room(c, 1))
        return false;
    if (c->sampled)
        return true; /* the hot path has nothing to write */
    if (agent.settings.burst_length_ns != 0)
        calls_learn(c); /* now and then, at a time as good as any */
    uint64_t room = ring_room(c->slot, CALLS_RING, c->head), offset = c->head % CALLS_RING;
    uint64_t n = room < CALLS_RING - offset ? room : CALLS_RING - offset;
    uint64_t frames = (uint64_t)(c->end - c->top);
    n = n < frames ? n : frames;
    uint64_t *at = ring_words(c->slot) + offset;
    c->zero = at - c->head;
    atomic_signal_fence(memory_order_seq_cst); /* one that is left here is not in the middle */
    c->at = at;
    atomic_signal_fence(memory_order_seq_cst);
    c->limit = at + (n < AHEAD ? n : AHEAD);
    return true;
}

static void put(struct calls *c, uint64_t place, uint64_t word) {
    ring_put(c->slot, CALLS_RING, c->head + place, word);
}

/* One word, by which the daemon's cursor comes to `cursor`. */
static bool send(struct calls *c, uint64_t word, struct calls_frame *cursor) {
    if (!have_room(c, 1))
        return false;
    put(c, 0, word);
    calls_commit(c, 1, cursor);
    return true;
}

static uint64_t pop_word(const struct calls *c, const struct calls_frame *to) {
    return wire_word(WIRE_POP, (uint64_t)(c->cursor - to));
}

bool calls_pop_all(struct calls *c) {
    struct calls_frame *root = c->base + 1;
    if (c->cursor != root && !send(c, pop_word(c, root), root))
        return false;
    c->common = root;
    return true;
}

static bool pop_rest(struct calls *c) {
    return c->cursor == c->common || send(c, pop_word(c, c->common), c->common);
}

static bool push(struct calls *c, uint64_t credit) {
    if (!have_room(c, 3))
        return false;
    put(c, 0, wire_word(WIRE_PUSH, c->cursor->routine));
    put(c, 1, c->cursor->site);
    if (credit > 0)
        put(c, 2, wire_word(WIRE_CREDIT, credit));
    calls_commit(c, credit > 0 ? 3 : 2, c->cursor + 1);
    c->common = c->cursor;
    return true;
}

/* What comes from here on is of a burst that stands for so many. */
static bool say_burst(struct calls *c) {
    if (!send(c, wire_word(WIRE_BURST, c->stands), c->cursor))
        return false;
    c->unsaid = false;
    return true;
}

bool calls_tell(struct calls *c, uint64_t weight) {
    bool each = agent.settings.credit == WIRE_CREDIT_NEW;
    if (c->unsaid && !say_burst(c))
        return false;
    if (c->common > c->top)
        c->common = c->top;
    if (!pop_rest(c))
        return false;
    bool credited = weight == 0;
    while (c->cursor < c->top) {
        bool last = c->cursor + 1 == c->top;
        if (!push(c, each || last ? weight : 0))
            return false;
        credited |= last;
    }
    return credited || send(c, wire_word(WIRE_CREDIT, weight), c->cursor);
}

/* ---- code ---- */

static bool tell_generation(struct calls *c) {
    uint32_t generation = modules_generation();
    if (c->generation == generation)
        return true;
    if (!calls_pop_all(c) || !send(c, wire_word(WIRE_MAP, generation), c->cursor))
        return false;
    c->generation = generation;
    return true;
}

/* The agent's own list of modules is of the session in use. False: the session is lost. */
static bool find_modules(struct calls *c, uint64_t routine, uint64_t site, bool *found,
                         struct unwind_module *module) {
    if (!session_hold(c->thread, c->session))
        return calls_lose(c);
    modules_find(c->thread, c->session, site, module);
    *found = modules_find(c->thread, c->session, routine, module);
    session_leave(c->thread);
    return true;
}

static bool tell_code(struct calls *c, const struct unwind_module *module) {
    uint64_t bytes = module->end - module->start;
    if (c->code_start != module->start) {
        c->code_bytes = 0; /* one that is left here says it again */
        if (!send(c, wire_word(WIRE_CODE, module->start), c->cursor))
            return false;
    }
    c->code_start = module->start;
    atomic_signal_fence(memory_order_seq_cst);
    c->code_bytes = bytes < WIRE_CODE_BYTES ? bytes : WIRE_CODE_BYTES;
    return true;
}

bool calls_tell_code(struct calls *c, uint64_t routine, uint64_t site) {
    struct unwind_module module;
    bool found = false;
    if (routine - c->code_start < c->code_bytes && site - c->code_start < c->code_bytes &&
        c->generation == modules_generation())
        return true;
    if (!find_modules(c, routine, site, &found, &module))
        return false;
    return (!found || tell_code(c, &module)) && tell_generation(c);
}
