/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * thread.h - what the agent keeps for each thread of the application.
 */
#ifndef HCCT_THREAD_H
#define HCCT_THREAD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "preload/life/agent.h"
#include "preload/life/stream.h"
#include "preload/sample/copies.h"
#include "preload/sample/crawl.h"
#include "preload/sample/interval.h"
#include "preload/sample/memo.h"
#include "preload/sample/nap_course.h"
#include "preload/sample/plan.h"
#include "preload/sample/points.h"
#include "preload/sample/stack.h"
#include "preload/sample/thinning.h"
#include "preload/sample/tick_course.h"
#include "preload/sample/ticker.h"
#include "preload/wrap/announced_call.h"
#include "preload/wrap/restart.h"

#define THREAD_FRAMES_MAX   WIRE_MAX_FRAMES
#define THREAD_MODULE_CACHE 64u

#define HANDLER_STACK_BYTES      65536u /* a runtime that relies on it runs its own handlers there */
#define SAMPLING_PRICE_AS_LISTED 16u    /* price_scale of a thread that begins */

enum trigger_kind { TRIGGER_CPU, TRIGGER_FINE, TRIGGER_WALL, TRIGGER_TIMERS };

/* The first tick: see first.h. CPU times, in ns. */
struct first {
    bool pending;       /* it has not come */
    uint64_t since_ns;  /* the thread is sampled from here on */
    uint64_t armed_ns;  /* when the timer began to run */
    uint64_t unseen_ns; /* the timer expires now, by a sample of this weight; 0: it does not */
    uint64_t switches;  /* so often the thread had left the processor before */
};

/* When to sample: see trigger.h. */
#define OPEN_CALL_FUNCTIONS 104 /* at least as many as can sleep (wrap/sleep_list.h) */

/* The timer of a thread that naps: see nap_watch.h. */
struct nap_watch {
    bool put_off; /* it waits for the end of a call */
    bool is_long; /* a tick of the kernel has met this stretch: all of its points are waited for */
    bool is_ending;      /* the sample that is taken now is the last one of its stretch */
    bool was_handled;    /* a handler has interrupted the call that the thread is in, and so ended a
                            nap */
    uint64_t own_ns;     /* so much the agent took for it, and has yet to credit ... */
    uint64_t own_weight; /* ... by the sample that is taken now; 0: it is another one */
    struct thinning own_thinned;
    uint64_t own_call_ns; /* so much of the last call that can sleep was the agent's, if the stretch
                             is watched */
    uint32_t aim_ns;      /* so long it took to set it the last time */
    uint32_t found;       /* points that were found at the end of a nap since a tick has come */
    bool in[OPEN_CALL_FUNCTIONS]; /* the last call of this function was a nap */
};

struct trigger {
    struct ticker ticker[TRIGGER_TIMERS];
    uint32_t ticks;                    /* seen, of all kinds */
    struct crawl crawl;                /* a debugger steps the thread */
    uint64_t usual_ns[TRIGGER_TIMERS]; /* the timers' periods before */
    struct sampling_plan plan;         /* that the timers follow */
    struct first first;
    bool fine_refused;    /* no second timer could be had */
    uint64_t cpu_ns;      /* CPU time of the thread at the last account */
    uint32_t early_ticks; /* in this step, after the thread has slept; a timer that is set in time
                           * has none */
    uint64_t sleeps;      /* thread_sleeps() at the last of them */
    bool by_cpu_timer;    /* the CPU timer waits for the next point, ... */
    bool awaits_call;     /* ... up to the end of an open call, at the latest */
    uint8_t calm[OPEN_CALL_FUNCTIONS]; /* calls of each function that were short, up to 16 */
    bool avoids_ticks;                 /* the kernel's ticks do not meet the thread */
    struct tick_course kernel_ticks;   /* while each of them is a sample */
    struct nap_course naps;            /* where the thread naps */
    struct nap_watch nap;              /* and what has its timer */
    struct thinning thinned;           /* of those that weigh less than a point */
    struct points points;              /* of CPU time, that are to be sampled */
    uint64_t asleep_ns;            /* CLOCK_MONOTONIC when early ticks met the sleep first that they
                                    * meet now, 0: none */
    uint64_t asleep_switches;      /* thread_switches() at the last of them */
    uint64_t step_ns, step_cpu_ns; /* CLOCK_MONOTONIC and CPU time where this step began */
    uint64_t gap_ns;               /* CPU time at which the last gap without a fine timer began */
    uint64_t gap_switches;         /* thread_switches() there */
    uint64_t earliest_ns;          /* CLOCK_MONOTONIC: the next point is not reached before */
    struct {                       /* of wall.c: times on its clock */
        struct interval_course steps; /* between the points that are looked for */
        uint64_t due_ns;              /* of the next point */
        uint64_t expires_ns;          /* CLOCK_MONOTONIC: the timer does */
        bool in_call;                 /* the last check met a sleep, ... */
        bool asleep;                  /* ... and has sampled it */
        bool late;                    /* the next check was put off */
        uint64_t checked_ns;          /* of the last check */
        uint64_t since_ns;            /* when the first check met it */
        uintptr_t call;               /* that it was in, if it is watched (sleep_call_of) */
        uint64_t cpu_ns;              /* CPU time at the end of that check */
        uint64_t sleeps;   /* the kernel's count of voluntary switches at the last check */
        bool off_only;     /* the clock stands still whenever the thread runs */
        bool gap;          /* it stands still now, as the next check was put off ... */
        uint64_t gap_ns;   /* ... from this CPU time on */
        uint64_t switches; /* thread_switches() there */
        uint64_t gaps_ns;  /* so much was in gaps that are over */
    } wall;
};

