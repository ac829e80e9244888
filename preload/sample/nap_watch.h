/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * nap_watch.h - points of a thread that naps, which are waited for in some of the stretches between
 * its naps (nap_course.h).
 */
#ifndef HCCT_NAP_WATCH_H
#define HCCT_NAP_WATCH_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#include "preload/sample/burst_inner.h"

/* On the thread, our signal blocked, but where it says otherwise.
 *
 * A nap is over, from `began` to `time`, of a thread whose points are waited for at all times. It
 * may be one that naps, from here on. As in the call, between ticks. */
void nap_watch_learn(struct agent_thread *thread, uint64_t began, uint64_t time);
/* It is so no more; the fine timer is the caller's. On the thread, or while it can't run. */
void nap_watch_end(struct agent_thread *thread);
/* The next point is not waited for, or not before the end of a call. Any context. */
static inline bool nap_watch_passes(const struct agent_thread *thread) {
    return thread->trigger.naps.on &&
           (thread->trigger.naps.chance == 0 || thread->trigger.nap.put_off);
}
/* A timer comes at the stretch's next point, and no later: the stretch is watched up to there. Any
 * context. */
static inline bool nap_watch_is_narrow(const struct agent_thread *thread) {
    return thread->trigger.naps.on && !thread->trigger.nap.is_long;
}

/* Sets the timer to the stretch's next point: it came too early. */
void nap_watch_aim(struct agent_thread *thread, struct moment now);
/* The thread sleeps unseen: the timer comes after so much real time. */
void nap_watch_check_after(struct agent_thread *thread, uint64_t ns);
/* It has come. */
void nap_watch_fired(struct agent_thread *thread);
/* The thread sleeps in an open call, whose end sets the timer. */
void nap_watch_put_off(struct agent_thread *thread);
/* A timer that was set for a short while is so late. (Most of what late_ns has, on virtual machines
 * some 40 us, is the way from there to the handler: the program does not run meanwhile, and what
 * the timer has met is the point.) */
#define NAP_WATCH_LATE_NS 2000
/* A point of the stretch was sampled, from `now` on, whose signal was on its way before that for
 * `delivered` ns. */
void nap_watch_met(struct agent_thread *thread, struct moment now, uint64_t delivered);
/* A tick of the kernel: a stretch that is long is watched from there on. `uc` is as before when it
 * returns. Inside the session. */
void nap_watch_tick(struct agent_thread *thread, struct wire_session *session,
                    const struct sampling_plan *plan, ucontext_t *uc);

/* Both ends of a call of the function `which` (sleep_number) that can sleep. As in the call,
 * between ticks. */
void nap_watch_call_begins(struct agent_thread *thread, size_t which,
                           const struct sleep_place *place, uint64_t time);
void nap_watch_call_ends(struct agent_thread *thread, size_t which, const struct sleep_place *place,
                         uint64_t began, uint64_t time);
/* A handler that has interrupted such a call, and so ended a nap, returns to it. */
void nap_watch_handler_ends(struct agent_thread *thread, const struct sleep_place *place,
                            uint64_t time);
/* A call is left by a jump from `place`, NULL: by another way. */
void nap_watch_call_left(struct agent_thread *thread, const struct sleep_place *place);

#endif
