/*
 * thread.c - contexts of threads: taken when a thread is created, given back when it ends.
 *
 * The pool is a list that only grows, so that anybody may follow it at any time. Contexts are
 * mapped several at once, the more the more there are, as the kernel limits the mappings of a
 * process. Of each its head is used; its frame arrays are touched only as deep as the thread's
 * stack is. Those that are free stand in a list of their own, so that a new thread costs the same
 * however many are alive.
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
#include "preload/life/handler_room.h"
#include "preload/life/handler_stack.h"
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

__thread struct agent_thread *thread_self;

static _Atomic(struct agent_thread *) contexts;
static pthread_key_t end_key;

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
};

static struct agent_thread *begin_context(struct context *context) {
    struct agent_thread *t = &context->thread;
    t->handler_stack = context->handler_stack;
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
}

/* Nothing of an earlier thread's, or of the parent process's, holds any more. */
static void forget(struct agent_thread *t) {
    t->epoch = 0;
    t->slot = NULL;
    t->unsent_ns = t->least_ns = t->walk_price_ns = 0;
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
    atomic_store(&t->used, 1);
    t->ending = false;
    t->tid = 0;
    t->hidden_signal = 0;
    t->end_rounds = 0;
    t->no_room = t->no_room_counted = false;
    forget(t);
    if (agent.settings.check && t->check == NULL)
        t->check = check_new();
    check_reset(t->check);
    return t;
}

/* The default is changed by pthread_setattr_default_np. */
static size_t stack_size(const pthread_attr_t *attr) {
    pthread_attr_t plain;
    size_t bytes = 0;
    if (attr != NULL)
        return pthread_attr_getstacksize(attr, &bytes) == 0 ? bytes : 0;
    if (pthread_attr_init(&plain) != 0)
        return 0;
    pthread_attr_getstacksize(&plain, &bytes);
    pthread_attr_destroy(&plain);
    return bytes;
}

static struct agent_thread *reserve_for(const pthread_attr_t *attr) {
    if (!agent_started())
        /* a child made without fork(): this is the first we hear of it */
        agent_start_in_child(UINT64_MAX);
    struct agent_thread *t = reserve();
    if (t != NULL) {
        t->stack_low = stack_size(attr); /* thread_begin knows where it is */
        t->hidden_signal = thread_self != NULL ? thread_self->hidden_signal : 0;
    }
    return t;
}

struct agent_thread *thread_reserve(const pthread_attr_t *attr) {
    struct agent_thread *self = thread_self;
    uint32_t before;
    if (agent.process == NULL || confine_is_quiet())
        return NULL;
    signal_check_again(); /* runtimes that take all signals begin threads then */
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
    give_free(thread);
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
    if (!handler_stack_begin(thread))
        handler_room_begin(thread, 0);
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
    if (!confine_is_quiet()) { /* else who confines all does it */
        trigger_stop(thread);
        handler_room_end(thread);
    }
    session_give_slot(thread);
}

void thread_end(struct agent_thread *thread) {
    leave(thread);
    if (!confine_is_quiet()) {
        signal_block_hidden(thread->hidden_signal);
        handler_stack_end(thread);
    }
    thread_self = NULL;
    confine_leave(thread, 0);
    thread_release(thread);
    wall_leave_wait();
}

void thread_step_out(struct agent_thread *thread) {
    leave(thread);
    signal_block_hidden(thread->hidden_signal);
    if (!handler_stack_is_relied_on())
        handler_stack_end(thread);
    sleep_burst = 0;
    pthread_setspecific(end_key, NULL);
    thread_self = NULL;
}

void thread_step_in(struct agent_thread *thread) {
    thread_self = thread;
    pthread_setspecific(end_key, thread);
    thread->ending = false;
    handler_room_begin(thread, ticker_now(CLOCK_THREAD_CPUTIME_ID));
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

bool thread_start_main(void) {
    if (pthread_key_create(&end_key, on_thread_end) != 0)
        return false;
    struct agent_thread *thread = reserve();
    if (thread == NULL)
        return false;
    find_main_stack(thread);
    thread->tid = (pid_t)sys0(SYS_gettid);
    thread_self = thread;
    thread->masked = &sleep_masked;
    pthread_setspecific(end_key, thread);
    handler_stack_begin(thread);
    return true;
}

void thread_forget_others(void) {
    atomic_store(&free_head, 0); /* another thread may have been about to give one back */
    for (struct agent_thread *t = thread_first(); t != NULL; t = t->next) {
        t->busy = t->inside = 0;
        forget(t);
        if (t != thread_self)
            thread_release(t);
    }
    if (thread_self == NULL)
        return;
    thread_self->tid = (pid_t)sys0(SYS_gettid);
    handler_room_begin_in_child(thread_self);
}
