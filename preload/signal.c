/*
 * signal.c - a handler that serves our timers and nothing else.
 *
 * The handler is installed once and never taken away while a timer may still fire: a late signal
 * with the default action would end the process. What arrives on our signal and is not ours (a kill
 * from outside) gets the action that the application believes to be in force: the default one.
 */
#include "preload/signal.h"

#include <errno.h>
#include <string.h>

#include "preload/handler_masks.h"
#include "preload/real.h"
#include "preload/session.h"
#include "preload/sys.h"
#include "preload/thread.h"
#include "preload/trigger.h"

static _Atomic int in_use;

static const int fixed_candidates[] = {SIGPROF, SIGVTALRM, SIGSTKFLT};
#define REALTIME_TRIES 8 /* from the last real-time signal down */

static int candidate(unsigned i) {
    if (i < HCCT_ARRAY_LEN(fixed_candidates))
        return fixed_candidates[i];
    i -= HCCT_ARRAY_LEN(fixed_candidates);
    return i < REALTIME_TRIES ? SIGRTMAX - (int)i : 0;
}

int signal_number(void) {
    return atomic_load_explicit(&in_use, memory_order_relaxed);
}

/* Somebody else raised our signal, and the application has no handler for it. */
hcct_noinline static void default_action(int number) {
    struct sigaction plain;
    memset(&plain, 0, sizeof plain);
    plain.sa_handler = SIG_DFL;
    real_sigaction(number, &plain, NULL);
    sys3(SYS_tgkill, sys0(SYS_getpid), sys0(SYS_gettid), number);
}

static void count_restart(struct agent_thread *self, enum restart_verdict verdict) {
    struct wire_session *session = verdict == RESTART_NONE ? NULL : session_enter(self);
    if (session == NULL)
        return;
    if (self->slot != NULL && verdict == RESTART_AGAIN)
        session_count(self->slot, WIRE_RESTARTED, 1);
    session_leave(self);
}

static void on_signal(int number, siginfo_t *info, void *uc) {
    int saved = errno;
    enum trigger_kind kind;
    struct agent_thread *self = thread_self, *owner = NULL;
    if (info->si_code == SI_TIMER)
        owner = trigger_owner(self, info->si_value.sival_ptr, &kind);
    else if (info->si_code == POLL_IN && self != NULL && trigger_is_task_clock(self, info->si_fd))
        owner = self, kind = TRIGGER_TASK;
    if (owner == NULL) {
        if (info->si_code != POLL_IN) /* the last word of an event that was just closed */
            default_action(number);
    } else if (owner == self && agent_started()) {
        uint64_t overrun = kind == TRIGGER_TASK ? 0 : (unsigned)info->si_overrun;
        trigger_tick(self, kind, 1 + overrun, uc);
        count_restart(self, restart_interrupted(&self->restart, uc, number, kind == TRIGGER_WALL));
    }
    errno = saved;
}

static bool install(int number) {
    struct sigaction action, old;
    if (number <= 0 || real_sigaction(number, NULL, &old) != 0 ||
        (old.sa_flags & SA_SIGINFO) != 0 || old.sa_handler != SIG_DFL)
        return false;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
    sigfillset(&action.sa_mask);
    return real_sigaction(number, &action, NULL) == 0;
}

static int find_free(int except) {
    for (unsigned i = 0; candidate(i) != 0; i++)
        if (candidate(i) != except && install(candidate(i)))
            return candidate(i);
    return 0;
}

bool signal_start(int wish) {
    int number = wish != 0 && install(wish) ? wish : find_free(0);
    if (wish != 0 && number != wish)
        settings_say(&agent.settings, true, "HCCT_SIGNAL names a signal that is not free; ",
                     "another one is used");
    atomic_store(&in_use, number);
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

void signal_yield(void) {
    int old = signal_number();
    struct sigaction ignore, plain;
    int number = find_free(old);
    atomic_store(&in_use, number);
    for (struct agent_thread *t = thread_first(); t != NULL; t = t->next)
        if (atomic_load(&t->used))
            trigger_move(t, number);
    /* what is still pending of our timers is discarded by ignoring it once */
    memset(&ignore, 0, sizeof ignore);
    ignore.sa_handler = SIG_IGN;
    memset(&plain, 0, sizeof plain);
    plain.sa_handler = SIG_DFL;
    real_sigaction(old, &ignore, NULL);
    real_sigaction(old, &plain, NULL);
    handler_mask_move(old, number);
    tell_session(number);
    settings_say(&agent.settings, false, "the application uses the agent's signal; ",
                 number != 0 ? "moved to another" : "no other is free: not profiled any more");
}

void signal_hidden_action(struct sigaction *action) {
    memset(action, 0, sizeof *action);
    action->sa_handler = SIG_DFL;
}

static void change_mask(int how, int number) {
    uint64_t mask = number > 0 ? 1ull << (number - 1) : 0;
    if (mask != 0)
        sys4(SYS_rt_sigprocmask, how, &mask, 0, KERNEL_SIGSET_BYTES);
}

void signal_unblock(void) {
    change_mask(SIG_UNBLOCK, signal_number());
}

void signal_block_for_fork(void) {
    change_mask(SIG_BLOCK, signal_number());
}
