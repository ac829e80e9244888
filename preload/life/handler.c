/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * handler.c - a handler that serves our timers and nothing else.
 *
 * The handler is installed once and never taken away while a timer may still fire: a late signal
 * with the default action would end the process. What arrives on our signal and is not ours (a kill
 * from outside) gets the action that the application believes to be in force: the default one. In a
 * thread that believes it to be blocked it is blocked then, and left pending; the agent moves away.
 */
#include "preload/life/handler.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "preload/life/confine.h"
#include "preload/life/handler_room.h"
#include "preload/life/handler_shared.h"
#include "preload/life/handler_stack.h"
#include "preload/life/hooks.h"
#include "preload/life/session.h"
#include "preload/life/signal.h"
#include "preload/life/signal_set.h"
#include "preload/life/sys.h"
#include "preload/life/thread.h"
#include "preload/sample/burst.h"
#include "preload/sample/open_call.h"
#include "preload/sample/trigger.h"
#include "preload/sample/wall.h"
#include "preload/wrap/handler_masks.h"
#include "preload/wrap/real.h"

static _Atomic uintptr_t in_kernel; /* the handler that the kernel has for our signal */
static _Atomic uint64_t given_up;   /* signals that the application has use for */

static const int fixed_candidates[] = {SIGPROF, SIGVTALRM, SIGSTKFLT};
#define REALTIME_TRIES 8 /* from the last real-time signal down */

/* Late, the application may set a handler for our signal behind our back: one that it hardly has
 * use for comes first. */
#define RARELY_USED 2 /* these are not */

static int candidate(unsigned i) {
    if (agent_hooks.late)
        i += RARELY_USED;
    if (i < HCCT_ARRAY_LEN(fixed_candidates))
        return fixed_candidates[i];
    i -= HCCT_ARRAY_LEN(fixed_candidates);
    return i < REALTIME_TRIES ? SIGRTMAX - (int)i : 0;
}

/* Somebody else raised our signal, and the application has no handler for it. */
hcct_noinline static void default_action(int number) {
    struct sigaction plain;
    if (signal_is_ignored_by_default(number))
        return;
    memset(&plain, 0, sizeof plain);
    plain.sa_handler = SIG_DFL;
    real_sigaction(number, &plain, NULL);
    sys3(SYS_tgkill, sys0(SYS_getpid), sys0(SYS_gettid), number);
}

/* With the same sender, where the kernel lets us. */
static void send_again(siginfo_t *info) {
    uint64_t pid = sys0(SYS_getpid), tid = sys0(SYS_gettid);
    if (info->si_code == SI_TKILL)
        sys4(SYS_rt_tgsigqueueinfo, pid, tid, info->si_signo, info);
    else if (sys3(SYS_rt_sigqueueinfo, pid, info->si_signo, info) != 0)
        sys2(SYS_kill, pid, info->si_signo);
}

/* The application has blocked it, it believes. */
hcct_noinline static void leave_pending(struct agent_thread *self, siginfo_t *info,
                                        ucontext_t *uc) {
    int number = info->si_signo;
    if (number == signal_number())
        signal_give_up();
    self->hidden_signal = signal_number();
    signal_set_add(&uc->uc_sigmask, number);
    send_again(info);
}

#define PENDING_MOST (TRIGGER_TIMERS + 2) /* of each timer one, and what others have sent */

void signal_discard_pending(void) {
    const struct timespec now = {0, 0};
    uint64_t mask = signal_bit(signal_number());
    siginfo_t info, others = {.si_signo = 0};
    enum trigger_kind kind;
    for (int i = 0; i < PENDING_MOST; i++) {
        if (sys4(SYS_rt_sigtimedwait, &mask, &info, &now, KERNEL_SIGSET_BYTES) <= 0)
            break;
        if (info.si_code != SI_TIMER ||
            trigger_owner(thread_self, info.si_value.sival_ptr, &kind) == NULL)
            others = info;
    }
    if (others.si_signo != 0)
        send_again(&others);
}

