/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * agent.h - the agent's shared state and the order of its parts.
 *
 *   start.c       the order in which it comes up; fork.c: in children; late.c: in a process that
 *                 runs already
 *   handler.c     the handler of our signal (signal.c: which that is)
 *     trigger.c     the CPU timer; what a tick of any timer means (ticker.c: the timers themselves)
 *       burst.c       samples at points of a thread's CPU time (points.c: which)
 *         nap_watch.c     of one that naps (nap_course.c: in which stretches)
 *         kernel_ticks.c  of one that sleeps unseen (tick_course.c)
 *         call_points.c   at both ends of calls that can sleep
 *         edge.c        what is due where a thread begins or ends
 *       wall.c        samples a thread that sleeps
 *         sampling.c    one sample, or none when walks take long
 *           walk.c        registers -> context
 *             memo.c        what is as it was the last time, by reading it again
 *               unwind.c      what is new, by unwind rules (modules.c, stack.c)
 *             emit.c        context -> what changed since the last one -> ring
 *             emit_raw_stack.c  no rule: a copy of the stack -> ring
 *             check.c       the proof that memo.c is right (HCCT_CHECK)
 *     calls.c      instead of samples: reports of instrumented calls (calls.h has its own map)
 *       redirect/    and of calls whose instructions lead to stubs (redirect.h has its own map)
 *   thread_life.c  birth and end of a thread (thread.c: its context); wrap/: what is intercepted to
 *                  learn of it
 *   handler_stack.c  the stack that the handler runs on; handler_room.c: where there is none;
 *                    handler_shared.c: where threads have the same one
 *   silence.c   where the program forbids system calls (wrap/seccomp.c: when); confine.c: to whom
 *   connect.c   handshake with the daemon; session.c the attached session
 *
 * Contexts of execution, named on each declaration:
 *   signal   inside the handler, or signal_all() blocked: no lock, no allocation, no libc state
 *   thread   in a wrapper or hook on a thread of the application
 *   process  start of the process or of a forked child, while no other thread uses the agent
 */
#ifndef HCCT_AGENT_H
#define HCCT_AGENT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/wire/compiler.h"
#include "common/wire/wire.h"
#include "preload/life/settings.h"
#include "preload/sample/plan.h"
#include "preload/sample/tick_course.h"

/* A session that was left while threads may still report calls to it (session.c). */
struct agent_left {
    struct wire_session *session; /* NULL: none */
    const struct wire_arena *arena;
    uint64_t session_bytes, arena_bytes;
};

#define AGENT_LEFT_MAX 64
#define AGENT_MARKS    24u

/* Of threads that have ended (ends.c). */
struct agent_ends {
    _Atomic uint64_t count, seen_ns; /* CPU time that they had used at the last reading */
    _Atomic uint64_t rest_ns;        /* that one uses afterwards */
    _Atomic uint32_t busy;           /* one thread measures, and uses what follows */
    uint64_t measured, unseen_ns;    /* the last measurement: at so many ends, of all of them */
    _Atomic uint64_t due;            /* the next one, at so many ends */
};

/* Of threads without room for our handler (handler_room.h), not reported yet: how many, and their
 * CPU time. */
struct agent_no_room {
    _Atomic uint32_t threads;
    _Atomic uint64_t ns;
};

/* What was reported to no session yet (unsampled.h). */
struct agent_unsampled {
    _Atomic uint64_t lost_ns, unasked_ns;
};

/* What profiling calls has cost the process, and what the program has had (calls/governor.h). */
struct agent_spent {
    _Atomic uint64_t cost_ns, program_ns;
};

/* Survives nothing: lives in a page that the kernel wipes in a child (MADV_WIPEONFORK), so that a
 * child of fork or of a raw clone, whoever made it, finds no session and no daemon. */
