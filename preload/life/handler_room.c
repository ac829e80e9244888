/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * handler_room.c - which stacks have room, and what becomes of a thread whose stack has none.
 */
#include "preload/life/handler_room.h"

#include <unistd.h>

#include "preload/life/attach.h"
#include "preload/life/confine.h"
#include "preload/life/handler.h"
#include "preload/life/handler_shared.h"
#include "preload/life/handler_stack.h"
#include "preload/life/no_room.h"
#include "preload/life/session.h"
#include "preload/life/signal.h"
#include "preload/life/sys.h"
#include "preload/sample/ticker.h"
#include "preload/sample/trigger.h"
#include "preload/wrap/libc.h"

/* A thread uses its own stack as it likes, and the frame comes on top: it can have 12 KB (AMX). An
 * alternate stack is empty, but for a handler that leaves our signal open (handler_masks.h), which
 * has a larger one. */
#define SMALLEST_OWN  32768u
#define HANDLER_BYTES 512u /* on_signal(), before it runs on our stack */

#define ATTACH_NS 10000000u /* what a child reports that has never met the daemon is more */

static size_t smallest_alternate;

void handler_room_start(void) {
    long frame = libc_sysconf(_SC_MINSIGSTKSZ);
    smallest_alternate = (frame > 0 ? (size_t)frame : SMALLEST_OWN) + HANDLER_BYTES;
}

/* The main thread's begins without a flag that says that there is none. */
static bool has_room(const struct agent_thread *thread, const stack_t *stack) {
    if ((stack->ss_flags & SS_DISABLE) != 0 || stack->ss_size == 0 || atomic_load(&handler_shared))
        return thread->stack_high - thread->stack_low >= SMALLEST_OWN;
    return stack->ss_size >= smallest_alternate;
}

static bool has_room_now(const struct agent_thread *thread) {
    stack_t now;
    return sys2(SYS_sigaltstack, 0, &now) != 0 || has_room(thread, &now);
}

/* Where each call is counted nothing is lost: ticks only look for a daemon. */
static bool is_lost(void) {
    return agent.settings.collector == WIRE_COLLECT_WALKS || agent.settings.burst_length_ns != 0;
}

static void tell_now(void) {
    struct wire_session *session = thread_self != NULL ? session_enter(thread_self) : NULL;
    if (session == NULL)
        return;
    no_room_tell(session);
    session_leave(thread_self);
}

/* ---- out, and in again ---- */

static void go_out(struct agent_thread *thread, uint64_t from_ns) {
    thread->no_room = true;
    atomic_store(&thread->no_room_from_ns, from_ns);
    if (!is_lost())
        return;
    if (!thread->no_room_counted)
        atomic_fetch_add(&agent.process->no_room.threads, 1);
    thread->no_room_counted = true;
}

/* Another thread, with which the process ends, may do the same: each part counts once. */
static void account(struct agent_thread *thread) {
    uint64_t now = ticker_now(ticker_cpu_clock(thread->tid));
    uint64_t from = atomic_exchange(&thread->no_room_from_ns, now);
    if (is_lost() && now > from)
        atomic_fetch_add(&agent.process->no_room.ns, now - from);
}

/* Of a timer that is deleted a signal may be pending, which would still come. */
static void lose_timers(struct agent_thread *thread) {
    trigger_leave(thread);
    signal_discard_pending();
    go_out(thread, ticker_now(CLOCK_THREAD_CPUTIME_ID));
}

static void come_in(struct agent_thread *thread) {
    account(thread);
    thread->no_room = false;
    trigger_start(thread, UINT64_MAX);
}

void handler_room_begin(struct agent_thread *thread, uint64_t from_ns) {
    thread->no_room = false;
    if (!has_room_now(thread))
        go_out(thread, from_ns);
}

void handler_room_end(struct agent_thread *thread) {
    if (!thread->no_room)
        return;
    account(thread);
    thread->no_room = false;
    tell_now();
}

void handler_room_begin_in_child(struct agent_thread *thread) {
    thread->no_room_counted = false;
    if (thread->no_room)
        go_out(thread, 0);
}

/* Without timers the daemon would never hear of a program that has just begun. */
void handler_room_before(struct agent_thread *thread, const stack_t *stack) {
    uint32_t before;
    handler_shared_before(thread, stack);
    if (thread->no_room || has_room(thread, stack))
        return;
    agent_announce();
    if (!confine_enter(thread, &before))
        return;
    lose_timers(thread);
    tell_now();
    confine_leave(thread, before);
}

void handler_room_after(struct agent_thread *thread) {
    uint32_t before;
    if (hcct_likely(!thread->no_room) || !confine_enter(thread, &before))
        return;
    if (has_room_now(thread))
        come_in(thread);
    confine_leave(thread, before);
}

void handler_room_recheck(struct agent_thread *thread, const stack_t *stack) {
    handler_shared_at_tick(thread, stack);
    if (!has_room(thread, stack))
        lose_timers(thread);
}

/* ---- the process ends ---- */

void handler_room_leave(void) {
    struct agent_no_room *no_room = &agent.process->no_room;
    for (struct agent_thread *t = thread_first(); t != NULL; t = t->next)
        if (atomic_load(&t->used) != 0 && t->no_room && t->tid != 0)
            account(t);
    if (atomic_load(&no_room->ns) > ATTACH_NS)
        agent_announce_child();
    tell_now();
}