/* What was ours when this thread had blocked all signals is another's now: blocked in earnest. */
static void block_former(struct agent_thread *self, ucontext_t *uc) {
    if (hcct_likely(self->hidden_signal == 0 || self->hidden_signal == signal_number()))
        return;
    signal_set_add(&uc->uc_sigmask, self->hidden_signal);
    self->hidden_signal = signal_number();
}

/* Without our handler it would not have interrupted a system call. */
static void leave_unseen(struct agent_thread *self, int number, ucontext_t *uc) {
    (void)restart_interrupted(self != NULL ? &self->restart : NULL, uc, number, false);
}

static void foreign(struct agent_thread *self, siginfo_t *info, ucontext_t *uc) {
    if (self != NULL && self->hidden_signal == info->si_signo)
        leave_pending(self, info, uc);
    else
        default_action(info->si_signo);
    leave_unseen(self, info->si_signo, uc);
}

static void count_restart(struct agent_thread *self, enum restart_verdict verdict) {
    bool counts = verdict == RESTART_AGAIN || verdict == RESTART_DECLINED;
    struct wire_session *session = counts ? session_enter(self) : NULL;
    if (session == NULL)
        return;
    if (self->stream->slot != NULL)
        session_count(self->stream->slot,
                      verdict == RESTART_AGAIN ? WIRE_RESTARTED : WIRE_INTERRUPTED, 1);
    session_leave(self);
}

/* A tick that the thread's own timer has sent. */
struct tick {
    enum trigger_kind kind;
    int number;
    unsigned overrun;
    ucontext_t *uc;
};

static void learn_ignored_once(void) {
    static _Atomic bool known; /* children inherit it, as they do with the actions */
    if (hcct_unlikely(!atomic_load_explicit(&known, memory_order_relaxed)) &&
        !atomic_exchange(&known, true))
        signal_learn_ignored();
}

/* A call whose end nobody but us knows is met when it is due. */
static void meet_end(struct agent_thread *self, bool wall, uint64_t since) {
    uint64_t ends = restart_ends(&self->restart, since);
    if (ends == 0)
        return;
    if (wall)
        wall_check_by(self, ends);
    else
        burst_check_by(self, ends);
}

/* The call that the tick has met, as far as it was announced; else one of which nothing is known.
 */
static const struct announced_call *call_met(const struct agent_thread *self,
                                             const ucontext_t *uc) {
    static const struct announced_call unknown;
    if (sleep_is_in(&self->open_call, uc))
        return &self->open_call;
    return sleep_is_in(&self->watched_call, uc) ? &self->watched_call : &unknown;
}

static void restart(struct agent_thread *self, const struct tick *tick) {
    bool wall = tick->kind == TRIGGER_WALL;
    const struct announced_call *call = call_met(self, tick->uc);
    bool open = call == &self->open_call;
    bool known = wall || open;
    uint64_t before = known ? ticker_now(CLOCK_MONOTONIC) : 0;
    self->restart.began_ns = call->began_ns;
    self->restart.number = call->number;
    self->restart.handled = call->number != 0 && call->handlers != self->handlers;
    enum restart_verdict verdict =
        restart_interrupted(&self->restart, tick->uc, tick->number, known);
    self->restart.began_ns = self->restart.number = 0; /* other signals do not know */
    self->restart.handled = false;
    if (known && verdict == RESTART_AGAIN)
        meet_end(self, wall, before);
    if (open && verdict == RESTART_NONE)
        open_call_met(&self->open_call, tick->uc);
    count_restart(self, verdict);
}

static void serve(struct agent_thread *self, const void *argument) {
    const struct tick *tick = argument;
    learn_ignored_once();
    trigger_tick(self, tick->kind, 1 + (uint64_t)tick->overrun, tick->uc);
    restart(self, tick);
    handler_room_at_tick(self, tick->uc);
    if (agent_hooks.after_tick != NULL)
        agent_hooks.after_tick(self);
}

