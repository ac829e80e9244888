/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * link.h - between the agent and a library that stands before functions of libc whose calls are
 * events: allocations (preload/blocks), waits for locks (preload/locks).
 *
 * Each is a library of its own, so that who does not sample such events executes the same
 * instructions as without it. It draws which events are sampled; the agent walks the stack and
 * talks to the daemon. The agent finds the library's link by its name, and fills it in when it
 * starts, for good.
 *
 * An agent that comes later (life/late.h) has both within itself, and calls lead to them as long as
 * it is attached. What the application calls there stands in a part of the code of its own,
 * hcct_blocks or hcct_locks: a thread that waits in it holds nothing of the agent's.
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
    uint64_t weight;   /* bytes or nanoseconds that it stands for ... */
    uint64_t count;    /* ... and events */
    uint64_t number;   /* of a block, as in the session's memory; 0: it is not followed */
    uint32_t doubled;  /* of a block: the mean between two was doubled so many times for it ... */
    uint32_t usual;    /* ... and so many times by now, where little is allocated */
    uint64_t ended_ns; /* of a wait: when it was over, CLOCK_MONOTONIC */
};

/* Which agents know what a library's link is: both may be of different builds, as LD_PRELOAD names
 * each by its path. To be raised when a link or what it leads to changes its meaning; a change of
 * size is noticed anyway. */
#define EVENT_LINK_VERSION 5u
#define EVENT_LINK_BUILD(link)                                                                     \
    (EVENT_LINK_VERSION << 24 | (uint32_t)sizeof(link) << 12 |                                     \
     (uint32_t)sizeof(struct event_sample))

struct event_link {
    uint32_t build;     /* first, in all builds: by the library, EVENT_LINK_BUILD of its link */
    _Atomic bool ready; /* set last; false again when an agent that was attached leaves */
    _Atomic uint64_t since_ns; /* CLOCK_MONOTONIC: what came before is not the agent's */
    /* By the agent: so much does the clock have for each event, beside what it is long: where
     * events are counted short ones are to be met, too. */
    uint32_t beside;
    /* Sends the sample. False: it is lost. Keeps errno, takes no memory and no lock. */
    bool (*sample)(const struct event_sample *sample);
    /* By an agent that comes late, and has looked for what the library stands before when it came:
     * objects come and go since. NULL: the library finds the next functions by itself. */
    void *(*find)(const char *name);
};

static inline bool event_link_is_ready(const struct event_link *link) {
    return atomic_load_explicit(&link->ready, memory_order_acquire);
}

#endif
