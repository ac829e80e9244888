/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * session_memory.h - the memory that one process and the daemon share (common/wire/wire.h).
 *
 * Made by the daemon, sealed against resizing, allocated piece by piece before the agent is
 * notified that the piece is ready.
 */
#ifndef HCCT_SESSION_MEMORY_H
#define HCCT_SESSION_MEMORY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/wire/wire.h"

struct session_memory {
    int fd;
    struct wire_session *session; /* all of it is writable by the agent */
    uint64_t slot_bytes;
    uint32_t slots_ready; /* the daemon's own copies: those in the session may be lies */
    uint32_t modules_ready;
    uint32_t contexts_ready;
    uint32_t slots_refused; /* that the agent asks for and does not get */
    uint64_t taken;         /* bytes, of session_room.h */
};

/* What the process asked for in its hello. */
struct session_sampling {
    uint32_t own_pid; /* as it sees itself; in a container, another number than ours */
    uint32_t rate;
    uint32_t clock;                            /* enum wire_clock */
    uint64_t burst_length_ns, burst_period_ns; /* 0, 0: none */
    uint32_t collector;                        /* enum wire_collector */
    uint32_t every;                            /* calls: one of so many is counted, at least 1 */
    bool every_each;                           /* of each routine, not of all together */
    uint32_t credit;                           /* enum wire_credit */
    uint32_t budget_ppm;                       /* calls: what profiling may cost; 0: no matter */
    bool lines;                                /* walks: places in innermost routines, too */
    bool threads;                              /* contexts begin with their thread's name */
    bool alone;                                /* its children are not profiled */
    uint32_t place,
        places; /* among the metrics of one session (wire.h); 0, 0 or 0, 1: it is alone */
};

/* What other metrics of the same session ask for beside the first one. */
struct session_needs {
    bool heap, events;
};

bool session_memory_make(struct session_memory *memory, pid_t pid,
                         const struct session_sampling *sampling,
                         const struct session_needs *needs);
/* The memory of `other`, mapped once more: each of both is freed by itself, and has its own account
 * of what is ready. */
bool session_memory_share(struct session_memory *memory, const struct session_memory *other);
void session_memory_free(struct session_memory *memory);

/* Of a session of so many metrics, how many slots a thread may take. */
static inline uint32_t session_memory_places(const struct session_sampling *sampling) {
    return sampling->places > 0 ? sampling->places : 1;
}

/* Allocates more slots and module records when the agent of that process is about to use up what
 * there is, as far as it may have them (session_room.h). */
void session_memory_extend(struct session_memory *memory, pid_t pid, uint32_t places);

/* Words of each slot's ring. */
uint64_t session_memory_ring(const struct session_memory *memory);

struct wire_slot *session_memory_slot(const struct session_memory *memory, uint32_t i);
struct wire_module *session_memory_module(const struct session_memory *memory, uint32_t i);

/* WIRE_BLOCKS of them, where the heap is sampled. */
const struct wire_block *session_memory_blocks(const struct session_memory *memory);

/* How many the agent says it uses, never more than are ready. */
uint32_t session_memory_slots(const struct session_memory *memory);
uint32_t session_memory_modules(const struct session_memory *memory);

#endif
