/*
 * thread.h - what the agent keeps for each thread of the application.
 */
#ifndef HCCT_THREAD_H
#define HCCT_THREAD_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "preload/agent.h"
#include "preload/unwind.h"

#define THREAD_FRAMES_MAX   16384u /* deepest stack that is followed, see wire_session.max_frames */
#define THREAD_MODULE_CACHE 64u

/* Contexts are taken from a pool that only grows (mmap), and given back when the thread ends. Only
 * the owner writes, but for the timer, which is moved when the signal changes. */
struct agent_thread {
    struct agent_thread *next; /* all contexts ever made, never unlinked */
    _Atomic uint32_t used;
    _Atomic uint32_t busy; /* inside the handler, with the session in use */
    pid_t tid;
    bool ending;        /* no more ticks */
    bool signal_hidden; /* the application believes that it has blocked our signal */
    bool has_timer;
    int timer;                      /* the kernel's id */
    uint64_t period_ns;             /* of the timer as it is set */
    bool first_tick;                /* no expiry has been credited yet */
    uint64_t stack_low, stack_high; /* the thread's own stack */

    /* the session that the rest belongs to */
    uint32_t epoch;
    uint32_t map_seen;      /* modules_generation() that the daemon knows for this thread */
    struct wire_slot *slot; /* NULL: none claimed yet */
    uint64_t head;          /* position in the ring */
    uint64_t owed_ns;       /* CPU time that is still to be credited */
    bool missed_slot;       /* counted once */

    uint16_t module_cache[THREAD_MODULE_CACHE]; /* module index + 1, by a hash of the address */

    void *(*start)(void *); /* between pthread_create and the thread's first instruction */
    int (*start_c11)(void *);
    void *argument;

    uint32_t depth;               /* of shadow */
    struct unwind_frame *shadow;  /* what the daemon has been told: outermost first */
    struct unwind_frame *scratch; /* the walk being made: innermost first */
};

/* The calling thread's context, NULL when it is not profiled. Any context. */
extern __thread struct agent_thread *thread_self
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* A context for a thread to be, created with `attr` (NULL: default attributes). NULL: it can not be
 * profiled (no memory, a stack too small for a signal frame). Thread context. */
struct agent_thread *thread_reserve(const pthread_attr_t *attr);
/* Gives an unused or finished context back. */
void thread_release(struct agent_thread *thread);

/* The calling thread is alive: starts its timer. Thread context, on the thread itself. */
void thread_begin(struct agent_thread *thread);
/* The calling thread is about to end. */
void thread_end(struct agent_thread *thread);

/* The main thread's context and what ends a thread's; false: the process can't be profiled.
 * Process context. */
bool thread_start_main(void);
/* In a child: only the calling thread is left. */
void thread_forget_others(void);

/* First of all contexts; follow ->next and skip those that are not used. Any context. */
struct agent_thread *thread_first(void);

#endif
