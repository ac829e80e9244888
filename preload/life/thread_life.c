/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * thread_life.c - what begins and ends with a thread, in which order.
 */
#include "preload/life/thread_life.h"

#include <limits.h>
#include <stdatomic.h>
#include <sys/resource.h>

#include "preload/calls/calls.h"
#include "preload/context/context.h"
#include "preload/encode/encode.h"
#include "preload/life/confine.h"
#include "preload/life/ends.h"
#include "preload/life/fork.h"
#include "preload/life/glibc.h"
#include "preload/life/handler.h"
#include "preload/life/handler_room.h"
#include "preload/life/handler_stack.h"
#include "preload/life/hooks.h"
#include "preload/life/session.h"
#include "preload/life/signal.h"
#include "preload/life/sys.h"
#include "preload/sample/check.h"
#include "preload/sample/edge.h"
#include "preload/sample/trigger.h"
#include "preload/sample/wall_sleep.h"
#include "preload/sample/wall_leave.h"
#include "preload/wrap/libc.h"
#include "preload/wrap/real.h"
#include "preload/wrap/sleep.h"

#define MAIN_STACK_MAX (1ull << 30) /* where the limit says "unlimited" */

static pthread_key_t end_key;
static _Atomic bool has_key;

static struct agent_thread *reserve(void) {
    struct agent_thread *t = thread_take();
    if (t == NULL)
        return NULL;
    if (agent.settings.check && t->check == NULL)
        t->check = check_new();
    check_reset(t->check);
    return t;
}

static struct agent_thread *reserve_for(const pthread_attr_t *attr) {
    if (!agent_started())
        /* a child made without fork(): this is the first we hear of it */
        agent_start_in_child(UINT64_MAX);
    struct agent_thread *t = reserve();
    if (t != NULL) {
        t->stack_low = libc_stack_size(attr); /* thread_begin knows where it is */
        t->hidden_signal = thread_self != NULL ? thread_self->hidden_signal : 0;
        t->created_in = 0;
        if (t->context != NULL)
            t->context->stamp = 0; /* of another thread */
    }
    return t;
}

/* Nobody is attached: wrappers do nothing. */
static bool is_left(void) {
    return agent_hooks.late && (!atomic_load(&agent.process->attached) || !has_key);
}

struct agent_thread *thread_reserve(const pthread_attr_t *attr) {
    struct agent_thread *self = thread_self;
    uint32_t before;
    if (agent.process == NULL || confine_is_quiet() || is_left())
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

/* Who has created it may not be known (late.h). Then a tick could come as soon as there is a timer,
 * in the middle of making the next one; and what it has inherited as blocked it believes to be
 * blocked. The mask that it had. */
static uint64_t keep_ticks_off(struct agent_thread *thread) {
    uint64_t bit = signal_bit(signal_number()), before = 0;
    if (!agent_hooks.late || confine_is_quiet())
        return 0;
    sys4(SYS_rt_sigprocmask, SIG_BLOCK, &bit, &before, KERNEL_SIGSET_BYTES);
    if ((before & bit) != 0)
        thread->hidden_signal = signal_number();
    return before;
}

void thread_begin(struct agent_thread *thread) {
    uint32_t before;
    bool entered = confine_enter(thread, &before);
    uint64_t mask = entered ? keep_ticks_off(thread) : 0;
    if (!entered || is_left()) {
        if (entered) {
            sys4(SYS_rt_sigprocmask, SIG_SETMASK, &mask, NULL, KERNEL_SIGSET_BYTES);
            confine_leave(thread, before);
        }
        thread_release(thread);
        return;
    }
    /* the thread's control block lies at the top of its stack */
    thread->stack_high = (uint64_t)libc_thread_self() & ~7ull;
    thread->stack_low = thread->stack_high - thread->stack_low;
    thread->tid = (pid_t)sys0(SYS_gettid);
    thread_self = thread;
    thread->masked = &sleep_masked;
    thread->labels = &labels_self;
    libc_setspecific(end_key, thread);
    if (!handler_stack_begin(thread))
        handler_room_begin(thread, 0);
    encode_begin(thread);
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
    encode_end();
    context_end();
    session_give_slot(thread);
}

void thread_end(struct agent_thread *thread) {
    leave(thread);
    if (!confine_is_quiet()) {
        signal_block_hidden(thread->hidden_signal);
        handler_stack_end(thread);
    }
    sleep_burst = 0; /* what it still calls is its own */
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
    libc_setspecific(end_key, NULL);
    thread_self = NULL;
}

void thread_step_in(struct agent_thread *thread) {
    thread_self = thread;
    libc_setspecific(end_key, thread);
    thread->ending = false;
    handler_room_begin(thread, ticker_now(CLOCK_THREAD_CPUTIME_ID));
    encode_begin(thread);
    trigger_start(thread, UINT64_MAX);
    calls_begin(thread);
    signal_unblock();
}

/* Destructors of the application may still compute, report calls, or allocate: ours goes last, as
 * far as that is up to us. */
static bool later(struct agent_thread *thread) {
    return ++thread->end_rounds < PTHREAD_DESTRUCTOR_ITERATIONS - 1 &&
           libc_setspecific(end_key, thread);
}

static void on_thread_end(void *arg) {
    if (!agent_started() || arg != thread_self || later(arg))
        return;
    const struct sleep_place caller = EDGE_CALLER;
    uint32_t before;
    if (confine_enter(arg, &before)) {
        edge_sample_inside(arg, &caller, ends_rest());
        edge_sample_own(arg, &caller, true);
        ends_note(arg);
    }
    thread_end(arg);
}

void thread_start_late(void) {
    if (!has_key)
        atomic_store(&has_key, real_pthread_key_create(&end_key, on_thread_end) == 0);
}

/* libc has room for the values of so many keys in each thread, and allocates for others. */
#define KEYS_WITH_ROOM 32u

void thread_note_end(struct agent_thread *thread) {
    if (has_key && end_key < KEYS_WITH_ROOM)
        libc_setspecific(end_key, thread);
}

void thread_find_main_stack(struct agent_thread *thread) {
    struct rlimit limit;
    uint64_t size = MAIN_STACK_MAX;
    if (sys2(SYS_getrlimit, RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < size)
        size = limit.rlim_cur;
    thread->stack_high = (uint64_t)(uintptr_t)__libc_stack_end & ~7ull;
    thread->stack_low = thread->stack_high - size;
}

bool thread_start_main(void) {
    if (real_pthread_key_create(&end_key, on_thread_end) != 0)
        return false;
    atomic_store(&has_key, true);
    struct agent_thread *thread = reserve();
    if (thread == NULL)
        return false;
    thread_find_main_stack(thread);
    thread->tid = (pid_t)sys0(SYS_gettid);
    thread_self = thread;
    thread->masked = &sleep_masked;
    thread->labels = &labels_self;
    libc_setspecific(end_key, thread);
    handler_stack_begin(thread);
    return true;
}

bool thread_give_key(void) {
    return atomic_exchange(&has_key, false) && libc_key_delete(end_key);
}
