/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * session_left.c - a list of what threads may still write to.
 */
#include "preload/life/session_left.h"

#include "preload/life/hooks.h"
#include "preload/life/session.h"
#include "preload/life/sys.h"

void session_left_unmap(const struct agent_left *left) {
    sys2(SYS_munmap, left->session, left->session_bytes);
    sys2(SYS_munmap, left->arena, left->arena_bytes);
}

static bool take_left(struct agent_process *process) {
    uint32_t nobody = 0;
    return atomic_compare_exchange_strong(&process->left_taken, &nobody, 1);
}

static void free_left(struct agent_process *process) {
    bool some = false;
    for (int i = 0; i < AGENT_LEFT_MAX; i++) {
        struct agent_left *left = &process->left[i];
        if (left->session != NULL && !agent_hooks.sends_to(left->session)) {
            session_left_unmap(left);
            left->session = NULL;
        }
        some |= left->session != NULL;
    }
    atomic_store(&process->left_some, some);
}

void session_left_keep(const struct agent_left *left) {
    struct agent_process *process = agent.process;
    if (!take_left(process))
        return;
    for (int i = 0; i < AGENT_LEFT_MAX; i++)
        if (process->left[i].session == NULL) {
            process->left[i] = *left;
            break;
        }
    free_left(process);
    atomic_store(&process->left_taken, 0);
}

void session_free_left(void) {
    struct agent_process *process = agent.process;
    if (atomic_load(&process->left_some) == 0 || !take_left(process))
        return;
    free_left(process);
    atomic_store(&process->left_taken, 0);
}