struct agent_process {
    pid_t pid;           /* 0: the agent has not started in this process */
    uint64_t earlier_ns; /* CPU time of the process when the program began */
    _Atomic(struct wire_session *) session;
    _Atomic(const struct wire_arena *) arena;
    uint64_t arena_bytes, slot_bytes, session_bytes;
    uint32_t slots;                      /* that are mapped */
    _Atomic(struct wire_block *) blocks; /* session_blocks.c; NULL: the heap is not profiled */
    _Atomic uint32_t epoch;              /* counts sessions; 0: none yet */
    uint64_t attached_ns;           /* CLOCK_MONOTONIC where the session began: no other one of this
                                     * process, or of those that it comes from, has the same */
    struct sampling_plan inherited; /* what threads of a child, or of a program that has begun, do
                                     * until there is a session: trigger.c */
    _Atomic uint64_t contexts_tag;  /* of `contexts`; 0: there is none */
    _Atomic uint32_t attaching;     /* one thread changes the session, others keep away */
    _Atomic uint32_t forks;         /* under way: no handshake begins (session_before_fork) */
    bool awaits;                    /* a program that has begun: session_is_awaited */
    bool is_child;                  /* of a fork, and has called no exec */
    _Atomic bool attached;          /* late.c: threads that begin are sampled */
    _Atomic uint32_t forked;        /* its own children; not reported yet */
    _Atomic bool barred;            /* there is no room for a session (mlockall under a limit) */
    _Atomic uint32_t leaving;       /* the process ends: no thread's stack may go (wall_leave.h) */
    _Atomic uint64_t last_try_ns;   /* when the daemon was last looked for */
    _Atomic uint32_t unanswered; /* it was there, and did not answer in time, so often in a row */
    _Atomic uint64_t ahead_ns;   /* by so much CLOCK_MONOTONIC is ahead of the daemon's, which is
                                  * another one where either is in a time namespace */
    _Atomic uint64_t lost;       /* calls that nobody has read; not reported yet */
    _Atomic uint32_t left_some;  /* there are some in `left` */
    _Atomic uint32_t left_taken; /* one thread changes it, others keep away */
    struct agent_left left[AGENT_LEFT_MAX];
    struct agent_ends ends;
    _Atomic uint64_t labels_other;   /* labels that have found no place; not reported yet */
    _Atomic uint64_t labels_invalid; /* labels whose key can be none; the same */
    /* Marks that were set without a session, as a session has them but for the clock, which is the
     * process's own (labels/marks.h): so many ever, of which so many were sent, or lost. */
    _Atomic uint64_t marks, marks_sent;
    struct wire_mark mark[AGENT_MARKS];
    _Atomic uint64_t marks_lost; /* that could not be kept; not reported yet */
    struct agent_unsampled unsampled;
    struct agent_left silent; /* a session that was left as its daemon has fallen silent: it may go
                               * on, and read what is said there last (unsampled.h) */
    bool fell_silent;         /* so was the last session, or that which it has asked for first */
    struct agent_no_room no_room;
    struct agent_spent spent;
    struct tick_courses tick_courses;
    _Atomic uint64_t sample_ns;  /* what a sample of a young thread takes: burst.c; 0: not known */
    _Atomic uint32_t setting_ns; /* how long it took to set a timer: own_time.c; 0: not known */
    _Atomic(struct context_table *) contexts; /* context/table.h; NULL: nobody has asked */
    _Atomic uint32_t contexts_naps;           /* context/slow.c: so often it has waited */
    _Atomic uint64_t untold_ns; /* of CPU time of threads that have ended: calls/burst_account.c */
    uint64_t left_waits;        /* of `left`, a bit each: it may still be read */
};

_Static_assert(sizeof(struct agent_process) <= WIRE_PAGE, "it has a page");

struct agent_globals {
    struct agent_settings settings;  /* written once, at the start */
    struct agent_process *process;   /* NULL: switched off for good */
    char command[WIRE_COMMAND_ROOM]; /* program_name.h; written once, at the start */
    _Atomic uint32_t stopped;        /* by the program (hcct.h); children inherit it */
};

extern struct agent_globals agent __attribute__((visibility("hidden")));

/* A page for it. NULL: there is none to be had. Process context. */
struct agent_process *agent_process_make(void) __attribute__((visibility("hidden")));

/* True when the agent works in this process. Any context. */
static inline bool agent_started(void) {
    return agent.process != NULL && agent.process->pid != 0;
}

#endif
