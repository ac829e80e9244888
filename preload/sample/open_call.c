/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * open_call.c - both ends of open calls.
 */
#include "preload/sample/open_call.h"

#include "common/wire/arch.h"
#include "common/wire/compiler.h"
#include "preload/life/confine.h"
#include "preload/life/signal.h"
#include "preload/sample/call_points.h"
#include "preload/sample/calm.h"
#include "preload/sample/interrupted.h"
#include "preload/sample/wall_sleep.h"
#include "preload/wrap/restart.h"
#include "preload/wrap/sleep.h"
#include "preload/wrap/sleep_open.h"

static bool is_by_wall(const struct agent_thread *thread) {
    return (sleep_burst & SLEEP_WATCHED) != 0 && thread->stream->slot != NULL;
}

hcct_hot bool open_call_begin(struct sleep_call *call, size_t which) {
    struct agent_thread *thread = thread_self;
    if (!calm_is(thread, which))
        return false;
    if (!call_points_may_open(thread) && !is_by_wall(thread))
        return false;
    wall_awake(thread);
    struct sleep_place place = sleep_place(call, false);
    call->began_ns = ticker_now(CLOCK_MONOTONIC);
    call_points_begin(thread, which, &place, call->began_ns);
    return true;
}

hcct_hot void open_call_end(struct sleep_call *call, size_t which) {
    struct agent_thread *thread = thread_self;
    uint32_t before;
    if (thread == NULL || !confine_enter(thread, &before))
        return;
    struct sleep_place place = sleep_place(call, true);
    uint64_t time = ticker_now(CLOCK_MONOTONIC);
    calm_learn(thread, which, time - call->began_ns);
    call_points_end(thread, which, &place, call->began_ns, time, false);
    if (hcct_unlikely((sleep_burst & SLEEP_NEXT) != 0))
        wall_over(thread, (uintptr_t)call);
    confine_leave(thread, before);
}

/* Where a handler of the application is about to run, it would have ended the call, too. */
void open_call_met(struct announced_call *open, const ucontext_t *uc) {
    if (interrupted_behind_call(uc) && (int64_t)arch_reg(uc, ARCH_RESULT) > 0 &&
        !restart_is_expected(uc, signal_number()))
        open->cut = true;
}
