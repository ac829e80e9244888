/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * fork.c - children of fork: they go on with their parent's open calls, in a session of their
 * own.
 *
 * What a thread keeps is wiped in a child, so that a child which the agent does not notice stops at
 * its first report. Two kinds of children need some of it. One that is forked in between reports
 * takes the open calls over. One that is forked by a signal handler which has interrupted a report
 * returns into the middle of that: it needs all there is, and memory where its parent's ring was,
 * which is read by nobody. Its calls are followed from a tick after that report on.
 */
#include "preload/calls/call_burst.h"

#include <sys/mman.h>

#include "preload/life/agent.h"
#include "preload/life/sys.h"

static void keep_open(struct agent_thread *thread, const struct calls *c) {
    thread->open.base = c->base;
    thread->open.room = c->room;
    thread->open.depth = (uint32_t)(c->top - c->base - 1);
    thread->open.low = c->low;
    thread->open.high = c->high;
    thread->open.guessed = c->guessed;
}

void calls_before_fork(void) {
    struct agent_thread *thread = thread_self;
    struct calls *c = thread->calls;
    thread->open.base = NULL;
    thread->open.report = false;
    if (c == NULL || !c->alive)
        return;
    if (calls_in_report(c))
        thread->open.report = sys3(SYS_madvise, c, sizeof *c, MADV_KEEPONFORK) == 0;
    else if (calls_self != NULL)
        keep_open(thread, c);
}

static void wipe_again(struct agent_thread *thread) {
    if (thread->open.report)
        sys3(SYS_madvise, thread->calls, sizeof *thread->calls, MADV_WIPEONFORK);
}

void calls_after_fork_parent(void) {
    wipe_again(thread_self);
}

static bool map_again(const void *at, uint64_t bytes) {
    return sys6(SYS_mmap, at, bytes, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1,
                0) == SYS_ARG(at);
}

void calls_enter_child(void) {
    struct agent_thread *thread = thread_self;
    calls_self = NULL;
    if (thread == NULL || !thread->open.report)
        return;
    struct calls *c = thread->calls;
    wipe_again(thread);
    c->limit = NULL; /* the report finds no room, and that its session is gone */
    /* What was interrupted may be about to ask it whether hcctd was killed. What is unread is
     * counted by the parent. */
    if (c->arena != NULL)
        map_again(c->arena, WIRE_PAGE);
    c->arena = NULL;
    if (c->session == NULL || !map_again(c->session, WIRE_SLOTS_OFFSET))
        return;
    map_again(c->slot, WIRE_CALLS_BYTES);
    atomic_store(&c->session->control, WIRE_CONTROL_GONE);
}

static void take_over(struct agent_thread *thread, struct calls *c) {
    c->top = c->base + 1 + thread->open.depth;
    calls_set_bounds(c, thread->open.low, thread->open.high, thread->open.guessed);
}

void calls_after_fork_child(void) {
    struct agent_thread *thread = thread_self;
    if (thread == NULL || thread->calls == NULL || thread->open.report)
        return;
    struct calls *c = thread->calls;
    if (thread->open.base != NULL) {
        c->base = thread->open.base;
        c->room = thread->open.room;
        c->end = c->base + c->room;
    }
    if (!calls_prepare(thread))
        return;
    if (thread->open.base != NULL)
        take_over(thread, c);
    c->from_ns = ticker_now(CLOCK_THREAD_CPUTIME_ID);
    if (agent.settings.burst_length_ns == 0)
        calls_follow(thread);
    else
        call_burst_expect(thread);
}
