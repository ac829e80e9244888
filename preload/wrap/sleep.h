/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * sleep.h - the calls in which a thread may go to sleep.
 *
 * A timer that runs on real time must not interrupt them: its signal is blocked during the call. A
 * timer whose signal is pending is not started again by the kernel, so a sleeping thread is never
 * woken. The wall clock (wall.h) samples sleeping threads: there only those calls are made with the
 * signal blocked whose interruption would be seen, and the others are announced. The functions of
 * libc that can put their caller to sleep are intercepted; while the thread's flag is clear that
 * costs a load, a test and an indirect jump, and the real function finds the caller's registers and
 * stack as they were. So does a lock that nobody has, whatever the flag. Not intercepted is what
 * SA_RESTART covers in full or libc itself (flock, open, fcntl), and calls from libc to itself, as
 * streams and malloc wait for their locks.
 */
#ifndef HCCT_WRAP_SLEEP_H
#define HCCT_WRAP_SLEEP_H

#include <stdbool.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

#include "preload/wrap/announced_call.h"

/* Values of sleep_burst, may be or-ed. Of the functions whose calls are made with our signal
 * blocked some may be open for a while: sleep_open.h. */
enum {
    /* Those are made with our signal blocked whose interruption restart.h can't undo: a transfer
     * that would end short (write, send, recv with MSG_WAITALL, copies, random bytes), a wait for a
     * signal (where a doubt may mean to wait for ever), a sleep that leaves the rest of its time in
     * place of its argument. For timers that interrupt sleeping threads. */
    SLEEP_FRAGILE = 2,
    SLEEP_MASKED = 4, /* all are made with our signal blocked, none is announced */
    /* Every one is announced, unless it is made with our signal blocked; and its end, if it is
     * watched. */
    SLEEP_NEXT = 8,
    /* Those that are made with our signal open are watched: by a frame of ours. */
    SLEEP_WATCHED = 16,
};

/* The word that the calling thread announces, 0: none. A thread begins with what start.c or late.c
 * says. Any context, on the thread itself. */
extern __thread uint32_t sleep_burst
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* The announcement, made before the intercepted function is entered. Thread context, or inside a
 * handler of the application; no signal is blocked. Keeps errno, and calls no intercepted function.
 * Defined by the trigger. */
void trigger_before_sleep(void) __attribute__((visibility("hidden")));

/* At the end of a watched call. The same. */
struct sleep_call;
void trigger_after_watched(const struct sleep_call *call)
    __attribute__((visibility("hidden"), used));

/* A call with our signal blocked, or watched: on the stack of its caller, as the assembly lays it
 * out. */
struct sleep_call {
    uint64_t seventh; /* argument, if there is one */
    uint64_t argument[6];
    uint64_t vectors; /* x86-64: how many vector registers hold arguments; else a mark */
    _Atomic(uintptr_t) *slot;
    uint64_t mask; /* of the kernel: our signal; 0: nothing is blocked */
    uint64_t result;
    uint64_t unblock;  /* at the end: a SLEEP_CALL. At the beginning: it is watched */
    uint64_t began_ns; /* CLOCK_MONOTONIC; for the trigger */
    uint64_t waited;   /* child_ends_waited, where it waits for a child; for the trigger */
    union {
        uint64_t set[16];             /* the application's signal set, but for ours */
        struct announced_call before; /* of an open one: the open call before it */
    };
    uint64_t outer; /* sleep_masked before */
    uint64_t unused;
};

enum {
    SLEEP_CALL_PLAIN,  /* the signal is as it was */
    SLEEP_CALL_MASKED, /* the signal was open before, and is blocked now */
    SLEEP_CALL_OPEN,   /* sleep_open.h */
};

/* The call of the thread that has blocked our signal, 0: none. Of several, which are each within a
 * handler that has interrupted the one before, it is the innermost. Nothing is to be read there: a
 * jump may have left it. The thread itself, any context. */
extern __thread uintptr_t sleep_masked
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Announced calls (announced_call.h) are left, by a jump or an exception. On the thread, any
 * context.
 */
void sleep_forget_announced(void);

/* Before a masked call: sets the mask. A point that was reached is sampled, as it is at the call's
 * end, before our signal is unblocked. Thread context, or inside a handler of the application. Keep
 * errno. Defined by the trigger. */
void trigger_before_masked(struct sleep_call *call) __attribute__((visibility("hidden")));
void trigger_after_masked(struct sleep_call *call) __attribute__((visibility("hidden"), used));

/* A handler of the application has interrupted a masked call, and is about to begin a process or
 * another program: these are to inherit our signal open. It stays so until the handler returns,
 * when the kernel puts back the mask of the call. Any context; keeps errno. */
void sleep_open(void) __attribute__((visibility("hidden"), used));
/* The same where the system call `number` begins such. */
void sleep_open_for(long number) __attribute__((visibility("hidden"), used));

/* Which of the functions the call is of, from 0 on. Any context. */
size_t sleep_number(const struct sleep_call *call);

/* The call waits for a child, and results in its process. Any context. */
bool sleep_call_waits(const struct sleep_call *call);

/* The call, watched or masked, that a frame with that return address and stack pointer is made by;
 * 0: by none. Any context. */
uintptr_t sleep_call_of(uint64_t pc, uint64_t sp);

/* The call, watched or masked, that has just ended where the context is, or has been interrupted by
 * a handler that begins there, while our signal is being unblocked; else NULL. Signal context. */
const struct sleep_call *sleep_call_at(const ucontext_t *uc);

struct agent_thread;

/* Of another thread, which may run meanwhile: the context in which the real function began of the
 * call with our signal blocked that it is in is shown in `uc`. False: it is in none that is known.
 * Nothing that it finds needs to be true. While the thread can't end. */
bool sleep_find_call(struct agent_thread *thread, ucontext_t *uc);

/* A context as a walk begins with it. */
struct sleep_place {
    uint64_t pc, sp, frame;
    uint64_t link; /* the return address, where a register has it */
    uint64_t call; /* 1 + the number of the system call in which the time was spent; 0: in none */
    bool returned; /* the pc is where a call has returned to, or will: what stands there may be of
                    * another line, and of another function behind a call that does not return */
};

/* A call may be left, by a jump from there or by the unwinder (NULL): a timer that has waited for
 * its end is set anew. Any context. */
void trigger_call_left(const struct sleep_place *place) __attribute__((visibility("hidden")));

/* Where the real function began (`in_call`), or where it will return to its caller. Any context. */
struct sleep_place sleep_place(const struct sleep_call *call, bool in_call);
/* `uc` is there from here on, and so are samples of the thread; *own is what it was, and to be
 * shown again after them. Signal context. */
void sleep_show(struct agent_thread *thread, ucontext_t *uc, const struct sleep_place *place,
                struct sleep_place *own);

/* libc's syscall(), not watched. Thread context. */
long sleep_real_syscall(long number, const long argument[6]);

/* Looks all real functions up, so that none needs dlsym later. Process context. */
void sleep_start(void);

/* True when `pc` is at the beginning of one of the real functions that a signal may harm, before
 * its system call may be over. False before sleep_start. Any context. */
bool sleep_is_about_to(uint64_t pc);

/* True when a function that begins at `routine` is one of the real ones that a signal may harm: a
 * thread inside sleeps, or is about to. False before sleep_start. Any context. */
bool sleep_is_sleeper(uint64_t routine);

#endif
