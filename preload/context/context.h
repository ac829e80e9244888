/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * context.h - the calling context of a thread as a number, for whoever asks (hcct.h).
 *
 *   said.c    the functions that a program calls
 *   quick.c   the number, where all that is needed has been seen before; signal handlers may come
 *             in between
 *     recent.h  the same again, by reading the words of the stack that it hangs on
 *   slow.c    a walk, with all signals blocked, and what it finds for the next time
 *   table.c   the numbers
 *   send.c    what the daemon is to know of them
 *
 * A context is the return addresses from the caller of hcct_context() on outwards, to the root of
 * the thread, below which stands the context in which the thread was created. With
 * `--collector encode` each open call (encode/slot.h) keeps the number of its own context as soon
 * as it was asked for, so that few steps lead to the next one that is known; else all of the stack
 * is walked. The steps are those of the unwind rules, on the thread's own stack; where anything is
 * not as such a rule has it (another stack, a signal handler), the slow walk tells, and where that
 * is not sure, there is no number.
 */
#ifndef HCCT_CONTEXT_CONTEXT_H
#define HCCT_CONTEXT_CONTEXT_H

#include <stdint.h>

#include "preload/events/link.h"
#include "preload/encode/slot.h"
#include "preload/life/agent.h"
#include "preload/life/modules.h"
#include "preload/life/thread.h"
#include "preload/context/recent.h"
#include "preload/context/table.h"

/* The same for a thread that is about to be created there, which keeps it as its parent's; 0 also
 * where nobody asks for contexts. Thread context. */
uint64_t context_of_creator(const struct event_place *caller);

/* The thread's context is another one's from here on. Thread context, on the thread itself. */
void context_end(void);

/* ---- private ---- */

/* The outermost frame of the thread, as the last slow walk has found it. */
struct context_outermost {
    uint64_t pc, sp;
};

/* An object whose code a signal has interrupted, or a caller of that. */
#define CONTEXT_OBJECTS 16u
struct context_object {
    uint64_t start; /* 0: none */
    bool has_unwinder;
};

/* A call that was passed on the way, and the open call's entry in which its number goes. */
struct context_passed {
    uint64_t pc;
    struct slot_entry *entry; /* NULL: it is not kept */
    uint32_t module;          /* of the log, from 1 on, where the slow walk has passed it */
};

/* Of one thread; stays with its struct agent_thread. The thread alone uses it, and writes with all
 * signals blocked, but for `recent`. */
struct context_thread {
    uint64_t tag, stamp; /* for which the rest holds */
    uint32_t turn;       /* changes whenever the rest does */
    uint64_t writer;     /* the stack pointer of who writes one of `recent`, 0: nobody */
    uint32_t root;       /* of the table ... */
    uint32_t own_root;   /* ... and of the thread, below that */
    struct context_outermost outermost;
    uint64_t stack_low, stack_high;
    struct context_object object[CONTEXT_OBJECTS];
    _Alignas(WIRE_CACHE_LINE) struct unwind_cached cache[1u << UNWIND_CACHE_BITS];
    struct context_recent recent[CONTEXT_RECENT];
    struct context_passed passed[WIRE_MAX_FRAMES]; /* by the slow walk, innermost first */
};

/* NULL: the calling thread has not asked yet. */
extern __thread struct context_thread *context_self
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* What numbers that were found before hang on: the session, and what addresses mean. While an
 * object is closed it is another one each time. */
static inline uint64_t context_stamp(const struct agent_process *process) {
    uint64_t epoch = atomic_load_explicit(&process->epoch, memory_order_relaxed);
    return epoch << 32 | modules_validity();
}

/* The open call whose return address, `word`, is in that place; NULL: none. `*top` goes down to
 * what may still be met. */
static inline struct slot_entry *context_open_call(struct slot_entry **top, uint64_t place,
                                                   uint64_t word) {
    struct slot_entry *entry = *top;
    while (entry->place < place)
        entry--;
    *top = entry;
    return entry->place == place && word == slot_start(entry->from) + SLOT_BACK ? entry : NULL;
}

/* Below all open calls of a thread whose calls are not kept. */
extern struct slot_entry context_no_call __attribute__((visibility("hidden")));

static inline struct slot_entry *context_innermost(void) {
    return slot_self != NULL ? slot_self->top : &context_no_call;
}

/* Not to be moved by the compiler: a signal handler may change it. */
static inline uint32_t context_turn(const struct context_thread *t) {
    atomic_signal_fence(memory_order_seq_cst);
    uint32_t turn = *(const volatile uint32_t *)&t->turn;
    atomic_signal_fence(memory_order_seq_cst);
    return turn;
}

/* 0: it is not known as yet, and the slow walk has to tell. In turn `turn` of the thread, which
 * holds for the process as it is now. */
uint64_t context_by_rules(struct context_thread *t, const struct event_place *caller,
                          uint32_t turn);
uint64_t context_slowly(const struct event_place *caller);

/* ---- the same again ---- */

static inline bool context_is_met(const struct context_recent *recent) {
    if (recent->met == 0)
        return true;
    struct slot_entry *top = context_innermost();
    const struct slot_entry *entry =
        context_open_call(&top, recent->met, *(const volatile uint64_t *)recent->met);
    return entry != NULL && entry->number == recent->met_number;
}

static inline bool context_is_again(const struct context_recent *recent,
                                    const struct event_place *caller) {
    return recent->pc == caller->pc && recent->sp == caller->sp && recent->fp == caller->frame &&
           context_recent_words_hold(recent) && context_is_met(recent);
}

/* ---- a number ---- */

/* Of the calling thread's context, where it goes on at `caller`; 0: there is none. Any context but
 * the agent's own; keeps errno. */
static inline uint64_t context_number(const struct event_place *caller) {
    const struct agent_process *process = agent.process;
    struct context_thread *t = context_self;
    if (hcct_unlikely(t == NULL || process == NULL ||
                      t->tag !=
                          atomic_load_explicit(&process->contexts_tag, memory_order_relaxed) ||
                      t->stamp != context_stamp(process)))
        return context_slowly(caller);
    uint32_t turn = context_turn(t);
    const struct context_recent *recent = &t->recent[context_recent_place(caller->pc, caller->sp)];
    if (hcct_likely(context_is_again(recent, caller))) {
        uint64_t number = recent->number;
        if (hcct_likely(context_turn(t) == turn))
            return number;
    }
    uint64_t number = context_by_rules(t, caller, turn);
    return hcct_likely(number != 0) ? number : context_slowly(caller);
}

#endif