void signal_handle(int number, siginfo_t *info, void *uc) {
    arch_allow_unaligned(uc);
    int saved = errno;
    uint32_t before;
    enum trigger_kind kind;
    struct agent_thread *self = thread_self, *owner = NULL;
    if (info->si_code == SI_TIMER)
        owner = trigger_owner(self, info->si_value.sival_ptr, &kind);
    if (hcct_unlikely(owner != NULL && (owner != self || owner->masked == NULL)))
        self = agent_hooks.adopt(owner, uc);
    if (owner == NULL) {
        foreign(self, info, uc);
    } else if (hcct_unlikely(owner == self && owner->ending && agent_hooks.last_tick != NULL)) {
        agent_hooks.last_tick(self);
        leave_unseen(self, number, uc);
    } else if (owner == self && agent_started() && confine_enter_at_tick(self, &before)) {
        block_former(self, uc);
        handler_stack_at_tick(self, uc);
        const struct tick tick = {kind, number, (unsigned)info->si_overrun, uc};
        handler_stack_call(self, serve, &tick);
        confine_leave(self, before);
    } else if (!confine_is_quiet()) { /* the last word of a timer: sampling ends */
        leave_unseen(self, number, uc);
    }
    errno = saved;
}

/* ---- signals that the program ignores ----
 *
 * A handler of the application must not interrupt ours: it could leave it by a jump, or call what
 * we are in the middle of. So all signals with a handler are blocked there, also those that an
 * instruction raises: none of the handler's does, as the kernel has taken the trap flag away, but
 * somebody may send one. */

static bool is_known_as_ignored(int number) {
    return (atomic_load(&signal_ignored) & signal_bit(number)) != 0;
}

/* By which it has all threads change their user, and waits for each of them. That by which it
 * cancels a thread is blocked as all others are: what a cancelled thread cleans up would run with
 * our handler's mask, and on our stack. */
static bool is_awaited_by_libc(int number) {
    return number > __SIGRTMIN && number < SIGRTMIN;
}

static bool set_handler(int number) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = signal_handle;
    action.sa_flags = SA_SIGINFO | SA_RESTART | (atomic_load(&handler_shared) ? 0 : SA_ONSTACK);
    for (int other = 1; other < _NSIG; other++)
        if (!is_awaited_by_libc(other) && !is_known_as_ignored(other))
            signal_set_add(&action.sa_mask, other);
    return real_sigaction(number, &action, NULL) == 0;
}

static bool is_ignored(int number) {
    struct sigaction now;
    return real_sigaction(number, NULL, &now) == 0 &&
           (now.sa_handler == SIG_IGN ||
            (now.sa_handler == SIG_DFL && signal_is_ignored_by_default(number)));
}

static void change_ignored(int number, bool ignored) {
    if (ignored)
        atomic_fetch_or(&signal_ignored, signal_bit(number));
    else
        atomic_fetch_and(&signal_ignored, ~signal_bit(number));
}

/* Signals that we have given up have our handler as long as nobody else takes them. */
void signal_set_handlers_again(void) {
    uint64_t ours = atomic_load(&given_up) | signal_bit(signal_number());
    struct sigaction now;
    for (int number = 1; number < _NSIG; number++)
        if ((ours & signal_bit(number)) != 0 && real_sigaction(number, NULL, &now) == 0 &&
            signal_is_agents(&now))
            set_handler(number);
}

void signal_note_action(int number, bool ignored) {
    if (is_known_as_ignored(number) == ignored || !agent_owns_memory())
        return;
    /* others may be in our handler with the mask from before, or move the agent to another signal
     */
    uint64_t mask = confine_hold();
    change_ignored(number, ignored);
    signal_set_handlers_again();
    confine_let_go(mask);
}

/* Another thread may set a handler meanwhile, and finds afterwards what it finds here. */
void signal_learn_ignored(void) {
    uint64_t before = atomic_load(&signal_ignored);
    for (int number = 1; number < _NSIG; number++) {
        change_ignored(number, is_ignored(number));
        if (is_known_as_ignored(number) && !is_ignored(number))
            change_ignored(number, false);
    }
    if (atomic_load(&signal_ignored) != before)
        signal_set_handlers_again();
}

/* At its start a program most often ignores what is ignored by default: to ask for all signals
 * would cost a short one more than it is worth. The first tick does. */
