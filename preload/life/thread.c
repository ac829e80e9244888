/*
 * thread.c - contexts of threads: taken when a thread is created, given back when it ends.
 *
 * The pool is a list that only grows, so that anybody may follow it at any time. A context is one
 * mapping: its head is used, its frame arrays are touched only as deep as the thread's stack is.
 */
#include "preload/life/thread.h"

#include <limits.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "preload/calls/calls.h"
#include "preload/life/confine.h"
#include "preload/life/ends.h"
#include "preload/life/glibc.h"
#include "preload/life/memory.h"
#include "preload/life/session.h"
#include "preload/life/signal.h"
#include "preload/life/sys.h"
#include "preload/sample/check.h"
#include "preload/sample/edge.h"
#include "preload/sample/sampling.h"
#include "preload/sample/trigger.h"
#include "preload/sample/wall.h"
#include "preload/sample/wall_leave.h"
#include "preload/wrap/sleep.h"

#define WORDS_MAX      (2 * THREAD_FRAMES_MAX) /* a frame stands on one word, seldom on two */
#define MAIN_STACK_MAX (1ull << 30)            /* where the limit says "unlimited" */
#define SMALLEST_STACK 32768u                  /* a signal frame alone can take a third of that */

__thread struct agent_thread *thread_self;

static _Atomic(struct agent_thread *) contexts;
static pthread_key_t end_key;
static size_t default_stack;

struct agent_thread *thread_first(void) {
    return atomic_load_explicit(&contexts, memory_order_acquire);
}

static struct agent_thread *take_free(void) {
    for (struct agent_thread *t = thread_first(); t != NULL; t = t->next) {
        uint32_t unused = 0;
        if (atomic_load_explicit(&t->used, memory_order_relaxed) == 0 &&
            atomic_compare_exchange_strong(&t->used, &unused, 1))
            return t;
    }
    return NULL;
}

/* A context and the arrays that hang on it, in one mapping. */
struct context {
    struct agent_thread thread;
    _Alignas(WIRE_CACHE_LINE) struct unwind_cached cache[1u << UNWIND_CACHE_BITS];
    struct memo_frame frame[THREAD_FRAMES_MAX];
    struct memo_word word[WORDS_MAX];
    struct memo_step step[THREAD_FRAMES_MAX];
};

