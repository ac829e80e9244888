/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * calls.c - the two functions that the compiler's instrumentation calls: their hot path.
 *
 * Some sixty instructions a call, and fifteen a return, none of which waits for another processor:
 * a word goes to memory that only this thread writes, and its position to where the daemon reads it
 * once a sweep. Everything else is one comparison away, out of line.
 *
 * A signal handler of the application may report calls while a report is under way. Its events are
 * put aside and done at the end of that report.
 */
#include "preload/calls/calls.h"

#include "common/wire/ring.h"
#include "preload/calls/hot.h"
#include "preload/life/agent.h"
#include "preload/life/hooks.h"
#include "preload/life/session.h"

#define SLOW __attribute__((noinline, cold))

/* ---- not every call ---- */

bool calls_is_due(struct calls *c, uint64_t routine) {
    if (agent.settings.every_each) {
        uint64_t hash = routine * 0x9e3779b97f4a7c15ull;
        uint32_t *n = &c->of_routine[(hash >> 32) % CALLS_ROUTINES];
        if (++*n < agent.settings.every)
            return false;
        *n = 0;
        return true;
    }
    if (c->until > 1) {
        c->until--;
        return false;
    }
    c->until = agent.settings.every;
    return true;
}

/* ---- the rare ways ---- */

static void enter_fully(struct calls *c, const struct calls_event *e) {
    if (!calls_drop_left(c, e) || (c->top == c->end && !calls_grow(c))) {
        count_lost(c);
        return;
    }
    if (!calls_tell_code(c, e->routine, e->site))
        return;
    if (c->common > c->top)
        c->common = c->top;
    *c->top = (struct calls_frame){e->routine, e->site, e->sp, e->report};
    c->top++;
    if (c->sampled && !calls_is_due(c, e->routine))
        return;
    if (calls_tell(c, c->sampled ? agent.settings.every : 1))
        calls_make_room(c);
}

/* Where nothing had to be said the hot path goes on. */
static void leave_fully(struct calls *c, const struct calls_event *e, uint64_t *at,
                        uint64_t *limit) {
    if (!calls_leave(c, e) || at == NULL || c->head != (uint64_t)(at - c->zero) ||
        c->common != c->cursor)
        return;
    c->at = at;
    atomic_signal_fence(memory_order_seq_cst);
    c->limit = limit;
}

/* What is reported when the session is lost already is over. */
static void one_event(struct calls *c, const struct calls_event *e) {
    if (c->session == NULL || !agent_hooks.goes_on(c))
        return;
    uint64_t *at = c->at, *limit = c->limit;
    calls_write_back(c);
    if (e->enter)
        enter_fully(c, e);
    else
        leave_fully(c, e, at, limit);
}

/* What signal handlers have reported meanwhile, and may still. If this is left in the middle, what
 * was done is not done again, and the one that was being done counts as lost. */
static SLOW void do_delayed(struct calls *c) {
    uint32_t done = 0;
    if (c->doing)
        count_lost(c);
    do {
        for (; done < c->delayed; done++) {
            struct calls_event event = c->delay[done];
            c->doing = event.sp != 0;
            atomic_signal_fence(memory_order_seq_cst);
            c->delay[done].sp = 0;
            if (event.sp != 0)
                one_event(c, &event);
            atomic_signal_fence(memory_order_seq_cst);
            c->doing = false;
        }
    } while (!__sync_bool_compare_and_swap(&c->delayed, done, 0));
    c->delayed_taken++;
}

/* The mark in `busy` is found by the event after the report that is under way, and the next call
 * finds no room and takes the long way. Another handler may put its own events
 * aside in the middle of this: each takes its place first, in one step, and all places are filled
 * before that report reads them, as it goes on last. One that was left in the middle of this has a
 * place without a stack pointer; so has one that goes on after that report, as its handler has gone
 * to another stack meanwhile: then it comes too late. */
static void put_aside(struct calls *c, const struct calls_event *e) {
    uint32_t place = c->delayed, taken = c->delayed_taken;
    do {
        if (place >= CALLS_DELAYED) {
            if (e->enter)
                count_lost(c);
            return;
        }
    } while (!__atomic_compare_exchange_n(&c->delayed, &place, place + 1, false, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED));
    if (place == 0)
        c->busy += CALLS_DELAYS;
    struct calls_event *delayed = &c->delay[place];
    *delayed = *e;
    delayed->sp = 0;
    atomic_signal_fence(memory_order_seq_cst);
    delayed->sp = e->sp;
    c->limit = NULL;
    atomic_signal_fence(memory_order_seq_cst);
    if (hcct_unlikely(c->delayed_taken != taken) && e->enter)
        count_lost(c);
}

/* The first report of all comes before the agent's own constructor; or this is a child of fork. */
static void begin_or_stop(void) {
    calls_self = NULL;
    agent_hooks.start();
}

static void take(struct calls *c, struct calls_event *e) {
    uint64_t before;
    do {
        before = c->busy;
        atomic_signal_fence(memory_order_seq_cst);
        if (is_nested(c, e->sp)) {
            put_aside(c, e);
            return;
        }
    } while (!begin_report(c, before, e->sp));
    e->jumped = before >= CALLS_JUMPED;
    if (!c->alive) { /* a handler has forked just before: in the child all was wiped */
        c->busy = 0;
        begin_or_stop();
        return;
    }
    uint64_t began_ns = price_cpu_ns(&c->price);
    atomic_store(&c->thread->busy, 0); /* a handler may have left the session by longjmp */
    if (c->delayed != 0)
        do_delayed(c); /* of the report before */
    one_event(c, e);
    atomic_signal_fence(memory_order_seq_cst);
    if (c->delayed != 0)
        c->limit = NULL; /* which this report may have written after the handler did */
    end_report(c, e->sp);
    price_long_way(&c->price, began_ns);
}