/* The frames of a sample, outermost first: those of the memo, or those with functions of Python in
 * them. Each stands at the beginning of `stride` bytes. */
struct shown {
    const void *first;
    size_t stride;
    uint32_t depth;
};

/* Contexts are taken from a pool that only grows (mmap), and given back when the thread ends. Only
 * the owner writes, but for the timer, which is moved when the signal changes. */
struct agent_thread {
    struct agent_thread *next; /* all contexts ever made, never unlinked */
    _Atomic uint32_t used;
    _Atomic uint32_t busy;   /* the session is in use, in so many nested places */
    _Atomic uint32_t inside; /* in code of the agent that makes system calls (confine.h) */
    pid_t tid;
    uint32_t handlers;  /* of the application that have run, by their entries (handler_entry.h) */
    uint32_t seen;      /* late_threads.c: it was there at this search */
    bool poked;         /* the same: it was woken, and is not known to be awake yet */
    uint8_t pokes;      /* the same: so often it was woken and has found no session */
    uint64_t waits_in;  /* the same: the wait that it was met in last */
    uint64_t found_ns;  /* the same: CLOCK_MONOTONIC when it was found */
    bool timerless;     /* the same: it blocks our signal, and has events alone */
    bool ending;        /* no more ticks */
    uint8_t end_rounds; /* of destructors that have passed */
    int hidden_signal;  /* the application believes that it has blocked this one, which is open: it
                         * is ours, or was; 0: none */
    struct announced_call open_call, watched_call; /* the innermost, and the last one */
    uint32_t announced_calls;                      /* so many of them */
    const struct sleep_call *left_call;            /* over for a handler; NULL but for a moment */
    const volatile uintptr_t *masked; /* its sleep_masked (wrap/sleep.h), while it is used; NULL: of
                                       * a thread that was attached to, and has had no tick yet */
    uint64_t stack_low, stack_high;   /* the thread's own stack */
    _Atomic uintptr_t alternate;      /* handler_shared.h: its alternate stack, where it is the
                                       * application's; 0: none is known */
    bool no_room, no_room_counted;    /* handler_room.h: it has no timers; was it ever */
    _Atomic uint64_t no_room_from_ns; /* of its CPU time: what comes after is to be counted */
    struct trigger trigger;
    struct restart_state restart;

    /* the session that the rest belongs to */
    uint32_t epoch;
    struct stream *stream; /* that is written to: of ticks, but for the time of an event's sample */
    struct stream streams[WIRE_METRICS_MAX]; /* settings.metrics of them */
    uint64_t faults;    /* of the thread at its last sample, where they are counted; UINT64_MAX:
                         * there was none that could know */
    uint64_t unsent_ns; /* time that is still to be credited */
    bool by_points;     /* all of it are the steps of points that were reached */
    struct {            /* unsampled.h */
        _Atomic uint64_t from_ns; /* it is not sampled from here on; 0: it is */
        bool lost;                /* as the daemon has fallen silent */
    } unsampled;
    uint64_t event_since_ns;   /* of its CPU time: event_inside.h; 0: it is not measured now */
    uint64_t event_reading_ns; /* ... and what it takes to read that clock */
    uint32_t events;           /* the same: how many there were */
    uint64_t random;           /* the state of its draws */
    uint32_t late_ns; /* so late are ticks of the fine timer: the machine's, whoever has this */
    uint64_t walk_price_ns; /* of the last walk, by its frames; 0: there was none */
    uint64_t delivery_ns;   /* so long the signal of the tick that is taken was on its way */
    uint32_t price_scale;   /* what measured walks cost to that, in SAMPLING_PRICE_AS_LISTED-ths */
    uint32_t burst_sent;    /* the burst of the last sample (points.begun), 0: none */
    uint64_t sample_marks;  /* of the sample that is being taken: WIRE_SAME_BURST, WIRE_ATTACHED,
                             * WIRE_STEPS */
    uint64_t least_ns;      /* a walk has to stand for so much time, as the last one was costly */
    struct copies copies;   /* of its stack, that go to the daemon */