static void expect_ignored(void) {
    for (int number = 1; number < _NSIG; number++)
        if (signal_is_ignored_by_default(number))
            change_ignored(number, is_ignored(number));
}

static void use(int number) {
    atomic_store(&in_kernel, sys_handler(number));
    signal_use(number);
}

static bool is_blocked_by_name(int number) {
    sigset_t now;
    return real_sigprocmask(SIG_BLOCK, NULL, &now) == 0 && signal_is_named(&now, number);
}

static bool is_free(int number) {
    struct sigaction old;
    return number > 0 && (given_up & signal_bit(number)) == 0 && !is_blocked_by_name(number) &&
           real_sigaction(number, NULL, &old) == 0 && (old.sa_flags & SA_SIGINFO) == 0 &&
           old.sa_handler == SIG_DFL;
}

static bool install(int number) {
    if (!is_free(number))
        return false;
    change_ignored(number, false);
    return set_handler(number);
}

static int find_free(int except) {
    for (unsigned i = 0; candidate(i) != 0; i++)
        if (candidate(i) != except && install(candidate(i)))
            return candidate(i);
    return 0;
}

bool signal_start(int preferred) {
    expect_ignored();
    int number = preferred != 0 && install(preferred) ? preferred : find_free(0);
    if (preferred != 0 && number != preferred)
        settings_say(&agent.settings, true, "HCCT_SIGNAL names a signal that is not free; ",
                     "another one is used");
    use(number);
    return number != 0;
}

static void tell_session(int number) {
    struct agent_thread *self = thread_self;
    struct wire_session *session = self != NULL ? session_enter(self) : NULL;
    if (session == NULL)
        return;
    atomic_store(&session->signal, (uint32_t)number);
    session_leave(self);
}

static void tell(int old, int number) {
    handler_mask_move(old, number);
    tell_session(number);
}

/* No timer raises `old` any more. What is still pending of ours is discarded by ignoring it once.
 */
static void give_back(int old, int number) {
    struct sigaction ignore, plain;
    memset(&ignore, 0, sizeof ignore);
    ignore.sa_handler = SIG_IGN;
    memset(&plain, 0, sizeof plain);
    plain.sa_handler = SIG_DFL;
    real_sigaction(old, &ignore, NULL);
    real_sigaction(old, &plain, NULL);
    change_ignored(old, signal_is_ignored_by_default(old));
    tell(old, number);
}

void signal_stop(void) {
    int old = signal_number();
    signal_use(0);
    if (old != 0)
        give_back(old, 0);
}

void signal_resume(int number) {
    if (number == 0 || !signal_start(number))
        return;
    handler_mask_move(0, signal_number());
    tell_session(signal_number());
    signal_unblock();
}

/* The old signal has its default action then, unless it was `taken` by somebody. */
static void move_from(int old, bool taken) {
    int number = find_free(old);
    use(number);
    for (struct agent_thread *t = thread_first(); t != NULL; t = t->next)
        if (atomic_load(&t->used))
            trigger_move(t, number);
    if (taken)
        tell(old, number);
    else
        give_back(old, number);
    settings_say(&agent.settings, false, "the application uses the agent's signal; ",
                 number != 0 ? "moved to another" : "no other is free: not profiled any more");
}

/* Timers of other threads are made anew, and what these keep of them: they are kept out meanwhile.
 * So is a second thread that wants to have the signal, and finds that it has it. */
static bool move(int old, bool taken) {
    uint64_t mask = confine_hold();
    bool moves = signal_number() == old;
    if (moves)
        move_from(old, taken);
    confine_let_go(mask);
    return moves;
}

void signal_yield(void) {
    (void)move(signal_number(), false);
}

void signal_give_up(void) {
    int old = signal_number();
    atomic_fetch_or(&given_up, signal_bit(old));
    if (move(old, false))
        set_handler(old);
}

void signal_check_again(void) {
    int old = signal_number();
    if (old == 0 || !agent_owns_memory() || sys_handler(old) == atomic_load(&in_kernel))
        return;
    atomic_fetch_or(&given_up, signal_bit(old));
    (void)move(old, true);
}
