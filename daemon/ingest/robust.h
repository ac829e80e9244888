/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * robust.h - words of shared memory of which the kernel says when hcctd has died: robust futexes
 * (set_robust_list(2)), which nobody waits for.
 */
#ifndef HCCT_ROBUST_H
#define HCCT_ROBUST_H

#include <linux/futex.h>
#include <stdatomic.h>
#include <stdint.h>

/* The kernel finds each word at this distance behind its entry, which nobody else may write: no
 * kernel's page is larger. */
#define ROBUST_DISTANCE 65536

struct robust_entry {
    struct robust_list list;
};

/* The calling thread's end is hcctd's. It must use no robust mutexes of libc's. Once, before the
 * others. */
void robust_begin(void);

/* The word behind `entry` names that thread from now on, until it is removed; 0 where robust_begin
 * was not called, or the kernel has no robust futexes. The caller keeps others from both. */
void robust_add(struct robust_entry *entry);
void robust_remove(struct robust_entry *entry);

#endif
