/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * link.h - between the agent and libhcctblocks.so (preload/events/link.h), which knows the sampled
 * blocks by their addresses until they are freed.
 */
#ifndef HCCT_BLOCKS_LINK_H
#define HCCT_BLOCKS_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include "common/wire/compiler.h"
#include "preload/events/link.h"

/* A block weighs so much from now on. */
struct blocks_change {
    uint64_t number, weight;
    uint32_t doubled, usual; /* as in event_sample */
};

struct blocks_link {
    struct event_link event;
    bool heap;    /* blocks are followed until they are freed ... */
    bool objects; /* ... and weigh so many objects in the session's memory, not bytes */
    /* Those that the session does not know are left alone. Where it can't be had just now nothing
     * is done. */
    void (*change)(const struct blocks_change *change, unsigned n);
    /* A block is gone. Takes no system call. Keeps errno. */
    void (*gone)(uint64_t number);
    /* CLOCK_MONOTONIC in nanoseconds, without a system call. Keeps errno. */
    uint64_t (*now)(void);
    /* The calling thread's CPU time in nanoseconds, by one system call; 0: it can't be known now.
     * Keeps errno. */
    uint64_t (*cpu)(void);
    /* For the agent, in a child of fork: neither the blocks of its parent nor its chance are its
     * own. */
    void (*clear)(void);
    /* For an agent that is attached anew: blocks of the last time are nobody's. */
    void (*renew)(void);
};

/* Weak: where it is missing, its address is NULL. */
extern struct blocks_link hcct_blocks_link hcct_export __attribute__((weak));

#endif
