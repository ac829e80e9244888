/*
 * start.c - when calls are followed.
 *
 *   no bursts   from the thread's first instruction on, if there is a daemon; where one appears
 *               later, from a tick on at which a walk shows what is open
 *   bursts      from a tick to the end of the burst; nothing is kept up in between, so each burst
 *               begins with a walk
 */
#include "preload/calls/calls.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>

#include "preload/life/agent.h"
#include "preload/life/confine.h"
#include "preload/life/memory.h"
#include "preload/life/modules.h"
#include "preload/life/session.h"
#include "preload/life/signal.h"
#include "preload/life/sys.h"
#include "preload/redirect/redirect.h"
#include "preload/sample/burst.h"
#include "preload/sample/sampling.h"
#include "preload/wrap/sleep.h"

#define INNER_FRAMES 4    /* that are searched for a call that is about to sleep */
#define SLOT_TRIES   5000 /* for a slot, which the daemon makes when it is missed */
#define SLOT_WAIT_NS 200000l

static struct calls stand_in; /* not alive: the first report looks for the agent */

__thread struct calls *calls_self = &stand_in;

static bool wanted(void) {
    return agent.settings.collector == WIRE_COLLECT_CALLS;
}

static bool in_bursts(void) {
    return agent.settings.burst_length_ns != 0;
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
    c->low = thread->stack_low;
    c->high = thread->stack_high;
    c->guessed = false;
    c->busy = 0;
    c->delayed = 0;
    calls_clear(c);
    return redirect_prepare(thread);
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

static void follow(struct agent_thread *thread) {
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
        redirect_use(c);
    }
    session_leave(thread);
}

static void first_burst(struct agent_thread *thread);

/* A tick in the middle of this would take a slot of its own. */
static void without_ticks(struct agent_thread *thread, void (*how)(struct agent_thread *)) {
    int number = signal_number();
    uint64_t ours = number > 0 ? 1ull << (number - 1) : 0, before = 0;
    if (sys4(SYS_rt_sigprocmask, SIG_BLOCK, &ours, &before, KERNEL_SIGSET_BYTES) != 0)
        return;
    how(thread);
    sys4(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, KERNEL_SIGSET_BYTES);
}

void calls_follow(struct agent_thread *thread) {
    if (!in_bursts())
        without_ticks(thread, follow);
    else if (thread->tid == agent.process->pid)
        without_ticks(thread, first_burst);
}

void calls_begin(struct agent_thread *thread) {
    calls_self = NULL;
    if (!wanted() || !calls_prepare(thread))
        return;
    thread->calls->unseen_from_ns = ticker_now(CLOCK_THREAD_CPUTIME_ID);
    calls_follow(thread);
}

static void account_unseen(struct calls *c, uint64_t now) {
    if (c->slot != NULL && now > c->unseen_from_ns)
        session_count(c->slot, WIRE_UNSEEN_NS, now - c->unseen_from_ns);
}

void calls_end(struct agent_thread *thread) {
    struct calls *c = thread->calls;
    if (calls_self != NULL && c != NULL && c->alive)
        redirect_flush(c);
    calls_self = NULL;
    if (c == NULL || !c->alive)
        return;
    calls_burst_end(thread);
    if (in_bursts() && !confine_is_quiet())
        account_unseen(c, ticker_now(CLOCK_THREAD_CPUTIME_ID));
    calls_leave_session(c);
}

void calls_at_exit(struct agent_thread *thread) {
    struct calls *c = thread->calls;
    if (c == NULL || !c->alive || c->slot == NULL)
        return;
    if (calls_self != NULL)
        redirect_flush(c);
    if (!in_bursts())
        return;
    bool seen = thread->trigger.ticker[TRIGGER_FINE].period_ns != 0;
    uint64_t now = ticker_now(CLOCK_THREAD_CPUTIME_ID);
    uint64_t *from = seen ? &c->seen_from_ns : &c->unseen_from_ns, since = *from;
    *from = now;
    session_count(c->slot, seen ? WIRE_SEEN_NS : WIRE_UNSEEN_NS, now - since);
}

/* ---- code that has gone ---- */

void calls_invalidate(void) {
    for (struct agent_thread *t = thread_first(); t != NULL; t = t->next)
        if (t->calls != NULL)
            *(volatile uint64_t *)&t->calls->code_bytes = 0; /* its next report looks again */
}

/* ---- ticks ---- */

