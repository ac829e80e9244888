/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * confine.c - who may make system calls for the agent, and waiting for who is about to.
 */
#include "preload/life/confine.h"

#include <signal.h>

#include "preload/life/signal.h"
#include "preload/life/sys.h"

#define NAP_NS    50000
#define NAPS_MOST 400 /* a handler may have left the agent's code by a jump */

/* Who has confine_held naps so often at most, and may be gone in a child. */
#define HELD_NAPS_MOST (2 * NAPS_MOST)

_Atomic bool confine_all, confine_some, confine_held;

static bool is_other(const struct agent_thread *t) {
    return t != thread_self && atomic_load(&t->used) != 0;
}

bool confine_has_others(void) {
    for (struct agent_thread *t = thread_first(); t != NULL && agent_started(); t = t->next)
        if (is_other(t))
            return true;
    return false;
}

static bool others_are_outside(void) {
    for (struct agent_thread *t = thread_first(); t != NULL; t = t->next)
        if (is_other(t) && atomic_load(&t->inside) != 0)
            return false;
    return true;
}

static void nap(void) {
    sys_nap(NAP_NS);
}

void confine_wait_for_others(void) {
    for (int i = 0; i < NAPS_MOST && !others_are_outside(); i++)
        nap();
}

static void wait_while_held(struct agent_thread *thread) {
    for (int i = 0; i < HELD_NAPS_MOST && atomic_load(&confine_held); i++) {
        atomic_store(&thread->inside, 0);
        nap();
        atomic_store(&thread->inside, 1);
    }
}

/* One that was inside already when it was interrupted is waited for: it must go on. */
bool confine_enter_rarely(struct agent_thread *thread, uint32_t before, bool waits) {
    if (waits && before == 0)
        wait_while_held(thread);
    if (!atomic_load(&confine_all) && (waits || before != 0))
        return true;
    atomic_store_explicit(&thread->inside, before, memory_order_release);
    return false;
}

uint64_t confine_hold(void) {
    uint64_t mask = 0;
    bool nobody = false;
    (void)signal_block_all(&mask);
    for (int i = 0;
         i < HELD_NAPS_MOST && !atomic_compare_exchange_strong(&confine_held, &nobody, true); i++) {
        nap();
        nobody = false;
    }
    confine_wait_for_others();
    return mask;
}

void confine_forget_held(void) {
    if (atomic_load(&confine_held)) /* a page that is written to is copied */
        atomic_store(&confine_held, false);
}

void confine_let_go(uint64_t mask) {
    atomic_store(&confine_held, false);
    signal_put_back(mask);
}

bool agent_owns_memory(void) {
    return agent_started() && !confine_is_quiet() && agent.process->pid == (pid_t)sys0(SYS_getpid);
}
