/*
 * edge.c - a sample that no signal has asked for.
 */
#include "preload/edge.h"

#include <signal.h>
#include <ucontext.h>

#include "preload/burst.h"
#include "preload/confine.h"
#include "preload/session.h"
#include "preload/sys.h"

#if SLEEP_IS_WRAPPED

static void set(ucontext_t *uc, const struct edge_caller *caller) {
    greg_t *regs = uc->uc_mcontext.gregs;
    regs[REG_RIP] = (greg_t)caller->pc;
    regs[REG_RSP] = (greg_t)caller->sp;
    regs[REG_RBP] = (greg_t)caller->frame;
}

static void take(struct agent_thread *thread, const struct edge_caller *caller) {
    ucontext_t uc = {0};
    set(&uc, caller);
    struct wire_session *session = session_enter(thread);
    burst_tick(thread, session, &thread->trigger.plan, 1, &uc);
    if (session != NULL)
        session_leave(thread);
}

/* As in the handler, no signal comes meanwhile. A tick that was on its way finds that its point is
 * over. */
void edge_sample_inside(struct agent_thread *thread, const struct edge_caller *caller) {
    uint64_t all = UINT64_MAX, before = 0;
    if (!burst_is_due(thread) ||
        sys4(SYS_rt_sigprocmask, SIG_BLOCK, &all, &before, KERNEL_SIGSET_BYTES) != 0)
        return;
    take(thread, caller);
    sys4(SYS_rt_sigprocmask, SIG_SETMASK, &before, 0, KERNEL_SIGSET_BYTES);
}

#else

void edge_sample_inside(struct agent_thread *thread, const struct edge_caller *caller) {
    (void)thread, (void)caller;
}

#endif

void edge_sample(struct agent_thread *thread, struct edge_caller caller) {
    uint32_t before;
    if (!confine_enter(thread, &before))
        return;
    edge_sample_inside(thread, &caller);
    confine_leave(thread, before);
}
