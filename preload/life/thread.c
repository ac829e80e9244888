/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * thread.c - contexts of threads: made, taken and given back.
 *
 * The pool is a list that only grows, so that anybody may follow it at any time. Contexts are
 * mapped several at once, the more the more there are, as the kernel limits the mappings of a
 * process. Of each its head is used; its frame arrays are touched only as deep as the thread's
 * stack is. Those that are free stand in a list of their own, so that a new thread costs the same
 * however many are alive.
 */
#include "preload/life/thread.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "preload/life/agent.h"
#include "preload/life/memory.h"
#include "preload/life/sys.h"
#include "preload/python/thread.h"

#define WORDS_MAX (2 * THREAD_FRAMES_MAX) /* a frame stands on one word, seldom on two */

__thread struct agent_thread *thread_self;

static _Atomic(struct agent_thread *) contexts;

struct agent_thread *thread_first(void) {
    return atomic_load_explicit(&contexts, memory_order_acquire);
}

/* ---- free contexts ----
 *
 * A stack; its head is one word: the page of the first, and how often it was changed, so that one
 * that was taken and given back meanwhile is not taken for unchanged. */

#define CHANGES_BITS 28 /* a page's number has the rest: addresses have 48 bits */

static _Atomic uint64_t free_head;

static struct agent_thread *first_free(uint64_t head) {
    return (struct agent_thread *)(uintptr_t)((head >> CHANGES_BITS) * WIRE_PAGE);
}

static uint64_t changed_head(uint64_t head, const struct agent_thread *first) {
    uint64_t changes = (head + 1) & ((1ull << CHANGES_BITS) - 1);
    return (uint64_t)(uintptr_t)first / WIRE_PAGE << CHANGES_BITS | changes;
}

static struct agent_thread *take_free(void) {
    uint64_t head = atomic_load(&free_head), rest;
    struct agent_thread *t;
    do {
        t = first_free(head);
        if (t == NULL)
            return NULL;
        rest = changed_head(head, atomic_load(&t->next_free));
    } while (!atomic_compare_exchange_weak(&free_head, &head, rest));
    return t;
}

static void give_free(struct agent_thread *t) {
    uint64_t head = atomic_load(&free_head);
    do {
        atomic_store(&t->next_free, first_free(head));
    } while (!atomic_compare_exchange_weak(&free_head, &head, changed_head(head, t)));
}

/* ---- making them ---- */

#define AT_ONCE_MOST 64
#define AT_ONCE_PART 8 /* of those that are there */

static _Atomic size_t made;

/* A context and the arrays that hang on it. */
struct context {
    _Alignas(WIRE_PAGE) struct agent_thread thread;
    _Alignas(WIRE_CACHE_LINE) struct unwind_cached cache[1u << UNWIND_CACHE_BITS];
    struct memo_frame frame[THREAD_FRAMES_MAX];
    struct memo_word word[WORDS_MAX];
    struct memo_step step[THREAD_FRAMES_MAX];
    _Alignas(WIRE_PAGE) unsigned char handler_stack[HANDLER_STACK_BYTES];
    struct stack_page page[STACK_PAGES];
};

static struct agent_thread *begin_context(struct context *context) {
    struct agent_thread *t = &context->thread;
    t->handler_stack = context->handler_stack;
    t->probe.copy = context->page;
    t->memo = (struct memo){.frame = context->frame,
                            .step = context->step,
                            .word = context->word,
                            .room = THREAD_FRAMES_MAX,
                            .words_room = WORDS_MAX,
                            .opaque = UINT32_MAX,
                            .cache = context->cache};
    t->next = thread_first();
    while (!atomic_compare_exchange_weak(&contexts, &t->next, t))
        ;
    return t;
}

