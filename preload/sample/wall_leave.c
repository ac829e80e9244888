/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * wall_leave.c - one thread samples all others, which can't be woken any more, or need not be.
 *
 * A thread whose `busy` word is clear while `attaching` is set is not in its handler and stays out
 * of the session (session.c), so its context and its ring may be used for it. It may go on running
 * all the same: what is read of its stack is checked, and the stack stays mapped, as its thread
 * waits at its end.
 */
#include "preload/sample/wall_leave.h"

#include <string.h>
#include <ucontext.h>

#include "preload/life/confine.h"
#include "preload/life/session.h"
#include "preload/life/session_slots.h"
#include "preload/life/sys.h"
#include "preload/life/thread.h"
#include "preload/sample/emit.h"
#include "preload/sample/walk.h"
#include "preload/sample/wall_clock.h"
#include "preload/sample/wall_sleep.h"
#include "preload/wrap/libc.h"
#include "preload/wrap/sleep.h"

#define AWAKE_NS  200000u  /* CPU time since the last check that is more than the check's end */
#define HELD_NS   5000000u /* the same of the thread that is held while this is found out */
#define NAP_NS    1000000
#define NAPS_MOST 100

static bool cpu_time(const struct agent_thread *thread, uint64_t *ns) {
    struct timespec time;
    if (libc_clock_gettime(ticker_cpu_clock(thread->tid), &time) != 0)
        return false;
    *ns = (uint64_t)time.tv_sec * SECOND_NS + (uint64_t)time.tv_nsec;
    return true;
}

/* The mean weight of the points that are due: they are not drawn in another thread's name. */
static uint64_t due_weight(const struct agent_thread *thread, uint64_t cpu) {
    const struct trigger *t = &thread->trigger;
    uint64_t time = ticker_now(CLOCK_MONOTONIC), stood = wall_clock_stood(t, cpu);
    if (t->wall.due_ns == 0 || time < stood || time - stood < t->wall.due_ns)
        return 0;
    return time - stood - t->wall.due_ns + t->wall.steps.mean_ns;
}

/* The thread may have a tick of its own before the process has ended: that has what comes after. */
static void pass(struct agent_thread *thread, uint64_t weight) {
    thread->trigger.wall.due_ns += weight;
}

static void credit(struct agent_thread *thread, struct wire_session *session) {
    uint64_t cpu, weight;
    ucontext_t uc;
    if (thread->epoch != atomic_load(&agent.process->epoch) || !cpu_time(thread, &cpu) ||
        (weight = due_weight(thread, cpu)) == 0)
        return;
    struct wire_slot *slot = session_slot(thread, session);
    if (slot == NULL) {
        session_lose(thread, session, weight);
        pass(thread, weight);
        return;
    }
    memset(&uc, 0, sizeof uc);
    if (sleep_find_call(thread, &uc)) {
        session_count(slot, WIRE_ASLEEP, 1);
        (void)walk_sample(thread, session, slot, weight, &uc);
        thread->shown_call = 0;
        pass(thread, weight);
    } else if (thread->trigger.wall.asleep &&
               cpu - thread->trigger.wall.cpu_ns < (thread == thread_self ? HELD_NS : AWAKE_NS) &&
               emit_repeat(thread, slot, weight)) {
        session_count(slot, WIRE_CREDITED_NS, weight);
        pass(thread, weight);
    }
}

static void credit_others(struct wire_session *session) {
    for (struct agent_thread *t = thread_first(); t != NULL; t = t->next)
        if (t != thread_self && atomic_load(&t->used) != 0 && !t->ending &&
            atomic_load(&t->busy) == 0)
            credit(t, session);
}

void wall_leave_held(void) {
    struct wire_session *session = atomic_load(&agent.process->session);
    if (session == NULL || session_is_dead(session))
        return;
    for (struct agent_thread *t = thread_first(); t != NULL; t = t->next)
        if (atomic_load(&t->used) != 0 && !t->ending && t->masked != NULL &&
            t->trigger.plan.wall_ns != 0 && atomic_load(&t->busy) == 0)
            credit(t, session);
}

void wall_leave(void) {
    struct agent_thread *self = thread_self;
    struct agent_process *process = agent.process;
    uint32_t nobody = 0;
    if (!agent_started() || self == NULL || self->trigger.plan.wall_ns == 0 || !agent_owns_memory())
        return;
    wall_awake(self);
    if (!atomic_compare_exchange_strong(&process->attaching, &nobody, 1))
        return;
    atomic_store(&process->leaving, 1);
    struct wire_session *session = atomic_load(&process->session);
    if (session != NULL && !session_is_dead(session))
        credit_others(session);
    atomic_store(&process->leaving, 0);
    atomic_store(&process->attaching, 0);
}

void wall_leave_wait(void) {
    const struct timespec nap = {0, NAP_NS};
    for (int i = 0; i < NAPS_MOST && atomic_load(&agent.process->leaving) != 0; i++)
        sys2(SYS_nanosleep, &nap, 0);
}
