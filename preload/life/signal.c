/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * signal.c - which signal the agent uses, and who has it blocked.
 */
#include "preload/life/signal.h"

#include <stdatomic.h>
#include <string.h>

#include "preload/life/confine.h"
#include "preload/life/hooks.h"
#include "preload/life/signal_set.h"
#include "preload/life/sys.h"
#include "preload/life/thread.h"
#include "preload/wrap/real.h"

static _Atomic int in_use;
_Atomic uint64_t signal_ignored;

#define NAMED_MAX 16 /* classic signals in a mask that is not meant for all of them */
#define CLASSIC   31

void signal_use(int number) {
    atomic_store(&in_use, number);
}

int signal_number(void) {
    return atomic_load_explicit(&in_use, memory_order_relaxed);
}

bool signal_is_ignored_by_default(int number) {
    return number == SIGURG || number == SIGWINCH || number == SIGCHLD || number == SIGCONT;
}

bool signal_is_named(const sigset_t *set, int number) {
    int members = 0;
    for (int i = 1; i <= CLASSIC; i++)
        members += signal_set_has(set, i);
    return number > 0 && members <= NAMED_MAX && signal_set_has(set, number);
}

bool signal_is_agents(const struct sigaction *action) {
    return (action->sa_flags & SA_SIGINFO) != 0 && action->sa_sigaction == agent_hooks.handle;
}

void signal_hidden_action(struct sigaction *action) {
    memset(action, 0, sizeof *action);
    action->sa_handler = SIG_DFL;
}

static void change_mask(int how, int number) {
    uint64_t mask = signal_bit(number);
    if (mask != 0)
        sys4(SYS_rt_sigprocmask, how, &mask, 0, KERNEL_SIGSET_BYTES);
}

void signal_block_hidden(int number) {
    change_mask(SIG_BLOCK, number);
}

void signal_before_thread(const struct agent_thread *creator) {
    if (hcct_unlikely(creator != NULL && creator->hidden_signal != 0) && agent_owns_memory())
        signal_block_hidden(creator->hidden_signal);
}

/* The agent may have moved away meanwhile: then the former signal is the application's. */
void signal_after_thread(struct agent_thread *creator) {
    if (hcct_likely(creator == NULL || creator->hidden_signal == 0) || !agent_owns_memory())
        return;
    creator->hidden_signal = signal_number();
    signal_unblock();
}

void signal_unblock(void) {
    change_mask(SIG_UNBLOCK, signal_number());
}

void signal_block_for_fork(void) {
    change_mask(SIG_BLOCK, signal_number());
}

void signal_unblock_first(void) {
    sigset_t now;
    if (real_sigprocmask(SIG_BLOCK, NULL, &now) == 0 && signal_set_has(&now, signal_number()))
        thread_self->hidden_signal = signal_number();
    signal_unblock();
}