/* A page of 2 MB would make most of a context real. */
static struct context *map_contexts(size_t n) {
    struct context *first = memory_map(n * sizeof *first, PROT_READ | PROT_WRITE,
                                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
    if (first != NULL)
        sys3(SYS_madvise, first, n * sizeof *first, MADV_NOHUGEPAGE);
    return first;
}

/* Where address space is limited none is made that is not needed. */
static size_t worth_making(void) {
    struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
    size_t n = 1 + atomic_load(&made) / AT_ONCE_PART;
    sys2(SYS_getrlimit, RLIMIT_AS, &limit);
    return limit.rlim_cur != RLIM_INFINITY ? 1 : n < AT_ONCE_MOST ? n : AT_ONCE_MOST;
}

static struct agent_thread *make(void) {
    size_t n = worth_making();
    struct context *context = map_contexts(n);
    if (context == NULL)
        return NULL;
    atomic_fetch_add(&made, n);
    for (size_t i = 1; i < n; i++)
        give_free(begin_context(&context[i]));
    return begin_context(&context[0]);
}

void thread_unlock_contexts(void) {
    for (struct agent_thread *t = thread_first(); t != NULL; t = t->next)
        sys2(SYS_munlock, t, sizeof(struct context));
    for (struct agent_thread *t = thread_first(); t != NULL; t = t->next)
        if (t->python != NULL)
            sys2(SYS_munlock, t->python, sizeof *t->python);
}

/* Timers are not inherited by a child of fork. */
static void forget_trigger(struct agent_thread *thread) {
    thread->trigger = (struct trigger){0};
}

/* Nothing of an earlier thread's, or of the parent process's, holds any more. */
static void forget(struct agent_thread *t) {
    t->epoch = 0;
    memset(t->streams, 0, sizeof t->streams);
    t->stream = &t->streams[agent.settings.ticks_to];
    t->unsent_ns = t->least_ns = t->walk_price_ns = 0;
    t->copies = (struct copies){0};
    t->price_scale = SAMPLING_PRICE_AS_LISTED;
    t->restart = (struct restart_state){0};
    forget_trigger(t);
    t->shown.depth = 0;
    memo_forget_walk(&t->memo); /* the rules are of a session: session.c */
}

/* Without it, functions of Python are not shown. */
static struct python_thread *make_python(void) {
    struct python_thread *python = memory_map(sizeof(struct python_thread), PROT_READ | PROT_WRITE,
                                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
    if (python != NULL)
        python_thread_begin(python);
    return python;
}

static void begin_anew(struct agent_thread *t) {
    if (agent.settings.python && t->python == NULL)
        t->python = make_python();
    t->end_rounds = 0;
    t->no_room = t->no_room_counted = false;
    atomic_store(&t->alternate, 0);
    forget(t);
}

struct agent_thread *thread_take(void) {
    struct agent_thread *t = take_free();
    if (t == NULL)
        t = make();
    if (t == NULL)
        return NULL;
    t->tid = 0; /* that of its last thread, which who looks for ends would take for its own */
    t->ending = false;
    atomic_store(&t->used, 1);
    t->poked = false;
    t->hidden_signal = 0;
    begin_anew(t);
    return t;
}

/* It may be in a call that was made again, whose timeout the kernel reads in `restart`. */
void thread_renew(struct agent_thread *thread) {
    const struct restart_state restart = thread->restart;
    begin_anew(thread);
    thread->restart = restart;
}

uint64_t thread_switches(void) {
    struct rusage usage;
    if (sys2(SYS_getrusage, RUSAGE_THREAD, &usage) != 0)
        return 0;
    return (uint64_t)usage.ru_nvcsw + (uint64_t)usage.ru_nivcsw;
}

uint64_t thread_faults(void) {
    struct rusage usage;
    if (sys2(SYS_getrusage, RUSAGE_THREAD, &usage) != 0)
        return 0;
    return (uint64_t)usage.ru_minflt + (uint64_t)usage.ru_majflt;
}

uint64_t thread_sleeps(void) {
    struct rusage usage;
    return sys2(SYS_getrusage, RUSAGE_THREAD, &usage) == 0 ? (uint64_t)usage.ru_nvcsw : 0;
}

void thread_release(struct agent_thread *thread) {
    atomic_store_explicit(&thread->used, 0, memory_order_release);
    give_free(thread);
}

/* Each page that is written to is copied: so nothing is done to contexts that are free. One that
 * another thread was just taking, or giving back, is never used again. */
void thread_forget_others(void) {
    for (struct agent_thread *t = thread_first(); t != NULL; t = t->next) {
        if (t == thread_self || atomic_load(&t->used) == 0)
            continue;
        t->busy = t->inside = 0;
        forget_trigger(t);
        thread_release(t);
    }
    if (thread_self == NULL)
        return;
    thread_self->busy = thread_self->inside = 0;
    forget(thread_self);
    thread_self->tid = (pid_t)sys0(SYS_gettid);
}
