/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * enter.c - the hot path of redirected calls. Built for general registers alone, as those for
 * floating point numbers and vectors may hold arguments: so it calls nothing of libc or of the
 * agent, but what is in its own headers.
 *
 * Nearly all calls come from a function whose own call is the innermost one that is still open: a
 * comparison or two, and a word for the ring. Next come those whose caller was entered by a call
 * that was not reported: some usual steps of a walk. Everything else is done by found.c.
 *
 * The order of things is as in calls.c: while `busy` is set, a signal handler that makes redirected
 * calls leaves all as it is.
 */
#include "preload/redirect/enter.h"

#include "common/wire/ring.h"
#include "preload/calls/hot.h"
#include "preload/life/agent.h"
#include "preload/life/confine.h"
#include "preload/life/signal.h"
#include "preload/redirect/chain.h"
#include "preload/redirect/stub.h"
#include "preload/sample/unwind_usual.h"

#define SLOW __attribute__((noinline, cold))

/* ---- what can't be done here ---- */

/* What libc does for the agent meanwhile may be a redirected library's (a sanitizer's, which stands
 * before libc): no stub goes further then. */
static SLOW void rarely_and_inside(struct redirect_call *call, void (*how)(void *call)) {
    struct calls *c = call->calls;
    struct redirect_thread *r = c->redirect;
    uint64_t mask, began_ns = price_cpu_ns(&c->price);
    if (!signal_block_all(&mask))
        return;
    struct calls *self = calls_self; /* a tick may have ended a burst since */
    bool in_burst = c->in_burst;     /* `how` may end it, too */
    calls_self = NULL;
    stub_with_all_kept(how, call, r->stack + sizeof r->stack, r->area);
    if (c->session != NULL && c->in_burst == in_burst)
        calls_self = self;
    price_long_way(&c->price, began_ns);
    signal_put_back(mask);
}

/* Another thread that is about to forbid system calls waits for the end of this one's. */
static SLOW void rarely(struct redirect_call *call, void (*how)(void *call)) {
    struct agent_thread *thread = call->calls->thread;
    uint32_t before = atomic_exchange(&thread->inside, 1);
    if (call->calls->redirect == NULL || confine_is_quiet())
        calls_self = NULL;
    else
        rarely_and_inside(call, how);
    confine_leave(thread, before);
}

/* ---- words ---- */

#define WORDS_OF_CALL 4 /* POP, PUSH and its site, CREDIT */

/* The words up to `at` are the daemon's, and the call is the innermost that is open. */
static inline __attribute__((always_inline)) void open_call(struct calls *c,
                                                            struct calls_frame *top,
                                                            uint64_t routine, uint64_t site,
                                                            uint64_t slot, uint64_t *at) {
    c->top = top; /* those further in are gone */
    publish_call(c, at);
    top->routine = routine;
    top->site = site;
    top->sp = slot;
    top->report = CALLS_WALKED | CALLS_SEEN | slot;
    open_published(c, top + 1, at);
}

/* The call, by its caller at top[-1], to `routine`. False: there is no room, or the daemon has to
 * hear something first. */
static bool send(struct calls *c, struct calls_frame *top, uint64_t routine, uint64_t site,
                 uint64_t slot) {
    uint64_t *at = c->at, word;
    if (hcct_likely(call_word(c, top, routine, site, &word))) {
        *at++ = word;
    } else {
        if (c->code_bytes == 0 || c->cursor < top || at + WORDS_OF_CALL > c->limit)
            return false;
        if (c->cursor > top)
            *at++ = wire_word(WIRE_POP, (uint64_t)(c->cursor - top));
        *at++ = wire_word(WIRE_PUSH, routine);
        *at++ = site;
        *at++ = wire_word(WIRE_CREDIT, 1);
    }
    open_call(c, top, routine, site, slot, at);
    return true;
}

/* ---- who has called ---- */

/* A frame that a walk has found, and all that it was found in, are as they were then. On another
 * stack than the thread's own, what is on another page may have gone. */
