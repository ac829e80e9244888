/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * hot.h - what every report of a call does: a word into the ring, and the words around it. Private
 * to what reports calls (calls.c; redirect/enter.c, which may use no vector register).
 */
#ifndef HCCT_CALLS_HOT_H
#define HCCT_CALLS_HOT_H

#include "common/wire/ring.h"
#include "preload/calls/calls.h"

#define FETCH_AHEAD 32 /* words: in their time a line comes from the other processor */

/* The daemon has read the line the last time round, so it has to come, and will be written. */
static inline void fetch_for_writing(const uint64_t *at) {
#if defined(__x86_64__)
    __asm__ volatile("prefetchw %0" : : "m"(*at));
#else
    __builtin_prefetch(at, 1);
#endif
}

/* The words up to `at` are the daemon's from here on; what says so comes after this (commit.c). */
static inline void publish_call(struct calls *c, const uint64_t *at) {
    ring_publish(c->slot, (uint64_t)(at - c->zero));
    atomic_signal_fence(memory_order_seq_cst);
}

/* Then, and after the open call below `top` has been written. */
static inline void open_published(struct calls *c, struct calls_frame *top, uint64_t *at) {
    c->cursor = top;
    atomic_signal_fence(memory_order_seq_cst);
    c->at = at;
    atomic_signal_fence(memory_order_seq_cst);
    c->top = top;
    fetch_for_writing(at + FETCH_AHEAD - 1);
    atomic_signal_fence(memory_order_seq_cst);
}

/* In one instruction: between two of them a handler may go to another stack, where a report is
 * paused in turn before it comes back. False: `busy` is no longer `before`. */
static inline bool begin_report(struct calls *c, uint64_t before, uint64_t sp) {
#if defined(__x86_64__)
    bool done;
    __asm__ volatile("cmpxchgq %3, %1"
                     : "=@ccz"(done), "+m"(c->busy), "+a"(before)
                     : "r"(sp)
                     : "memory");
    return done;
#else
    return __atomic_compare_exchange_n(&c->busy, &before, sp, false, __ATOMIC_RELAXED,
                                       __ATOMIC_RELAXED);
#endif
}

/* In one instruction, so that a mark that a handler has left meanwhile stays: the next event sees
 * to what was put aside. */
static inline void end_report(struct calls *c, uint64_t sp) {
#if defined(__x86_64__)
    __asm__ volatile("subq %1, %0" : "+m"(c->busy) : "r"(sp) : "cc", "memory");
#else
    __atomic_sub_fetch(&c->busy, sp, __ATOMIC_RELAXED);
#endif
}

/* On the same stack. Where a report is about to go to another one, the bounds are still those of
 * the one before. */
static inline bool is_with_report(const struct calls *c, uint64_t sp) {
    return calls_is_elsewhere(c, c->busy) ? sp - c->busy < CALLS_NEAR : !calls_is_elsewhere(c, sp);
}

/* Inside another report of this thread. That one is gone for good if its frame is: a handler has
 * left it by longjmp. On another stack it may be paused: a handler has switched coroutines, and
 * comes back. */
static inline bool is_nested(const struct calls *c, uint64_t sp) {
    return calls_in_report(c) && (sp < c->busy || !is_with_report(c, sp));
}

/* In one step, as a handler may come to the same in the middle of it. */
static inline void count_lost(struct calls *c) {
    if (c->slot != NULL)
        atomic_fetch_add_explicit(&c->slot->counter[WIRE_LOST], 1, memory_order_relaxed);
}

/* Keeps the compiler from finding it again. */
static inline uint64_t held(uint64_t value) {
    __asm__("" : "+r"(value));
    return value;
}

/* As wire_call() makes it, with the frames that are gone counted in bytes. False: an operand is too
 * large for it. */
static inline bool call_word(const struct calls *c, const struct calls_frame *top, uint64_t routine,
                             uint64_t site, uint64_t *word) {
    _Static_assert(sizeof *top == 32, "so that a shift makes a number of frames of bytes");
    uint64_t gone = (uintptr_t)c->cursor - (uintptr_t)top;
    if (gone > WIRE_POPS_MAX * sizeof *top)
        return false;
    routine -= c->code_start;
    if (routine >= c->code_bytes)
        return false;
    *word = held(wire_call(0, routine, 0) + (gone << (WIRE_POPS_SHIFT - 5)));
    atomic_signal_fence(memory_order_seq_cst); /* loads again: a register would have to be saved */
    site -= c->code_start;
    *word |= site;
    return site < c->code_bytes;
}

#endif
