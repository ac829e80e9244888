/*
 * last.c - a sample that no signal has asked for.
 */
#include "preload/last.h"

#include <stdatomic.h>
#include <ucontext.h>

#include "preload/burst.h"
#include "preload/session.h"

#if SLEEP_IS_WRAPPED

static void set(ucontext_t *uc, const struct last_caller *caller) {
    greg_t *regs = uc->uc_mcontext.gregs;
    regs[REG_RIP] = (greg_t)caller->pc;
    regs[REG_RSP] = (greg_t)caller->sp;
    regs[REG_RBP] = (greg_t)caller->frame;
}

/* Ticks keep away meanwhile. The one that comes afterwards finds that its point is over. */
void last_sample(struct agent_thread *thread, const struct last_caller *caller) {
    ucontext_t uc = {0};
    thread->ending = true;
    atomic_signal_fence(memory_order_seq_cst);
    if (burst_is_due(thread)) {
        struct wire_session *session = session_enter(thread);
        set(&uc, caller);
        burst_tick(thread, session, &thread->trigger.plan, 1, &uc);
        if (session != NULL)
            session_leave(thread);
    }
    atomic_signal_fence(memory_order_seq_cst);
    thread->ending = false;
}

#else

void last_sample(struct agent_thread *thread, const struct last_caller *caller) {
    (void)thread, (void)caller;
}

#endif