static struct agent_thread *make(void) {
    struct context *context = memory_map(sizeof *context, PROT_READ | PROT_WRITE,
                                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
    if (context == NULL)
        return NULL;
    struct agent_thread *t = &context->thread;
    t->used = 1;
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

void thread_unlock_contexts(void) {
    for (struct agent_thread *t = thread_first(); t != NULL; t = t->next)
        sys2(SYS_munlock, t, sizeof(struct context));
}

/* Nothing of an earlier thread's, or of the parent process's, holds any more. */
static void forget(struct agent_thread *t) {
    t->epoch = 0;
    t->slot = NULL;
    t->owed_ns = t->least_ns = t->walk_price_ns = 0;
    t->copies = (struct copies){0};
    t->price_scale = SAMPLING_PRICE_AS_LISTED;
    t->restart = (struct restart_state){0};
    trigger_forget(t);
    memo_forget(&t->memo);
}

static struct agent_thread *reserve(void) {
    struct agent_thread *t = take_free();
    if (t == NULL)
        t = make();
    if (t == NULL)
        return NULL;
    t->ending = false;
    t->tid = 0;
    t->hidden_signal = 0;
    t->end_rounds = 0;
    forget(t);
    if (agent.settings.check && t->check == NULL)
        t->check = check_new();
    check_reset(t->check);
    return t;
}

static struct agent_thread *reserve_for(const pthread_attr_t *attr) {
    size_t stack = default_stack;
    if (!agent_started())
        /* a child made without fork(): this is the first we hear of it */
        agent_start_in_child(UINT64_MAX);
    if (attr != NULL && pthread_attr_getstacksize(attr, &stack) != 0)
        return NULL;
    if (stack < SMALLEST_STACK)
        return NULL;
    struct agent_thread *t = reserve();
    if (t != NULL) {
        t->stack_low = stack; /* only its size is known yet: thread_begin knows the rest */
        t->hidden_signal = thread_self != NULL ? thread_self->hidden_signal : 0;
    }
    return t;
}

struct agent_thread *thread_reserve(const pthread_attr_t *attr) {
    struct agent_thread *self = thread_self;
    uint32_t before;
    if (agent.process == NULL || confine_is_quiet())
        return NULL;
    if (self == NULL)
        return reserve_for(attr);
    if (!confine_enter(self, &before))
        return NULL;
    struct agent_thread *reserved = reserve_for(attr);
    confine_leave(self, before);
    return reserved;
}

uint64_t thread_switches(void) {
    struct rusage usage;
    if (sys2(SYS_getrusage, RUSAGE_THREAD, &usage) != 0)
        return 0;
    return (uint64_t)usage.ru_nvcsw + (uint64_t)usage.ru_nivcsw;
}

void thread_release(struct agent_thread *thread) {
    atomic_store_explicit(&thread->used, 0, memory_order_release);
}

void thread_begin(struct agent_thread *thread) {
    uint32_t before;
    if (!confine_enter(thread, &before)) {
        thread_release(thread);
        return;
    }
    /* the thread's control block lies at the top of its stack */
    thread->stack_high = (uint64_t)pthread_self() & ~7ull;
    thread->stack_low = thread->stack_high - thread->stack_low;
    thread->tid = (pid_t)sys0(SYS_gettid);
    thread_self = thread;
    thread->masked = &sleep_masked;
    pthread_setspecific(end_key, thread);
    trigger_start(thread, 0);
    calls_begin(thread);
    signal_unblock();
    confine_leave(thread, before);
}

static void leave(struct agent_thread *thread) {
    thread->ending = true; /* first: a tick would begin again what ends here */
    atomic_signal_fence(memory_order_seq_cst);
    calls_end(thread);
    wall_awake(thread);
    if (!confine_is_quiet())
        trigger_stop(thread); /* else who confines all does it */
    session_give_slot(thread);
}

void thread_end(struct agent_thread *thread) {
    leave(thread);
    if (!confine_is_quiet())
        signal_block_hidden(thread->hidden_signal);
    thread_self = NULL;
    confine_leave(thread, 0);
    thread_release(thread);
    wall_leave_wait();
}

void thread_step_out(struct agent_thread *thread) {
    leave(thread);
    signal_block_hidden(thread->hidden_signal);
    sleep_burst = 0;
    pthread_setspecific(end_key, NULL);
    thread_self = NULL;
}

void thread_step_in(struct agent_thread *thread) {
    thread_self = thread;
    pthread_setspecific(end_key, thread);
    thread->ending = false;
    trigger_start(thread, UINT64_MAX);
    calls_begin(thread);
    signal_unblock();
}

/* Destructors of the application may still report calls: ours goes last, as far as that is up to
 * us. */
static bool later(struct agent_thread *thread) {
    return agent.settings.collector == WIRE_COLLECT_CALLS &&
           ++thread->end_rounds < PTHREAD_DESTRUCTOR_ITERATIONS - 1 &&
           pthread_setspecific(end_key, thread) == 0;
}

static void on_thread_end(void *arg) {
    if (!agent_started() || arg != thread_self || later(arg))
        return;
    const struct sleep_place caller = EDGE_CALLER;
    uint32_t before;
    if (confine_enter(arg, &before)) {
        edge_sample_inside(arg, &caller, ends_rest());
        ends_note(arg);
    }
    thread_end(arg);
}

static void find_main_stack(struct agent_thread *thread) {
    struct rlimit limit;
    uint64_t size = MAIN_STACK_MAX;
    if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < size)
        size = limit.rlim_cur;
    thread->stack_high = (uint64_t)(uintptr_t)__libc_stack_end & ~7ull;
    thread->stack_low = thread->stack_high - size;
}

static void find_default_stack(void) {
    pthread_attr_t attr;
    default_stack = 8u << 20;
    if (pthread_attr_init(&attr) != 0)
        return;
    pthread_attr_getstacksize(&attr, &default_stack);
    pthread_attr_destroy(&attr);
}

bool thread_start_main(void) {
    if (pthread_key_create(&end_key, on_thread_end) != 0)
        return false;
    find_default_stack();
    struct agent_thread *thread = reserve();
    if (thread == NULL)
        return false;
    find_main_stack(thread);
    thread->tid = (pid_t)sys0(SYS_gettid);
    thread_self = thread;
    thread->masked = &sleep_masked;
    pthread_setspecific(end_key, thread);
    return true;
}

void thread_forget_others(void) {
    for (struct agent_thread *t = thread_first(); t != NULL; t = t->next) {
        t->busy = t->inside = 0;
        forget(t);
        if (t != thread_self)
            thread_release(t);
    }
    if (thread_self != NULL)
        thread_self->tid = (pid_t)sys0(SYS_gettid);
}
