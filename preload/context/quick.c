/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * quick.c - from rules and numbers that are known to a number.
 *
 * A handler of the application that interrupts this may ask for its own context, and so change what
 * is being read here. It counts a turn then, and what was found is dropped. Numbers are written
 * into entries of calls that are open, by the one thread whose calls they are: until this returns
 * they stay open. A number is remembered by one writer at a time: who interrupts another one does
 * without. One that never goes on, as the handler has left it by a jump, is known by its place: it
 * was below where the stack is now.
 */
#include "preload/context/context.h"

#include "preload/sample/unwind_usual.h"

#define PASSED_MOST 80u /* this is on the application's stack */

__thread struct context_thread *context_self;
struct slot_entry context_no_call = {.place = UINT64_MAX};

struct quick {
    struct context_thread *thread;
    const struct context_table *table;
    const struct event_place *caller;
    uint32_t turn;
    struct slot_entry *top;
    struct slot_entry *met; /* where the way has ended; NULL: at the root */
    uint32_t n;
    struct context_passed passed[PASSED_MOST];
};

/* The innermost context on the way whose number is known, and in passed[0..n) what is inside it. 0:
 * there is none. */
static uint32_t find_known(struct quick *q) {
    const struct context_thread *t = q->thread;
    const struct event_place *caller = q->caller;
    struct unwind_place at = {caller->pc, caller->sp, caller->frame, UNWIND_CALLER_KNOWN};
    struct unwind_env env = {.low = caller->sp, .high = t->stack_high, .cache = q->thread->cache};
    struct unwind_step step;
    uint64_t place = caller->sp - ARCH_CALL_BYTES;
    while (q->n < PASSED_MOST) {
        struct slot_entry *entry = context_open_call(&q->top, place, at.pc);
        if (entry != NULL && hcct_likely(context_holds(entry->number, t->tag, t->root))) {
            q->met = entry;
            return (uint32_t)entry->number;
        }
        if (entry != NULL) {
            at.pc = slot_back(entry->from);
            at.fp = entry->fp;
            at.known |= UNWIND_FP_KNOWN;
        }
        q->passed[q->n++] = (struct context_passed){.pc = at.pc, .entry = entry};
        if (!unwind_usual(&env, &at, &step))
            return at.pc == t->outermost.pc && at.sp == t->outermost.sp ? t->own_root : 0;
        place = step.ra_at;
    }
    return 0;
}

/* The way has led through it. False: there are too many. */
static inline bool add_word(struct context_recent *recent, uint64_t place) {
    if (recent->n == CONTEXT_RECENT_WORDS)
        return false;
    recent->word[recent->n++] = (struct context_word){place, *(const volatile uint64_t *)place};
    return true;
}

/* The way leads through that place again. */
static bool is_at(const struct context_passed *passed, uint64_t place, uint64_t word) {
    const struct slot_entry *entry = passed->entry;
    if (entry == NULL)
        return passed->pc == word;
    return entry->place == place && slot_start(entry->from) + SLOT_BACK == word;
}

/* The words of the way, once more; one that is an open call's in between hangs on its frame
 * pointer, which is on the stack as well or still in its register. */
static bool add_words(struct context_recent *recent, const struct quick *q) {
    const struct context_thread *t = q->thread;
    const struct event_place *caller = q->caller;
    struct unwind_place at = {caller->pc, caller->sp, caller->frame, UNWIND_CALLER_KNOWN};
    struct unwind_env env = {.low = caller->sp, .high = t->stack_high, .cache = q->thread->cache};
    struct unwind_step step;
    recent->n = 0;
    step.ra_at = caller->sp - ARCH_CALL_BYTES;
    for (uint32_t i = 0; i < q->n; i++) {
        if (!is_at(&q->passed[i], step.ra_at, at.pc))
            return false;
        at.pc = q->passed[i].pc;
        if (!unwind_usual(&env, &at, &step))
            return q->met == NULL && i + 1 == q->n;
        if (!add_word(recent, step.ra_at) || (step.fp_at != 0 && !add_word(recent, step.fp_at)))
            return false;
    }
    return q->met != NULL && recent->n > 0 && q->met->place == step.ra_at;
}

static void remember(const struct quick *q, uint64_t number) {
    const struct event_place *caller = q->caller;
    struct context_thread *t = q->thread;
    uint64_t here = (uintptr_t)__builtin_frame_address(0);
    if (t->writer > here || q->n == 0 || context_turn(t) != q->turn)
        return;
    struct context_recent *recent = &t->recent[context_recent_place(caller->pc, caller->sp)];
    t->writer = here;
    uint32_t turn = ++t->turn;
    recent->pc = 0;
    atomic_signal_fence(memory_order_seq_cst);
    recent->sp = caller->sp;
    recent->fp = caller->frame;
    recent->met = q->met != NULL ? q->met->place : 0;
    recent->met_number = q->met != NULL ? q->met->number : 0;
    recent->number = number;
    bool whole = add_words(recent, q);
    if (whole && context_turn(t) == turn)
        recent->pc = caller->pc;
    atomic_signal_fence(memory_order_seq_cst);
    t->writer = 0;
}

/* 0: it is not known as yet. */
static uint64_t find(struct quick *q) {
    struct context_thread *t = q->thread;
    uint32_t number = find_known(q);
    if (hcct_unlikely(context_turn(t) != q->turn))
        return 0;
    const struct context_meant meant = {.validity = (uint32_t)t->stamp};
    for (uint32_t i = q->n; number != 0 && i > 0; i--) {
        const struct context_passed *passed = &q->passed[i - 1];
        number = context_find(q->table, number, passed->pc, meant);
        if (number != 0 && passed->entry != NULL)
            passed->entry->number = t->tag | number;
    }
    if (number == 0)
        return 0;
    remember(q, t->tag | number);
    return t->tag | number;
}

uint64_t context_by_rules(struct context_thread *t, const struct event_place *caller,
                          uint32_t turn) {
    struct quick q;
    if (caller->sp - t->stack_low >= t->stack_high - t->stack_low)
        return 0;
    q.thread = t;
    q.table = atomic_load_explicit(&agent.process->contexts, memory_order_acquire);
    q.caller = caller;
    q.turn = turn;
    q.top = context_innermost();
    q.met = NULL;
    q.n = 0;
    return find(&q);
}