void calls_end_reports(struct calls *c) {
    if (c->delayed == 0)
        return;
    c->busy = (uintptr_t)__builtin_frame_address(0); /* to a tick, or a handler, it is a report */
    atomic_signal_fence(memory_order_seq_cst);
    do_delayed(c);
    atomic_signal_fence(memory_order_seq_cst);
    c->busy = CALLS_JUMPED;
}

/* Arguments one by one: the hot path then needs no stack. */
static SLOW void slow(struct calls *c, uint64_t routine, uint64_t site, uint64_t sp, uint64_t from,
                      bool enter) {
    struct calls_event event = {routine, site, sp, from, enter, false};
    if (!c->alive) {
        begin_or_stop();
        c = calls_self;
    }
    if (c != NULL)
        take(c, &event);
}

/* ---- the hot path ---- */

/* No, in a child of fork that has found all wiped: there is no room. */
static inline bool is_plain(const struct calls *c, const struct calls_frame *top, uint64_t sp) {
    return c->at < c->limit && top[-1].sp >= sp - CALLS_PUSHED_MAX && sp >= c->low;
}

/* False: it takes the long way. */
static inline bool enter(struct calls *c, uint64_t routine, uint64_t site, uint64_t sp,
                         uint64_t from) {
    uint64_t word;
    if (hcct_unlikely(!begin_report(c, 0, sp)))
        return false;
    struct calls_frame *top = c->top;
    if (hcct_unlikely(!is_plain(c, top, sp) || !call_word(c, top, routine, site, &word))) {
        end_report(c, sp);
        return false;
    }
    uint64_t *at = c->at;
    *at = word;
    publish_call(c, at + 1);
    *top = (struct calls_frame){routine, site, sp, from};
    open_published(c, top + 1, at + 1);
    end_report(c, sp);
    return true;
}

static SLOW bool enter_measured(struct calls *c, uint64_t routine, uint64_t site, uint64_t sp,
                                uint64_t from) {
    uint64_t began = price_begin(&c->price, c->at);
    bool entered = enter(c, routine, site, sp, from);
    price_end(&c->price, began);
    return entered;
}

hcct_export void __cyg_profile_func_enter(void *function, void *call_site) {
    struct calls *c = calls_self;
    if (hcct_likely(c == NULL))
        return;
    uint64_t sp = held((uintptr_t)__builtin_dwarf_cfa());
    uint64_t from = (uintptr_t)__builtin_return_address(0);
    uint64_t routine = (uintptr_t)function, site = (uintptr_t)call_site;
    bool entered = hcct_unlikely(price_is_due(&c->price, c->at))
                       ? enter_measured(c, routine, site, sp, from)
                       : enter(c, routine, site, sp, from);
    if (hcct_unlikely(!entered))
        slow(c, routine, site, sp, from, true);
}

/* Coroutines that go to each other by the same function have it open on each stack. */
static inline bool is_in_frame(const struct calls_frame *f, uint64_t sp) {
    return f->sp + CALLS_PUSHED_MAX - sp <= CALLS_PUSHED_MAX + CALLS_NEAR;
}

/* In one instruction, before and after which a handler may report calls. False: one has, and it was
 * on another stack, or there is more room now; what was innermost is no longer at `top`. */
static inline bool close_call(struct calls *c, struct calls_frame *top) {
#if defined(__x86_64__)
    bool done;
    struct calls_frame *found = top;
    __asm__ volatile("cmpxchgq %3, %1"
                     : "=@ccz"(done), "+m"(c->top), "+a"(found)
                     : "r"(top - 1)
                     : "memory");
    return done;
#else
    return __atomic_compare_exchange_n(&c->top, &top, top - 1, false, __ATOMIC_RELAXED,
                                       __ATOMIC_RELAXED);
#endif
}

hcct_export void __cyg_profile_func_exit(void *function, void *call_site) {
    struct calls *c = calls_self;
    if (hcct_likely(c == NULL))
        return;
    uint64_t routine = (uintptr_t)function, sp = (uintptr_t)__builtin_dwarf_cfa();
    struct calls_frame *top = c->top;
    if (hcct_likely(top != NULL && c->busy == 0 && top[-1].routine == routine &&
                    is_in_frame(top - 1, sp) && close_call(c, top)))
        return;
    slow(c, routine, (uintptr_t)call_site, sp, (uintptr_t)__builtin_return_address(0), false);
}

/* ---- what that takes ---- */

static void hooks_often(uint32_t n, void *argument) {
    for (uint32_t i = 0; i < n; i++) {
        __cyg_profile_func_enter(argument, argument);
        __cyg_profile_func_exit(argument, argument);
    }
}

struct price_usual calls_price(void) {
    void *code = (void *)(uintptr_t)hooks_often;
    struct calls *bench = price_bench_make((uintptr_t)code);
    if (bench == NULL)
        return (struct price_usual){0};
    struct price_usual usual = price_bench_run(bench, hooks_often, code);
    price_bench_free(bench);
    return usual;
}
