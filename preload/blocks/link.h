/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * link.h - between the agent and the library that stands before malloc.
 *
 * That library (libhcctblocks.so) is one of its own, so that who does not sample allocations
 * executes the same instructions as without it. It draws which blocks are sampled, and knows them
 * by their addresses until they are freed; the agent walks the stack and talks to the daemon. The
 * agent finds this struct by its name, and fills it in when it starts, for good.
 */
#ifndef HCCT_BLOCKS_LINK_H
#define HCCT_BLOCKS_LINK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/wire/compiler.h"

/* Where an allocation was asked for: the registers of the caller as they are when it goes on. */
struct blocks_place {
    uint64_t pc, sp, frame;
};

struct blocks_sample {
    struct blocks_place place;
    uint64_t weight;
    uint64_t number; /* as in the session's memory; 0: it is not followed until it is freed */
};

/* A block weighs so much from now on; 0: it is gone. */
struct blocks_change {
    uint64_t number, weight;
};

struct blocks_link {
    _Atomic bool ready; /* set last */
    bool heap;          /* blocks are followed until they are freed */
    bool objects;       /* weights are numbers of blocks, not bytes */
    /* Sends the sample. False: it is lost. */
    bool (*sample)(const struct blocks_sample *sample);
    /* False: not just now, nothing was done. Those that the session does not know are left alone.
     */
    bool (*change)(const struct blocks_change *change, unsigned n);
    /* For the agent, in a child of fork: the blocks of its parent are not its own. */
    void (*clear)(void);
};

/* Weak: where it is missing, its address is NULL. */
extern struct blocks_link hcct_blocks_link hcct_export __attribute__((weak));

#endif