static inline bool holds(const struct calls *c, const struct calls_frame *f) {
    for (; (f->report & CALLS_SEEN) == 0 && f->site != 0; f--) {
        const struct calls_frame *outer = f - 1;
        uint64_t place = chain_place(outer);
        if (outer == c->base || outer->site == 0)
            return true;
        if (place == 0 || (c->guessed && (place ^ chain_place(f)) >= WIRE_PAGE) ||
            *(const volatile uint64_t *)place != outer->site)
            return false;
    }
    return true;
}

/* Without a vector register, which a copy of it may take. */
static void open_found(struct calls_frame *top, const struct calls_frame *f) {
    top->routine = f->routine;
    top->site = f->site;
    top->sp = f->sp;
    top->report = f->report;
}

/* What it found, from `top` on; the innermost comes first. */
static bool send_found(struct calls *c, struct calls_frame *top, uint32_t n) {
    const struct calls_frame *found = c->redirect->found;
    uint64_t *at = c->at;
    if (c->code_bytes == 0 || c->cursor < top ||
        (uint64_t)(c->limit - at) < 1 + 2ull * n + WORDS_OF_CALL)
        return false;
    if (c->cursor > top)
        *at++ = wire_word(WIRE_POP, (uint64_t)(c->cursor - top));
    for (uint32_t i = n; i-- > 0;) {
        *at++ = wire_word(WIRE_PUSH, found[i].routine);
        *at++ = found[i].site;
    }
    c->top = top;
    c->cursor_then = top + n;
    atomic_signal_fence(memory_order_seq_cst);
    c->committing = (uint64_t)(at - c->zero);
    publish_call(c, at);
    while (n > 0)
        open_found(top++, &found[--n]);
    open_published(c, top, at);
    c->committing = 0;
    return true;
}

/* The caller and those further out, up to one that is open, by usual steps on the thread's own
 * stack. */
static bool find(const struct redirect_call *call, uint64_t site) {
    struct calls *c = call->calls;
    struct redirect_thread *r = c->redirect;
    struct calls_frame *top = c->top;
    struct unwind_place at = {.pc = site, .sp = call->slot + 8, .fp = call->fp};
    struct unwind_env env = {.low = at.sp, .high = c->thread->stack_high, .cache = r->cache};
    struct unwind_step step;
    uint32_t n = 0;
    at.known = UNWIND_CALLER_KNOWN;
    if (c->guessed)
        return false;
    for (;; n++) {
        if (n == WIRE_MAX_FRAMES || !unwind_usual(&env, &at, &step))
            return false;
        top = chain_drop(top, step.ra_at);
        bool open = chain_is(top - 1, step.routine, step.ra_at);
        if (open && holds(c, top - 1))
            return send_found(c, top, n);
        /* the same call has led to another function, by a jump */
        bool seen = top[-1].sp == step.ra_at && top[-1].site == step.site &&
                    (top[-1].report & CALLS_SEEN) != 0;
        struct calls_frame *f = &r->found[n];
        f->routine = step.routine;
        f->site = step.site;
        f->sp = step.ra_at;
        f->report = CALLS_WALKED | (seen ? CALLS_SEEN : 0) | step.ra_at;
    }
}

/* ---- a call ---- */

/* What it calls, as the daemon knows it; 0: that has to be found out. */
static inline uint64_t function_of(const struct redirect_module *m, struct redirect_site *s) {
    struct redirect_callee *k = &m->callee[s->callee & REDIRECT_CALLEE];
    uint64_t function = s->function;
    if (function == 0)
        function = s->function = atomic_load_explicit(&k->routine, memory_order_relaxed);
    return (s->callee & REDIRECT_BY_WORD) == 0 || *k->word == function ? function : 0;
}

static inline bool is_on_stack(const struct calls *c, uint64_t slot, uint64_t place) {
    return slot - c->low < c->high - c->low && ((slot | place) & 7) == 0 && place > slot &&
           place < c->high;
}

static bool report(struct redirect_call *call) {
    struct calls *c = call->calls;
    const struct redirect_module *m = call->module;
    struct redirect_site *s = call->site;
    uint64_t slot = call->slot, place = chain_parent_place(s, slot, call->fp);
    uint64_t function = function_of(m, s), site = m->text + s->back;
    if (c->at >= c->limit || !is_on_stack(c, slot, place) || function == 0)
        return false;
    struct calls_frame *top = chain_drop(c->top, place);
    if (!chain_is(top - 1, s->routine, place) || !holds(c, top - 1)) {
        if (!find(call, site))
            return false;
        top = c->top;
        if (c->at >= c->limit)
            return false;
    }
    return send(c, top, function, site, slot);
}

