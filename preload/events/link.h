/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * link.h - between the agent and a library that stands before functions of libc whose calls are
 * events: allocations (preload/blocks), waits for locks (preload/locks).
 *
 * Each is a library of its own, so that who does not sample such events executes the same
 * instructions as without it. It draws which events are sampled; the agent walks the stack and
 * talks to the daemon. The agent finds the library's link by its name, and fills it in when it
 * starts, for good.
 */
#ifndef HCCT_EVENTS_LINK_H
#define HCCT_EVENTS_LINK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Where it was asked for: the registers of the caller as they are when it goes on. */
struct event_place {
    uint64_t pc, sp, frame;
};

/* Of the function that it stands in. */
#define EVENT_CALLER                                                                               \
    ((struct event_place){(uint64_t)(uintptr_t)__builtin_return_address(0),                        \
                          (uint64_t)(uintptr_t)__builtin_dwarf_cfa(),                              \
                          *(const uint64_t *)__builtin_frame_address(0)})

struct event_sample {
    struct event_place place;
    uint64_t weight;  /* bytes or nanoseconds that it stands for ... */
    uint64_t count;   /* ... and events */
    uint64_t number;  /* of a block, as in the session's memory; 0: it is not followed */
    uint32_t doubled; /* of a block: the mean between two was doubled so many times */
};

struct event_link {
    _Atomic bool ready; /* set last */
    /* Sends the sample. False: it is lost. Keeps errno, takes no memory and no lock. */
    bool (*sample)(const struct event_sample *sample);
};

static inline bool event_link_is_ready(const struct event_link *link) {
    return atomic_load_explicit(&link->ready, memory_order_acquire);
}

#endif
