/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * restart.h - a system call that our signal has interrupted is made again, unseen.
 *
 * Most calls restart by themselves (SA_RESTART); those that the kernel never restarts (poll,
 * epoll_wait, nanosleep, sockets with a timeout, ...) fail with EINTR, which an application without
 * a handler of its own may not expect. The handler sees such a call as a context right behind a
 * `syscall` instruction with -EINTR as its result, and changes the context so that the thread makes
 * the call once more when the handler returns.
 *
 * Timeouts. In calls of libc the argument is replaced by what is left of the time; nothing there
 * uses the register after the call. Anybody else's code may, so there the call is made with the
 * same arguments, and ended by us at the first interruption after its deadline. Time counts from
 * the first interruption, unless it is known when the call began: it takes up to one sampling
 * interval longer than without us, and never ends early. (So those of libc that take a second at
 * most are not interrupted: SLEEP_FRAGILE in wrap/sleep.h.)
 *
 * Signals of the application. Ours blocks all others while it runs, so one that is due is pending:
 * then the call is left as it is, and the application sees the EINTR that it would have seen. One
 * that the kernel makes again for our handler (read, recv, a futex) is ended with EINTR where a
 * handler without SA_RESTART is due: it would run before the call, which then slept on. A signal
 * that arrives in the microsecond between reading what is pending and the call is met by its
 * handler's entry (restart_meet_handler). Our signal may come just as a handler of the application
 * returns to a call that it has ended: where it is known that one has run since the call began
 * (`handled`), EINTR is its. A thread that waits for nothing but signals must not be interrupted
 * (SLEEP_FRAGILE in wrap/sleep.h), and the application's handlers should not block ours.
 *
 * Reads of terminals. The kernel makes them again by itself for our handler, with the whole of the
 * terminal's own timeout (VTIME with a VMIN of 0): sampled often enough, such a read would never
 * end. So it is ended by us, as above, at the first interruption after its deadline.
 *
 * On x86-64. Elsewhere (aarch64) the kernel's answer overwrites an argument: nothing is made again
 * but by the kernel, and what is said of that and of signals of the application holds.
 */
#ifndef HCCT_RESTART_H
#define HCCT_RESTART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include <ucontext.h>

enum restart_verdict {
    RESTART_NONE,     /* no interrupted call */
    RESTART_AGAIN,    /* the call is made again */
    RESTART_ENDED,    /* the call's time is over: it returns what it returns then */
    RESTART_EXPECTED, /* the application's own signal is pending: EINTR is what it expects */
    RESTART_DECLINED, /* an interrupted call that is not known or can't be repaired: EINTR is seen
                       */
};

enum restart_register { RESTART_DI, RESTART_SI, RESTART_DX, RESTART_R10, RESTART_R8, RESTART_R9 };
#define RESTART_ARGUMENTS 6

/* Calls with a timeout that may be interrupted on top of each other in one thread (by a handler of
 * the application that sleeps itself). */
#define RESTART_NESTED 4

/* Of one thread; zero at the start. Touched in its signal handler only, but for `left`, which the
 * kernel reads when the call is made again: so it lives as long as the thread. */
struct restart_state {
    uint64_t running_ns; /* when the thread was last seen outside of an interrupted call */
    uint64_t began_ns;   /* when the interrupted call has begun, where its caller knows; 0 */
    uint32_t number;     /* which of the thread's calls it is, where its caller knows; 0 */
    bool handled;        /* a handler of the application has run since it began */
    uint32_t calls;      /* calls given a deadline so far; the last RESTART_NESTED are kept */
    struct restart_timed {
        uint32_t call;
        uint64_t deadline_ns;
        struct timespec left;
    } timed[RESTART_NESTED];
    struct {
        uint64_t pc, sp, argument[RESTART_ARGUMENTS];
        uint64_t deadline_ns, made_ns;
        uint64_t itself_ns; /* when it ends by itself */
        uint64_t sleeps;    /* of the thread until then */
        uint32_t number;    /* as above */
    } unchanged; /* the last call made again with its own arguments and a deadline; pc 0: none */
};

/* An interrupted thread, so much of it as matters. What restart_repair may change: result, pc and
 * argument. */
struct restart_call {
    int64_t result; /* the register that holds a call's number before and its result after it */
    uint64_t pc, sp;
    uint64_t argument[RESTART_ARGUMENTS];
    long number;         /* of the call, where it is known; -1: the code tells */
    const uint8_t *code; /* bytes of code that end at pc; NULL: can't be read */
    size_t code_bytes;
    bool libc;    /* the code is libc's, or as good */
    bool rewound; /* the kernel makes it again by itself: it reads a terminal with a timeout */
    uint64_t terminal_ns; /* that timeout */
    uint64_t sleeps;      /* how often the thread has slept, then */
    bool wall;            /* our signal comes to sleeping threads time and again */
    uint64_t now_ns;      /* CLOCK_MONOTONIC */
    /* An aligned word of the application's memory; false: not readable. */
    bool (*read)(void *arg, uint64_t address, uint64_t *word);
    /* A socket's SO_RCVTIMEO or SO_SNDTIMEO in ns; 0: none, or it is not a socket. */
    uint64_t (*socket_timeout)(void *arg, int fd, int option);
    /* What a register holds, by its number in instructions. */
    long (*held)(void *arg, unsigned reg);
    /* The number that came as an argument to the function that has made the call; -1: not known. */
    long (*passed)(void *arg);
    /* Is a handler of the application about to run? Asked last. */
    bool (*handler_due)(void *arg);
    void *arg;
};

/* Tells whether `call` is an interrupted system call and prepares it to be made again. Pure but for
 * `state` and the functions of `call`. Any context. */
enum restart_verdict restart_repair(struct restart_state *state, struct restart_call *call);

#define RESTART_NEARLY_NS 4000000u /* as the kernel counts some timeouts, in its ticks */

/* When the call that was just made again with its own arguments is to end, by CLOCK_MONOTONIC,
 * where only a signal ends it in time. 0: it does so by itself, or has no such end. After
 * RESTART_AGAIN at or after `since_ns`. */
static inline uint64_t restart_ends(const struct restart_state *state, uint64_t since_ns) {
    bool is_it = state->unchanged.pc != 0 && state->unchanged.made_ns >= since_ns;
    bool is_late = state->unchanged.deadline_ns + RESTART_NEARLY_NS < state->unchanged.itself_ns;
    return is_it && is_late ? state->unchanged.deadline_ns : 0;
}

/* Will a handler of the application run when ours returns? `own`: our signal. Signal context. */
bool restart_is_expected(const ucontext_t *uc, int own);

/* A handler of the application begins, for signal `number`, on `uc`: a call there that is about to
 * be made again, as ours has interrupted it, ends with EINTR if the handler would have ended it.
 * The handler's signal context. */
void restart_meet_handler(const struct restart_state *state, int number, ucontext_t *uc);

/* Learns where libc is. Process context, before restart_interrupted. */
void restart_start(void);

/* The same on what our signal has interrupted. At the end of the handler for each signal `own` that
 * was ours, after everything that reads *uc as it was: registers in *uc may be changed. `wall` as
 * above. When the verdict is not RESTART_NONE, the thread sleeps or is about to. Without a `state`
 * (NULL) a call with a timeout is made again with the whole of it. Signal context, all signals
 * blocked. */
enum restart_verdict restart_interrupted(struct restart_state *state, ucontext_t *uc, int own,
                                         bool wall);

#endif