/* The agent's handler, on its own stack, has asked libc for something that a redirected library
 * does. It may be in the middle of what a report would change. */
static inline bool is_agents(const struct calls *c, uint64_t slot) {
    return slot - (uintptr_t)c->thread->handler_stack < HANDLER_STACK_BYTES;
}

/* The caller is the innermost open call, and the function is of the module that was called last. */
static inline __attribute__((always_inline)) bool report_usual(struct calls *c,
                                                               const struct redirect_module *m,
                                                               struct redirect_site *s,
                                                               uint64_t slot, uint64_t fp) {
    uint64_t place = chain_parent_place(s, slot, fp), function = s->function, word;
    if (c->at >= c->limit || slot - c->low >= c->high - c->low || (slot & 7) != 0 ||
        place <= slot || function == 0 ||
        ((s->callee & REDIRECT_BY_WORD) != 0 &&
         *m->callee[s->callee & REDIRECT_CALLEE].word != function))
        return false;
    struct calls_frame *top = chain_drop(c->top, place);
    uint64_t site = *(const uint64_t *)slot;
    if ((top[-1].report | CALLS_SEEN) != (CALLS_WALKED | CALLS_SEEN | place) ||
        top[-1].routine != s->routine || *(const volatile uint64_t *)place != top[-1].site ||
        !holds(c, top - 1) || !call_word(c, top, function, site, &word))
        return false;
    *c->at = word;
    open_call(c, top, function, site, slot, c->at + 1);
    return true;
}

static inline struct redirect_site *site_of(uint64_t back) {
    return &stub_page_of(back)->module->site[stub_number(back)];
}

bool redirect_enter_usual(void) {
    const struct redirect_stack *stack = __builtin_frame_address(0);
    uint64_t back = stack->back, slot = (uintptr_t)stack->slot;
    struct calls *c = calls_self;
    if (hcct_unlikely(c == NULL))
        return false;
    uint64_t before = c->busy;
    if (hcct_unlikely((before | CALLS_JUMPED) != CALLS_JUMPED || price_is_due(&c->price, c->at) ||
                      !begin_report(c, before, slot)))
        return false;
    bool done = report_usual(c, stub_page_of(back)->module, site_of(back), slot, stack->fp);
    atomic_signal_fence(memory_order_seq_cst);
    end_report(c, slot - CALLS_JUMPED);
    return done;
}

/* One in so many of the usual ones comes here. False: it is none of them. */
static bool report_measured(struct redirect_call *call) {
    struct calls *c = call->calls;
    if (!price_is_due(&c->price, c->at))
        return false; /* that it is not usual is known */
    uint64_t began = price_begin(&c->price, c->at);
    bool done = report_usual(c, call->module, call->site, call->slot, call->fp);
    if (done)
        price_end(&c->price, began);
    return done;
}

void redirect_enter(uint64_t back, uint64_t slot, uint64_t fp) {
    struct calls *c = calls_self;
    struct redirect_call call = {c, stub_page_of(back)->module, site_of(back), slot, fp};
    if (c == NULL)
        return;
    if (!c->alive) {
        calls_self = NULL; /* a child of fork, or a thread, that nobody has noticed */
        return;
    }
    bool left;
    uint64_t before;
    do {
        before = c->busy;
        atomic_signal_fence(memory_order_seq_cst);
        left = calls_in_report(c);
        if (left && is_nested(c, slot)) {
            if (!is_agents(c, slot))
                count_lost(c); /* a signal handler's */
            return;
        }
    } while (!begin_report(c, before, slot));
    bool done = !left && (report_measured(&call) || report(&call));
    if (!done && !is_agents(c, slot))
        rarely(&call, redirect_enter_rarely);
    if (agent.settings.check && calls_self != NULL && !is_agents(c, slot))
        rarely(&call, redirect_check);
    atomic_signal_fence(memory_order_seq_cst);
    end_report(c, slot - CALLS_JUMPED);
}