    uint16_t module_cache[THREAD_MODULE_CACHE]; /* module index + 1, by a hash of the address */

    void *(*start)(void *); /* between pthread_create and the thread's first instruction */
    int (*start_c11)(void *);
    void *argument;

    struct unwind_registers interrupted; /* of the walk being made: not on a signal's stack */
    struct stack_probe probe; /* of the same, and of what else a handler reads; the pages stay */

    /* the shadow stack: what the last walk found; the streams know how much of it was sent */
    struct memo memo;
    uint32_t memo_validity; /* modules_validity() of which the memo is */
    uint64_t memo_session;  /* and agent_process.attached_ns */
    struct shown shown;     /* the frames of the last walk */
    /* What stands below the frames: the system call that the sample met, or, where lines are asked
     * for, WIRE_LEAF_PC and the pc. Nothing: both 0. */
    struct unwind_frame leaf;       /* of the last walk */
    uint64_t shown_call;            /* sleep_place.call of the sample that is being taken */
    bool shown_returned;            /* sleep_place.returned of it */
    const _Atomic uint64_t *labels; /* its labels_self; NULL: not known yet */
    struct check *check;            /* what HCCT_CHECK keeps, else NULL */
    struct python_thread *python;   /* python/thread.h; NULL: its functions were never asked for */
    _Atomic(struct agent_thread *) next_free; /* while it is not used */
    void *handler_stack;                      /* handler_stack.h: stays with the context */

    struct calls *calls;              /* calls.h; NULL: calls were never followed */
    struct redirect_thread *redirect; /* redirect/enter.h; NULL: no redirected ones */
    struct encode_thread *encode;     /* encode/encode.c; NULL: its calls were never kept */
    struct context_thread *context;   /* context/context.h; NULL: it has never asked for one */
    uint64_t created_in;              /* number of the context it was created in; 0: not known */
    struct {                          /* calls/fork.c, while the process forks */
        bool report;                  /* one is under way */
        struct calls_frame *base;     /* of the open calls, NULL: none */
        uint32_t room, depth;
        uint64_t low, high;
        bool guessed;
    } open;

    /* Of a walk, as interrupted. Behind all else, which fits into a page: that is all that a thread
     * touches which is not sampled. */
    uint64_t scratch[UNWIND_SCRATCH_WORDS];
};

/* The calling thread's context, NULL when it is not profiled. Any context. */
extern __thread struct agent_thread *thread_self
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

static inline const struct unwind_frame *shown_frame(const struct shown *shown, uint32_t i) {
    return (const void *)((const char *)shown->first + i * shown->stride);
}

static inline const struct unwind_frame *thread_shown(const struct agent_thread *thread,
                                                      uint32_t i) {
    return shown_frame(&thread->shown, i);
}

/* False: somebody has found the thread (late_threads.h), and it has had no tick yet, or no more. On
 * the thread itself. */
static inline bool thread_is_met(const struct agent_thread *thread) {
    return thread->masked != NULL && !thread->ending;
}

/* A context that nobody uses; NULL: there is no memory. Thread context. */
struct agent_thread *thread_take(void);
/* One that is used, and that another thread's session, timers or samples were in, begins anew.
 * While its thread is not inside (confine_hold). */
void thread_renew(struct agent_thread *thread);
/* Gives an unused or finished context back. */
void thread_release(struct agent_thread *thread);

/* How often the calling thread has left the processor, ever. Any context. */
uint64_t thread_switches(void);
/* Its page faults, ever. Any context. */
uint64_t thread_faults(void);
/* How often it has left the processor to sleep. */
uint64_t thread_sleeps(void);

/* In a child: only the calling thread is left. */
void thread_forget_others(void);

/* The application has locked all memory: contexts need not be. Thread context. */
void thread_unlock_contexts(void);

/* First of all contexts; follow ->next and skip those that are not used. Any context. */
struct agent_thread *thread_first(void);

/* Bounds of the thread's own stack above `sp`, which can be read without probing; an empty range
 * when `sp` is elsewhere. Any context. */
static inline void thread_stack_above(const struct agent_thread *thread, uint64_t sp, uint64_t *low,
                                      uint64_t *high) {
    bool own = sp >= thread->stack_low && sp < thread->stack_high;
    *low = own ? sp : 8;
    *high = own ? thread->stack_high : 8;
}

#endif
