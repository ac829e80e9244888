/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * start.c - when calls are followed.
 *
 *   no bursts   from the thread's first instruction on, if there is a daemon; where one appears
 *               later, from a tick on at which a walk shows what is open
 *   bursts      from a tick to the end of the burst; nothing is kept up in between, so each burst
 *               begins with a walk (calls/call_burst.c)
 */
#include "preload/calls/call_burst.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>

#include "preload/calls/hot.h"
#include "preload/life/agent.h"
#include "preload/life/confine.h"
#include "preload/life/memory.h"
#include "preload/life/modules.h"
#include "preload/life/session.h"
#include "preload/life/session_slots.h"
#include "preload/life/signal.h"
#include "preload/life/sys.h"
#include "preload/redirect/redirect.h"

#define SLOT_TRIES   5000 /* for a slot, which the daemon makes when it is missed */
#define SLOT_WAIT_NS 200000l

static hcct_large struct calls stand_in; /* not alive: the first report looks for the agent */

__thread struct calls *calls_self = &stand_in;
__thread uint64_t calls_passed;

static bool wanted(void) {
    return agent.settings.collector == WIRE_COLLECT_CALLS;
}

/* ---- memory ---- */

static struct calls *make(void) {
    struct calls *c = memory_map(sizeof *c, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
    if (c == NULL)
        return NULL;
    return sys3(SYS_madvise, c, sizeof *c, MADV_WIPEONFORK) == 0 ? c : NULL;
}

bool calls_prepare(struct agent_thread *thread) {
    if (thread->calls == NULL)
        thread->calls = make();
    struct calls *c = thread->calls;
    if (c == NULL || (c->base == NULL && !calls_grow(c)))
        return false;
    c->alive = true;
    c->thread = thread;
    c->busy = 0;
    c->delayed = 0;
    c->in_burst = c->warms = c->watches = false;
    c->tick_ns = 0;
    c->group = 0;
    period_begin(&c->period, 0);
    c->own_ns = c->untold_ns = c->own_summed_ns = c->ours_untold_ns = 0;
    c->cost_ns = c->cost_summed_ns = c->once_ns = 0;
    c->price.mask = price_mask(false);
    calls_clear(c);
    if (!redirect_prepare(thread))
        return false;
    calls_set_bounds(c, thread->stack_low, thread->stack_high, false);
    return true;
}

/* ---- session ---- */

/* Thread context: the slots that are ready may all be taken, and no call is to be lost. */
static struct wire_slot *wait_for_slot(struct agent_thread *thread, struct wire_session *session) {
    const struct timespec pause = {.tv_nsec = SLOT_WAIT_NS};
    struct wire_slot *slot;
    for (int i = 0; (slot = session_slot(thread, session)) == NULL && i < SLOT_TRIES; i++) {
        if (session_is_dead(session))
            return NULL;
        sys2(SYS_nanosleep, &pause, NULL);
    }
    return slot;
}

void calls_follow_here(struct agent_thread *thread) {
    struct calls *c = thread->calls;
    struct wire_session *session = session_enter(thread);
    if (session == NULL)
        return;
    struct wire_slot *slot = wait_for_slot(thread, session);
    if (slot != NULL) {
        calls_use_slot(c, session, slot);
        c->alive = true;
        calls_self = c;
        redirect_read_sites(thread, session, 0);
        if (!redirect_use(c))
            redirect_await_on();
    }
    session_leave(thread);
}

/* A tick in the middle of this would take a slot of its own. */
static void without_ticks(struct agent_thread *thread, void (*how)(struct agent_thread *)) {
    int number = signal_number();
    uint64_t ours = number > 0 ? 1ull << (number - 1) : 0, before = 0;
    if (sys4(SYS_rt_sigprocmask, SIG_BLOCK, &ours, &before, KERNEL_SIGSET_BYTES) != 0)
        return;
    how(thread);
    sys4(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, KERNEL_SIGSET_BYTES);
}

static void follow(struct agent_thread *thread) {
    if (!call_burst_is_meant())
        calls_follow_here(thread);
    else if (thread->tid == agent.process->pid)
        call_burst_first(thread);
}

void calls_follow(struct agent_thread *thread) {
    without_ticks(thread, follow);
}

/* A tick in between would find that a burst is due whose period has not begun. */
static void follow_and_expect(struct agent_thread *thread) {
    call_burst_starts(thread);
    follow(thread);
    call_burst_expect(thread);
}

void calls_begin(struct agent_thread *thread) {
    calls_self = NULL;
    if (!wanted() || !calls_prepare(thread))
        return;
    without_ticks(thread, follow_and_expect);
}

/* What was put aside in a report, and will not be done. */
static void drop_delayed(struct calls *c) {
    uint64_t lost = 0;
    for (uint32_t i = 0; i < c->delayed; i++) {
        lost += c->delay[i].sp != 0 && c->delay[i].enter;
        c->delay[i].sp = 0;
    }
    if (c->slot != NULL && lost > 0)
        session_count(c->slot, WIRE_LOST, lost);
    c->delayed = 0;
}

static void end_reports(struct calls *c) {
    calls_end_reports(c);
    redirect_flush(c);
}

static void end_burst(struct agent_thread *thread) {
    calls_burst_end(thread);
    if (!call_burst_is_meant())
        return;
    call_burst_account(thread);
    call_burst_leave_untold(thread->calls);
}

void calls_end(struct agent_thread *thread) {
    struct calls *c = thread->calls;
    if (calls_self != NULL && c != NULL && c->alive)
        end_reports(c);
    calls_self = NULL;
    if (c == NULL || !c->alive)
        return;
    drop_delayed(c);
    if (confine_is_quiet())
        calls_burst_end(thread);
    else
        without_ticks(thread, end_burst);
    calls_leave_session(c);
}

void calls_at_exit(struct agent_thread *thread) {
    struct calls *c = thread->calls;
    if (c == NULL || !c->alive || c->slot == NULL)
        return;
    if (calls_self != NULL)
        end_reports(c);
    if (call_burst_is_meant())
        without_ticks(thread, call_burst_account);
}

/* ---- code that has gone ---- */

void calls_invalidate(void) {
    for (struct agent_thread *t = thread_first(); t != NULL; t = t->next)
        if (t->calls != NULL)
            *(volatile uint64_t *)&t->calls->code_bytes = 0; /* its next report looks again */
}

/* ---- ticks ---- */

/* A report that was interrupted, or is paused on another stack, to which its thread may come back;
 * or one whose frame a handler has left by longjmp? */
static bool report_under_way(struct calls *c, const ucontext_t *uc) {
    struct unwind_registers regs;
    unwind_registers_of(&regs, uc);
    if (is_nested(c, regs.reg[ARCH_SP]))
        return true;
    c->busy = 0;
    drop_delayed(c);
    return false;
}

void calls_found(struct agent_thread *thread, const struct wire_session *session,
                 const ucontext_t *uc) {
    struct calls *c = thread->calls;
    if (c == NULL || c->session == NULL || c->session == session)
        return;
    if (report_under_way(c, uc))
        c->limit = NULL; /* the next one sees it */
    else
        calls_lose(c);
}

bool calls_begin_here(struct agent_thread *thread, struct wire_session *session,
                      const ucontext_t *uc) {
    struct calls *c = thread->calls;
    if (c == NULL || !c->alive || calls_self != NULL || report_under_way(c, uc))
        return false;
    struct wire_slot *slot = session_slot(thread, session);
    if (slot == NULL)
        return false;
    calls_use_slot(c, session, slot);
    calls_write_back(c);
    if (!calls_align(c, session, uc)) {
        if (c->redirect == NULL) {
            session_count(slot, WIRE_LOST, 1);
            return false;
        }
        c->top = c->common = c->base + 1; /* the first redirected call finds its callers */
    }
    calls_start_on(c, arch_reg(uc, ARCH_SP));
    c->at = c->limit = NULL;
    c->busy = CALLS_JUMPED; /* the first report goes the long way */
    calls_self = c;
    if (redirect_use(c))
        return true;
    calls_self = NULL; /* at the next tick, then */
    redirect_leave(c);
    return false;
}

void calls_tick(struct agent_thread *thread, struct wire_session *session, enum trigger_kind kind,
                const ucontext_t *uc) {
    calls_found(thread, session, uc);
    session_free_left();
    session_tell_lost(session);
    struct calls *c = thread->calls;
    bool in_burst = c != NULL && c->in_burst;
    if (kind == TRIGGER_FINE && in_burst) {
        call_burst_tick(thread);
        return;
    }
    uint64_t began_ns = call_burst_cost_begin();
    bool ready = redirect_read_sites(thread, session, arch_pc(uc));
    call_burst_cost_once(thread, began_ns);
    if (!call_burst_is_meant()) {
        calls_begin_here(thread, session, uc);
    } else if (in_burst || call_burst_is_due(thread)) {
        if (ready) /* else what is seen would lack calls */
            call_burst_begin(thread, session, uc);
        if (!in_burst)
            call_burst_put_off(thread);
    }
}
