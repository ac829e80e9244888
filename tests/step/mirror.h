/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * mirror.h - the target's stacks at the same addresses in our own memory, so that a walk can read
 * them directly, as it does in the agent.
 */
#ifndef HCCT_STEP_MIRROR_H
#define HCCT_STEP_MIRROR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define MIRRORS_MAX 32

struct mirror_range {
    uint64_t start, end;
};

struct mirror {
    struct mirror_range range[MIRRORS_MAX]; /* mapped here for this purpose */
    size_t n;
};

/* Copies [sp, end) of the target's memory. False when it is too much, or when something of our own
 * is at these addresses: then the walk has to do without. */
bool mirror_stack(struct mirror *mirror, pid_t pid, uint64_t sp, uint64_t end);
void mirror_clear(struct mirror *mirror);

#endif
