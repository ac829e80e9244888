/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * calm.c - by how many short calls of a function came one after the other.
 */
#include "preload/sample/calm.h"

#include "common/wire/compiler.h"

#define CALM_CALLS 16 /* so many have been short: the next may be open */
#define MET_CALLS  4  /* after one that a tick has met asleep */
#define NEVER      UINT8_MAX

/* A shorter sleep is seldom met by a tick. Work takes as long, too: what a write to a socket of the
 * same host brings about is done by the writer. */
#define LONG_NS 1000000

hcct_hot bool calm_is(const struct agent_thread *thread, size_t which) {
    return thread->trigger.calm[which] == CALM_CALLS;
}

hcct_hot void calm_learn(struct agent_thread *thread, size_t which, uint64_t ns) {
    uint8_t *calm = &thread->trigger.calm[which];
    if (hcct_unlikely(*calm == NEVER))
        return;
    if (ns > LONG_NS)
        *calm = 0;
    else if (*calm < CALM_CALLS)
        ++*calm;
}

void calm_never(struct agent_thread *thread, size_t which) {
    thread->trigger.calm[which] = NEVER;
}

void calm_met(struct agent_thread *thread, size_t which) {
    if (thread->trigger.calm[which] != NEVER)
        thread->trigger.calm[which] = CALM_CALLS - MET_CALLS;
}
