/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * link.h - between the agent and libhcctlocks.so (preload/events/link.h).
 */
#ifndef HCCT_LOCKS_LINK_H
#define HCCT_LOCKS_LINK_H

#include <stdint.h>

#include "common/wire/compiler.h"
#include "preload/events/link.h"

/* Of waits, by who waits. Weak: where it is missing, its address is NULL. */
extern struct event_link hcct_locks_link hcct_export __attribute__((weak));

struct held_table;

/* Of the same waits, by who has the lock meanwhile (held.h). */
struct held_link {
    struct event_link event;
    /* By the agent, before it is ready: held_table_bytes of zeros, which a child finds empty. */
    _Atomic(struct held_table *) table;
    uint32_t table_bytes; /* by the library */
    /* By the library: held_renew, for a table from an earlier profile. */
    void (*renew)(struct held_table *table, uint64_t now);
    /* Nobody could be charged with so much waiting. Keeps errno, takes no memory and no lock. */
    void (*lose)(uint64_t weight);
};

extern struct held_link hcct_held_link hcct_export __attribute__((weak));

#endif
