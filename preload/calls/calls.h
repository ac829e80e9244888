/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * calls.h - the calls collector: programs built with -finstrument-functions report each call.
 *
 * The compiler calls __cyg_profile_func_enter and _exit at the beginning and at the end of each
 * function, inlined ones too; glibc has empty ones, and the agent's stand before them. A shadow
 * stack per thread holds the calls that are open, each with the stack pointer that its function had
 * when it reported, so that frames which were left without a report (longjmp, a thread's end) are
 * recognised at the next event: a frame whose stack pointer is below that of a later event is gone.
 *
 * The hot path is calls.c: one word for each call, nothing for a return, as the next word says how
 * many frames have gone. All that is rare is elsewhere:
 *
 *   calls/tell.c    the road to the ring: room, waiting for it, what the daemon's cursor lacks
 *   calls/commit.c  what was sent by a report that a signal handler has left
 *   calls/stack.c   frames that are gone; several stacks in one thread (coroutines)
 *   wrap/jump.c     the moment before a longjmp
 *   calls/session.c the session that calls are sent to, and its loss
 *   calls/start.c   threads
 *   calls/call_burst.c     bursts: when they begin and end
 *   calls/burst_wait.c     what waits for the next one
 *   calls/burst_account.c  what they have seen; calls/price.h what reports take of it
 *   calls/burst_adapt.c    which are left out, by calls/adapt.h
 *   calls/period.h         what they stand for; calls/governor.h under a budget
 *   calls/fork.c    children of fork
 *   calls/align.c   a stack walk to begin with, where calls were not followed before
 *   calls/code.c    which functions report their calls
 *   calls/known.c   and what a walk can't see of them
 *   calls/hot.h     what every report does
 *   redirect/       calls of programs that do not report them (redirect.h)
 *
 * What it guarantees without bursts: no call is lost as long as there is a daemon; a thread waits
 * when its ring is full. The daemon may end whenever a thread waits, and at any other moment: a
 * function that sends, or makes room, returns false then, and nothing may be sent after that.
 * (D'Elia et al. 2015, section 4: rcontext, call, return; section 6: static bursting, here without
 * any upkeep between bursts.)
 */
#ifndef HCCT_CALLS_H
#define HCCT_CALLS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#include "preload/calls/adapt.h"
#include "preload/calls/pace.h"
#include "preload/calls/period.h"
#include "preload/calls/price.h"
#include "preload/life/thread.h"

/* One open call. */
struct calls_frame {
    uint64_t routine, site; /* as the compiler reports them */
    uint64_t sp;            /* its function's stack pointer at the report */
    uint64_t report;        /* where in the code it was reported from; or CALLS_WALKED ... */
};

/* ... with these: found by a walk. The rest of the word is the address of its return address (0:
 * not known), which the program writes over when the function has returned and another is called.
 */
#define CALLS_WALKED   (1ull << 63)
#define CALLS_INSIDE   (1ull << 62) /* inlined into the frame before */
#define CALLS_ENTERING 1ull         /* the walk met it within its report, which may still come */
#define CALLS_SEEN     2ull /* its call was reported by a redirected call site (redirect/chain.h) */

/* Where its return address is, 0: not known. */
#define CALLS_RETURN_AT(report) ((report) & ~(CALLS_WALKED | CALLS_INSIDE | 7ull))

#define CALLS_KNOWN_BITS  12
#define CALLS_INLINED_MAX 6 /* functions of one physical frame */

/* The functions that report from the physical frame to which a return address belongs, outermost
 * first; or what a function reports itself (calls/known.c). */
struct calls_known {
    uint64_t key;
    uint32_t n;
    uint64_t routine[CALLS_INLINED_MAX];
};

/* A stack that the thread has run on, but for the one that it runs on now. */
struct calls_stack {
    uint64_t low, high;
    struct calls_frame *base;
    uint32_t room, depth; /* frames; room 0: unused */
    bool guessed;         /* the bounds are what was seen so far */
};

/* The thread goes from one stack to another, or open calls to where there is more room. */
struct calls_change {
    bool under_way;            /* all of the rest holds */
    struct calls_stack *place; /* for the stack that it leaves (`away`); NULL: it stays there */
    struct calls_stack away, next;
    struct calls_frame *cursor, *common; /* then */
};

#define CALLS_STACKS   64
#define CALLS_DELAYED  128  /* events of signal handlers that came within a report */
#define CALLS_ROUTINES 8192 /* whose calls are counted apart (HCCT_EVERY=N/routine) */

#define CALLS_RING WIRE_RING_WORDS(WIRE_CALLS_BYTES)

struct calls_event {
    uint64_t routine, site, sp, report;
    bool enter;
    bool jumped; /* the first one after a longjmp or a walk */
};

/* What `busy` says beside a stack pointer. */
#define CALLS_DELAYS     1u    /* added: there are delayed events */
#define CALLS_JUMPED     4096u /* a longjmp or a walk was made, and no report since then */
#define CALLS_NEAR       65536 /* bytes below: what is so near is on the same stack */
#define CALLS_PUSHED_MAX 512   /* bytes of arguments that may lie below a frame's stack pointer */

/* What a thread keeps while its calls are followed. Lies in pages that a child of fork finds
 * wiped, however it was made: its reports then end in the slow path, and stop there. */
struct calls {
    /* the hot path's */
    struct calls_frame *top; /* first free one; top[-1] is the innermost open call */
    uint64_t low;            /* of the stack that the thread runs on */
    uint64_t busy; /* stack pointer of a report that is under way, CALLS_JUMPED, 0: neither */
    uint64_t *at, *limit;            /* where the next words go, and up to where */
    uint64_t code_start, code_bytes; /* of the module that was called last: the daemon's CODE */
    struct calls_frame *cursor;      /* the daemon's cursor: frames before it were sent ... */
    uint64_t *zero;                  /* at - zero is the position in the ring */
    struct wire_slot *slot;
    struct calls_frame *common; /* ... and those before `common` are still the same */
    struct calls_frame *end;    /* of the room */
    uint32_t delayed;           /* events that wait for the end of a report */
    uint32_t delayed_taken;     /* so often they were done */
    struct price price;         /* of reports */

    /* the rest */
    bool doing;          /* one that was put aside is being done */
    bool alive;          /* false: a child of fork has found this wiped */
    uint64_t head;       /* the position, where `at` is NULL; see calls_write_back */
    uint64_t committing; /* the position that is being published, 0: none; calls_commit ... */
    struct calls_frame *cursor_then; /* ... and the daemon's cursor when it is */
    bool sampled;                    /* not every call is sent: each report takes the slow path */
    uint32_t generation;             /* modules_generation() that the daemon goes by */
    struct calls_frame *base; /* of the stack that the thread runs on; base[0] is a sentinel */
    uint32_t room;
    uint64_t high;
    bool guessed;
    struct agent_thread *thread;
    struct redirect_thread *redirect;     /* NULL: no calls are redirected in this program */
    struct wire_session *_Atomic session; /* its memory stays meanwhile (calls_use); NULL: none */
    const struct wire_arena *arena;       /* and this */
    uint64_t until; /* calls to the next one that is sent, where not every one is */
    uint32_t of_routine[CALLS_ROUTINES];    /* the same for each routine, by hash: calls so far */
    bool in_burst, armed;                   /* the timer that ends the burst runs */
    uint64_t sleeps;                        /* thread_sleeps() when that was set */
    bool warms;                             /* the texts are in place for the next burst */
    struct pace pace;                       /* just before the burst */
    uint64_t part_passed;                   /* calls_passed when this part of the burst began */
    bool unsaid;                            /* the daemon does not know of the burst yet */
    struct period period;                   /* the one under way, or to come */
    uint64_t stands;                        /* the burst counts so many times */
    uint64_t burst_from;                    /* position in the ring when it began */
    uint64_t class_key, group;              /* adapt_draw(): of what class, for how many; 0: none */
    uint64_t own_ns;                        /* of the thread's CPU time, the program's own ... */
    uint64_t cost_ns;                       /* ... and what profiling took, under a budget */
    uint64_t own_summed_ns, cost_summed_ns; /* of these, what the process's sums have */
    uint64_t once_ns;                       /* of what they do not have yet, what comes but once */
    uint64_t price_ns;                      /* of a burst, of late; 0: not known */
    uint64_t ours_untold_ns;                /* of the agent's own, not reported yet */
    uint64_t untold_ns;                     /* of own_ns, between bursts: not reported yet */
    uint64_t due_ns;                        /* the next burst begins at so much of own_ns */
    uint64_t waits_own_ns;  /* its timers have waited for it since so much of own_ns ... */
    uint64_t waits_from_ns; /* ... and of CLOCK_MONOTONIC, ... */
    uint32_t early_ticks;   /* ... and with so many ticks that came too early */
    bool watches;           /* the fine timer is one of them ... */
    bool patient;           /* ... and sees only that the CPU timer is served */
    uint64_t from_ns;       /* CPU time up to which all is counted as seen or not */
    uint64_t tick_ns;       /* when the tick began that is being served, 0: none */
    uint64_t stretch;       /* what the thread took of late for what the program had, STRETCH_ONE */
    uint64_t left_ns;       /* of the burst, of the program's own CPU time */
    struct adapt adapt;
    struct calls_known known[1u << CALLS_KNOWN_BITS];
    struct calls_stack other[CALLS_STACKS];
    struct calls_change change;
    struct calls_event delay[CALLS_DELAYED];
};

/* A report is under way, or was left for good by a jump: `busy` has its stack pointer. */
static inline bool calls_in_report(const struct calls *c) {
    return c->busy > CALLS_JUMPED + CALLS_DELAYS;
}

/* The calling thread's, NULL: its calls are not followed. At first a stand-in whose first report
 * starts the agent: constructors of libraries may come before the agent's. */
extern __thread struct calls *calls_self
    __attribute__((tls_model("initial-exec"), visibility("hidden")));
/* Redirected calls of this thread, while texts are in place: a stub counts each. */
extern __thread uint64_t calls_passed
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* ---- calls/start.c ---- */

/* The calling thread begins; its calls are followed from here on when there is a session and
 * nothing (a burst's beginning) is to be waited for. Thread context. */
void calls_begin(struct agent_thread *thread);
/* The calling thread ends: no more calls. Thread context. */
void calls_end(struct agent_thread *thread);
/* The program ends, and the calling thread with it: what it did since its last burst is reported,
 * so that what was seen is scaled by all there was. Calls of destructors to come still count.
 * Thread context. */
void calls_at_exit(struct agent_thread *thread);
/* An object has gone: invalidates what a thread knows of the code that it called last. Thread
 * context. */
void calls_invalidate(void);
/* A tick found that session, NULL: none. If calls are sent to another, that is lost. Signal
 * context. */
void calls_found(struct agent_thread *thread, const struct wire_session *session,
                 const ucontext_t *uc);
/* A tick of one of the thread's timers. Signal context, inside the session. */
void calls_tick(struct agent_thread *thread, struct wire_session *session, enum trigger_kind kind,
                const ucontext_t *uc);
/* Around all that a tick does, and the first burst's beginning: it is of no burst, nor of what the
 * program does between them. On the thread, our signal blocked. */
void calls_tick_begins(struct agent_thread *thread);
void calls_tick_ends(struct agent_thread *thread);
/* The same for what began in a burst when the thread had used so much CPU time (0: nothing). On the
 * thread. */
void calls_leave_out(struct calls *c, uint64_t began_ns);
/* A burst under way ends. Any context, on the thread itself, or while it can't run. */
void calls_burst_end(struct agent_thread *thread);

/* What follows calls is made, and no call is open. False: no memory. Thread context, while calls
 * are not followed. */
bool calls_prepare(struct agent_thread *thread);
/* Calls are followed from here on, in the first burst where there are bursts, if there is a
 * session. Thread context. */
void calls_follow(struct agent_thread *thread);

/* ---- calls/commit.c: any context on the thread itself, or while it can't run ---- */

/* Before anything but the hot path changes what follows calls: from here on `head`, `cursor` and
 * `common` hold, and the hot path finds no room until calls_make_room(). Also after a report that
 * was left in the middle. No other report is under way, or goes on. */
void calls_write_back(struct calls *c);
/* Publishes the words from `head` on, so many, by which the daemon's cursor comes to `cursor`.
 * Inside a report, after calls_write_back(). */
void calls_commit(struct calls *c, uint64_t words, struct calls_frame *cursor);

/* ---- calls/fork.c: around fork, in the thread that calls it ---- */

void calls_before_fork(void);
void calls_after_fork_parent(void);
/* In the child, first of all; and where it is to follow calls, when it has a session or there is
 * none. */
void calls_enter_child(void);
void calls_after_fork_child(void);

/* ---- calls/calls.c ---- */

/* Where not every call is sent: whether this one is. Inside a report. */
bool calls_is_due(struct calls *c, uint64_t routine);

/* The calling thread comes to its end: a report that a handler has interrupted does not go on, and
 * what waits for its end is done. Thread context. */
void calls_end_reports(struct calls *c);

/* What the reports of a call and its return take. Process context, all signals blocked. */
struct price_usual calls_price(void);

/* ---- calls/session.c ---- */

/* Calls are sent to that slot from now on. Inside the session, no report is under way. */
void calls_use_slot(struct calls *c, struct wire_session *session, struct wire_slot *slot);
/* Some thread may write to the memory of that session. Any context. */
bool calls_use(const struct wire_session *session);
/* Nothing more is sent to it. What nobody will read is counted as lost. */
void calls_leave_session(struct calls *c);
/* Nobody reads any more: calls are followed no longer. The application goes on; the thread's timer
 * looks for another daemon. Always false. Inside a report, or while none is under way. */
bool calls_lose(struct calls *c);
/* The session is still the one in use, and somebody reads. Inside a report. */
bool calls_is_read(struct calls *c);

/* ---- calls/tell.c: thread context, inside a report ---- */

/* The hot path may write up to where there is room now; waits until there is some. False: the
 * session is lost. */
bool calls_make_room(struct calls *c);
/* Takes the daemon's cursor to the root. False: as above. */
bool calls_pop_all(struct calls *c);
/* Brings the daemon's cursor to the innermost open call. `weight`: what it, or each new edge
 * (HCCT_CREDIT=new), gains; 0: nothing. False: as above. */
bool calls_tell(struct calls *c, uint64_t weight);
/* The daemon learns of the modules of an address pair before it meets them, and by which
 * generation of the map to read. */
bool calls_tell_code(struct calls *c, uint64_t routine, uint64_t site);

/* ---- calls/stack.c: thread context, inside a report ---- */

/* `sp` lies on another stack than the thread ran on: goes there. False: the session is lost, or
 * there is no memory for another stack. */
bool calls_switch(struct calls *c, uint64_t sp);
/* Ends that, or the other function's change below, where it was left in the middle. */
void calls_finish_change(struct calls *c);

/* The stack that the thread runs on, and whether its bounds are what was seen so far. Whenever
 * `base`, or whether calls are redirected, has changed, too. */
void calls_set_bounds(struct calls *c, uint64_t low, uint64_t high, bool guessed);

/* Open calls have just been found by a walk from that stack pointer: of no other stack is known
 * what is open there. While no report is under way. */
void calls_start_on(struct calls *c, uint64_t sp);

static inline bool calls_is_elsewhere(const struct calls *c, uint64_t sp) {
    return sp < c->low || sp >= c->high;
}
/* Takes off what is gone when a function reports from `sp`, its beginning. False: as above. */
bool calls_drop_left(struct calls *c, const struct calls_event *event);
/* The same at the end of a function, and takes the function off, too. False: as above. */
bool calls_leave(struct calls *c, const struct calls_event *event);
/* Twice the room for open calls. False: no memory. */
bool calls_grow(struct calls *c);
/* No frame is open. */
void calls_clear(struct calls *c);

/* ---- calls/align.c ---- */

/* Open calls as a walk of the interrupted stack shows them. False: the walk did not reach the root,
 * and nothing has changed. Signal context, inside the session. */
bool calls_align(struct calls *c, struct wire_session *session, const ucontext_t *uc);

/* ---- calls/code.c ---- */

/* Where the function that begins at `routine`, and is executing with its next instruction at `pc`,
 * reports its calls (the address after): by its code. 0: it does not. Signal context; `probe` is
 * the thread's. */
uint64_t calls_report_in(struct stack_probe *probe, uint64_t routine, uint64_t pc);

/* ---- calls/known.c: any context on the thread itself, no report under way ---- */

/* Learns from the open calls, which have been followed. */
void calls_learn(struct calls *c);
/* What was learned of a return address, or of the place of a report; NULL: nothing. */
const struct calls_known *calls_recall(struct calls *c, uint64_t key);

#endif