/* A report that was interrupted, or one whose frame a handler has left by longjmp? */
static bool report_under_way(struct calls *c, const ucontext_t *uc) {
    struct unwind_registers regs;
    unwind_registers_of(&regs, uc);
    if (c->busy != 0 && regs.reg[ARCH_SP] < c->busy)
        return true;
    c->busy = 0;
    c->delayed = 0;
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

/* True: calls are followed from here on. */
static bool begin_here(struct agent_thread *thread, struct wire_session *session,
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
    c->at = c->limit = NULL;
    c->busy = CALLS_JUMPED; /* the first report goes the long way */
    calls_self = c;
    redirect_use(c);
    return true;
}

/* From here on, for the length of a burst. */
static void run_burst(struct agent_thread *thread) {
    struct trigger *t = &thread->trigger;
    struct calls *c = thread->calls;
    c->seen_from_ns = ticker_now(CLOCK_THREAD_CPUTIME_ID);
    account_unseen(c, c->seen_from_ns);
    ticker_halt(&t->ticker[TRIGGER_CPU]);
    ticker_run(&t->ticker[TRIGGER_FINE], agent.settings.burst_length_ns,
               agent.settings.burst_length_ns);
    sleep_burst |= SLEEP_ANY;
    session_count(c->slot, WIRE_BURSTS, 1);
}

/* In the agent's stub, which has just ended a burst, or in the function behind it. */
static bool about_to_sleep(const struct agent_thread *thread) {
    const struct memo *memo = &thread->memo;
    for (uint32_t i = 1; i <= INNER_FRAMES && i <= memo->depth; i++) {
        uint64_t routine = memo->frame[memo->depth - i].frame.routine;
        if (modules_is_agent(routine) || sleep_is_sleeper(routine))
            return true;
    }
    return memo->depth == 0; /* not known */
}

static void burst_begin_here(struct agent_thread *thread, struct wire_session *session,
                             const ucontext_t *uc) {
    if (!SLEEP_IS_WRAPPED || !burst_get_timer(thread, session) || !begin_here(thread, session, uc))
        return;
    if (about_to_sleep(thread)) {
        calls_self = NULL;
        redirect_leave(thread->calls);
    } else
        run_burst(thread);
}

/* A program begins with a burst, so that its outermost calls are learned (calls/known.c). */
static void first_burst(struct agent_thread *thread) {
    struct wire_session *session = session_enter(thread);
    if (session == NULL)
        return;
    bool timer = SLEEP_IS_WRAPPED && burst_get_timer(thread, session);
    bool ready = redirect_read_sites(thread, session, 0);
    session_leave(thread);
    if (timer && ready)
        follow(thread);
    if (calls_self != NULL)
        run_burst(thread);
}

void calls_burst_end(struct agent_thread *thread) {
    struct calls *c = thread->calls;
    struct trigger *t = &thread->trigger;
    if (c == NULL || t->ticker[TRIGGER_FINE].period_ns == 0 || !wanted())
        return;
    uint64_t now = ticker_now(CLOCK_THREAD_CPUTIME_ID);
    if (thread == thread_self) {
        calls_self = NULL;
        sleep_burst &= ~(uint32_t)SLEEP_ANY;
    }
    redirect_leave(c);
    ticker_halt(&t->ticker[TRIGGER_FINE]);
    if (c->busy == 0)
        calls_learn(c);
    if (now > c->seen_from_ns) /* else a tick has just ended it */
        session_count(c->slot, WIRE_SEEN_NS, now - c->seen_from_ns);
    c->seen_from_ns = c->unseen_from_ns = now;
    uint64_t rest = agent.settings.burst_period_ns - agent.settings.burst_length_ns;
    ticker_run(&t->ticker[TRIGGER_CPU], sampling_pause(rest, now), t->plan.coarse_ns);
}

/* The burst's length is CPU time: a thread that had to wait for a processor goes on. */
static void burst_may_end(struct agent_thread *thread) {
    struct ticker *fine = &thread->trigger.ticker[TRIGGER_FINE];
    uint64_t used = ticker_now(CLOCK_THREAD_CPUTIME_ID) - thread->calls->seen_from_ns;
    uint64_t length = agent.settings.burst_length_ns;
    if (fine->period_ns == 0)
        return; /* it was under way when the burst ended */
    if (used < length - length / 8 && calls_self != NULL)
        ticker_run(fine, length - used, length);
    else
        calls_burst_end(thread);
}

void calls_tick(struct agent_thread *thread, struct wire_session *session, enum trigger_kind kind,
                const ucontext_t *uc) {
    calls_found(thread, session, uc);
    if (kind == TRIGGER_FINE && thread->calls != NULL) {
        burst_may_end(thread);
        return;
    }
    bool ready = redirect_read_sites(thread, session, arch_pc(uc));
    if (!in_bursts())
        begin_here(thread, session, uc);
    else if (ready) /* else calls would be missing in a time that is said to have been seen */
        burst_begin_here(thread, session, uc);
}
