/*
 * last.c - a sample that no signal has asked for.
 */
#include "preload/last.h"

#include <stdatomic.h>
#include <ucontext.h>

#include "preload/burst.h"
#include "preload/session.h"

#if SLEEP_IS_WRAPPED

/* Ticks keep away meanwhile. The one that comes afterwards finds that its point is over. */
void last_sample(struct agent_thread *thread, const struct caller *caller) {
    ucontext_t uc = {0};
    struct caller none;
    thread->ending = true;
    atomic_signal_fence(memory_order_seq_cst);
    if (burst_is_due(thread)) {
        struct wire_session *session = session_enter(thread);
        caller_show(&uc, caller, &none);
        burst_tick(thread, session, &thread->trigger.plan, 1, &uc);
        if (session != NULL)
            session_leave(thread);
    }
    atomic_signal_fence(memory_order_seq_cst);
    thread->ending = false;
}

#else

void last_sample(struct agent_thread *thread, const struct caller *caller) {
    (void)thread, (void)caller;
}

#endif
