/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * late_threads.c - the kernel's list of threads, and what each has.
 */
#include "preload/life/late_threads.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "common/wire/arch.h"
#include "preload/life/confine.h"
#include "preload/life/handler.h"
#include "preload/life/late_bind.h"
#include "preload/life/late_tasks.h"
#include "preload/life/late_wake.h"
#include "preload/life/modules.h"
#include "preload/life/session.h"
#include "preload/life/signal.h"
#include "preload/life/sys.h"
#include "preload/life/thread_life.h"
#include "preload/life/unsampled.h"
#include "preload/sample/interrupted.h"
#include "preload/sample/stack.h"
#include "preload/sample/ticker.h"
#include "preload/sample/trigger.h"
#include "preload/wrap/libc.h"
#include "preload/wrap/sleep.h"

/* ---- one thread ---- */

/* Threads that libc has not made share the memory of another one's variables. The kernel's own have
 * none. */
static bool is_libcs(pid_t tid) {
    void *head = NULL;
    size_t bytes;
    return sys3(SYS_get_robust_list, tid, &head, &bytes) == 0 && head != NULL;
}

struct agent_thread *late_threads_find(pid_t tid) {
    for (struct agent_thread *t = thread_first(); t != NULL; t = t->next)
        if (atomic_load(&t->used) != 0 && t->tid == tid)
            return t;
    return NULL;
}

/* In a call with our signal blocked. The variable goes with the thread, whose end may not have been
 * noticed. */
static bool is_masked(const struct agent_thread *thread) {
    uint64_t masked;
    return thread->masked != NULL &&
           stack_copy(&masked, (uintptr_t)thread->masked, sizeof masked) && masked != 0;
}

#define AWAIT_NAPS 100 /* while another thread attaches to the session */
/* hcctd answers late where the machine is busy. */
#define POKE_AGAIN_NS 60000000u
#define POKES_AGAIN   50

/* A context that the thread has from before has none of its timers any more, but for the one of its
 * last tick. */
static struct agent_thread *take_anew(struct agent_thread *thread) {
    trigger_free(thread);
    thread_renew(thread);
    return thread;
}

static bool takes_signal(const struct agent_thread *thread, uint64_t blocked) {
    return (blocked & signal_bit(signal_number())) == 0 || (thread != NULL && is_masked(thread));
}

/* Who is held while it attaches may go on with a sleep whose rest the kernel forgets when a signal
 * comes: so none is to come before it has run by itself. */
#define OWN_NS 3000000u

/* NULL: there is no memory. */
static struct agent_thread *take_context(struct agent_thread *thread, pid_t tid) {
    thread = thread != NULL ? take_anew(thread) : thread_take();
    if (thread == NULL)
        return NULL;
    thread->tid = tid;
    thread->stack_low = thread->stack_high = 0;
    thread->masked = NULL;
    thread->labels = NULL;
    thread->poked = false;
    thread->pokes = 0;
    thread->waits_in = 0;
    thread->found_ns = ticker_now(CLOCK_MONOTONIC);
    thread->timerless = false;
    thread->ending = false;
    return thread;
}

static enum wire_attach_fate add(pid_t tid, uint64_t blocked) {
    struct agent_thread *thread = late_threads_find(tid);
    if (thread != NULL && !thread->ending && !thread->timerless)
        return WIRE_ATTACH_SAMPLED;
    if (!takes_signal(thread, blocked) || !is_libcs(tid))
        return WIRE_ATTACH_CLOSED;
    if (thread == NULL || thread->ending)
        thread = take_context(thread, tid);
    if (thread == NULL)
        return WIRE_ATTACH_ROOMLESS;
    thread->timerless = false;
    if (trigger_adopt(thread, tid == (pid_t)sys0(SYS_gettid) ? OWN_NS : 1))
        return WIRE_ATTACH_SAMPLED;
    thread->ending = true;
    return WIRE_ATTACH_TIMERLESS;
}

/* Below what is in use so much is enough, where it is there. */
#define BELOW_BYTES 65536u
/* And so much above it is tried: the rest of a stack in use. */
#define ABOVE_BYTES (64u << 20)

static uint64_t page_of(uint64_t address) {
    return address & ~(uint64_t)(WIRE_PAGE - 1);
}

/* Its control block lies at the top of the thread's own stack. That may not be the one in use: then
 * there is something in between that is no memory. */
static void find_stack(struct agent_thread *thread, uint64_t sp) {
    uint64_t high = (uint64_t)libc_thread_self() & ~7ull, low = page_of(sp), at = low;
    if (sp >= high || high - sp > ABOVE_BYTES)
        return;
    while (at < high && stack_is_readable(at))
        at += WIRE_PAGE;
    if (at < high)
        return;
    while (page_of(sp) - low < BELOW_BYTES && stack_is_readable(low - WIRE_PAGE))
        low -= WIRE_PAGE;
    thread->stack_low = low;
    thread->stack_high = high;
}

/* The thread has been seen before it could tell the context that it has from its beginning. */
static void leave_double(struct agent_thread *self, struct agent_thread *owner) {
    uint32_t before;
    if (!confine_enter_at_tick(self, &before))
        return;
    trigger_free(owner);
    thread_release(owner);
    confine_leave(self, before);
}

static bool has_other(const struct agent_thread *self, const struct agent_thread *owner) {
    return self != NULL && self != owner && atomic_load(&self->used) != 0 && !self->ending &&
           self->tid == owner->tid;
}

#define NEAREST_WORDS 8

/* Without a wrapper before it, which would block our signal: from now on that may come while the
 * thread sleeps. Also where the loader looks for the function. */
static bool is_about_to_sleep(const ucontext_t *uc, bool poked) {
    uint64_t pc = arch_pc(uc), nearest[NEAREST_WORDS];
    if (agent.settings.ticks_only || (poked && interrupted_in_call(uc)))
        return false;
    if (late_bind_is_loader(pc))
        return true;
    if (sleep_is_about_to(pc))
        return !interrupted_behind_call(uc);
    if (!stack_copy(nearest, arch_reg(uc, ARCH_SP) & ~7ull, sizeof nearest))
        return false;
    for (int i = 0; i < NEAREST_WORDS; i++)
        if (sleep_is_about_to(nearest[i]))
            return true;
    return false;
}

/* The calling thread is known from now on. */
static void know(struct agent_thread *owner) {
    if (thread_self != owner)
        owner->hidden_signal = 0;
    thread_self = owner;
    sleep_burst = 0;
    trigger_poke_no_more(owner);
    owner->masked = &sleep_masked;
    owner->labels = &labels_self;
    if (owner->tid == (pid_t)sys0(SYS_getpid))
        thread_find_main_stack(owner);
    else
        find_stack(owner, (uint64_t)(uintptr_t)__builtin_frame_address(0));
    thread_note_end(owner);
}

static void forget(struct agent_thread *owner) {
    owner->masked = NULL;
    sleep_burst = LATE_UNMET;
}

/* Time of a thread that sleeps counts from when it was found, where such time is counted. */
static void count_unmet(struct agent_thread *thread) {
    uint64_t now = ticker_now(CLOCK_MONOTONIC);
    if (wire_clock_sleeps(agent.settings.clock) && thread->found_ns < now)
        unsampled_add(now - thread->found_ns, true);
    thread->found_ns = now;
}

/* Those that were woken together look for a session together. */
static void await_session(const struct agent_thread *owner) {
    for (int i = 0; i < AWAIT_NAPS && owner->poked && session_is_held(); i++)
        sys_nap(LATE_WAKE_NS);
}

struct agent_thread *late_threads_adopt(struct agent_thread *owner, const ucontext_t *uc) {
    struct agent_thread *self = thread_self;
    if (atomic_load(&owner->used) == 0 || owner->tid != (pid_t)sys0(SYS_gettid))
        return NULL;
    if (owner->ending) {
        trigger_free(owner);
        return NULL;
    }
    if (has_other(self, owner)) {
        leave_double(self, owner);
        return NULL;
    }
    await_session(owner);
    if (is_about_to_sleep(uc, owner->poked) || atomic_load(&confine_held)) {
        owner->poked = false;
        trigger_put_off(owner);
        return NULL;
    }
    know(owner);
    count_unmet(owner);
    return owner;
}

static bool has_events_alone(const struct sampling_plan *plan) {
    return !plan->idle && plan->coarse_ns != 0 && wire_of_events(agent.settings.collector);
}

/* One that has found no session is met again at its next call, and one that was woken sleeps on,
 * and is to be woken again. */
void late_threads_after_tick(struct agent_thread *thread) {
    const struct sampling_plan *plan = &thread->trigger.plan;
    bool begins = plan->wall_ns != 0 || plan->fine_ns != 0 || has_events_alone(plan);
    bool poked = thread->poked;
    thread->poked = false;
    if (hcct_likely(begins || agent.settings.ticks_only))
        return;
    forget(thread);
    thread->poked =
        poked && ++thread->pokes < POKES_AGAIN && trigger_poke_later(thread, POKE_AGAIN_NS);
}

static struct agent_thread *own_context(pid_t tid, uint64_t blocked) {
    struct agent_thread *thread = late_threads_find(tid);
    if (thread != NULL && !thread->timerless)
        return thread;
    return add(tid, blocked) == WIRE_ATTACH_SAMPLED ? late_threads_find(tid) : NULL;
}

/* Its timer is made, and begins to be used. Where there is no session yet it goes on waiting for
 * its first tick, or for its next call. */
static void begin_met(struct agent_thread *thread) {
    uint32_t before;
    if (!confine_enter(thread, &before))
        return;
    if (!thread->ending) {
        know(thread);
        count_unmet(thread);
        if (!trigger_begin_met(thread))
            forget(thread);
        thread->poked = false;
    }
    confine_leave(thread, before);
}

/* The mask is the thread's own in a child that shares its parent's memory, but nothing else. */
struct agent_thread *late_threads_meet(void) {
    uint64_t all = ~signal_synchronous(), mask = 0;
    if (agent.process == NULL || !atomic_load(&agent.process->attached) || !agent_owns_memory())
        return NULL;
    sys4(SYS_rt_sigprocmask, SIG_BLOCK, &all, &mask, KERNEL_SIGSET_BYTES);
    struct agent_thread *thread = own_context((pid_t)sys0(SYS_gettid), mask);
    if (!takes_signal(thread, mask))
        sleep_burst = 0; /* a tick finds it if it opens the signal */
    else if (thread != NULL && thread->masked == NULL && !thread->ending)
        begin_met(thread);
    sys4(SYS_rt_sigprocmask, SIG_SETMASK, &mask, NULL, KERNEL_SIGSET_BYTES);
    return thread_self != NULL && thread_is_met(thread_self) ? thread_self : NULL;
}

/* It is known as it has a context, whether that has a timer or not. */
static void begin_at_event(pid_t tid) {
    struct agent_thread *thread = late_threads_find(tid);
    uint32_t before;
    if (thread == NULL || thread->ending)
        thread = take_context(thread, tid);
    if (thread == NULL || !confine_enter(thread, &before))
        return;
    if (atomic_load(&agent.process->attached)) {
        thread->timerless = !thread->trigger.ticker[TRIGGER_CPU].made;
        know(thread);
    } else {
        thread->ending = true;
    }
    confine_leave(thread, before);
}

struct agent_thread *late_threads_meet_at_event(void) {
    uint64_t all = ~signal_synchronous(), mask = 0;
    if (late_threads_meet() != NULL)
        return thread_self;
    if (agent.process == NULL || !atomic_load(&agent.process->attached) || !agent_owns_memory())
        return NULL;
    sys4(SYS_rt_sigprocmask, SIG_BLOCK, &all, &mask, KERNEL_SIGSET_BYTES);
    pid_t tid = (pid_t)sys0(SYS_gettid);
    if ((mask & signal_bit(signal_number())) != 0 && is_libcs(tid))
        begin_at_event(tid);
    sys4(SYS_rt_sigprocmask, SIG_SETMASK, &mask, NULL, KERNEL_SIGSET_BYTES);
    return thread_self != NULL && thread_is_met(thread_self) ? thread_self : NULL;
}

/* Its calls are made as before. It may have ended, and its memory be gone. */
static void rest(struct agent_thread *thread) {
    uintptr_t distance = (uintptr_t)&sleep_burst - (uintptr_t)&sleep_masked;
    if (thread->masked != NULL)
        (void)stack_write((uintptr_t)thread->masked + distance, LATE_UNMET);
}

void late_threads_last_tick(struct agent_thread *thread) {
    trigger_free(thread);
    sleep_burst = LATE_UNMET;
}

/* ---- all of them ---- */

#define SEARCH_NS  20000000u   /* between two questions whether their number has changed */
#define FORCED_NS  1000000000u /* and two searches where it has not */
#define COST_TIMES 100u        /* a search may take one part in so many of the time */

static _Atomic uint32_t searching;
static _Atomic uint64_t due_ns; /* CLOCK_MONOTONIC */
static uint64_t forced_ns;
static uint64_t threads_then;
static uint32_t search_number;

/* What it has used until now nobody has seen. */
static void count_unseen(pid_t tid) {
    bool of_time = !wire_of_events(agent.settings.collector);
    struct wire_session *session = of_time ? session_enter(thread_self) : NULL;
    if (session == NULL)
        return;
    atomic_fetch_add(&session->lost_ns[agent.settings.ticks_to], ticker_now(ticker_cpu_clock(tid)));
    session_leave(thread_self);
}

static void see(int tasks, const char *name) {
    pid_t tid = late_tasks_number(name);
    struct agent_thread *thread = tid > 0 ? late_threads_find(tid) : NULL;
    if (tid <= 0)
        return;
    if ((thread == NULL || thread->timerless) &&
        add(tid, late_tasks_blocked(tasks, name)) == WIRE_ATTACH_SAMPLED) {
        thread = late_threads_find(tid);
        count_unseen(tid);
    }
    if (thread == NULL)
        return;
    thread->seen = search_number;
    if (thread != thread_self && !thread->ending)
        late_wake_waiting(tasks, name, thread);
}

struct entry { /* linux_dirent64, of getdents64 */
    uint64_t inode;
    int64_t offset;
    unsigned short length;
    unsigned char type;
    char name[];
};

static bool see_all(void) {
    static _Alignas(8) char room[4096];
    long got, tasks = late_tasks_open();
    if (tasks < 0)
        return false;
    while ((got = sys3(SYS_getdents64, tasks, room, sizeof room)) > 0)
        for (long at = 0; at < got;) {
            const struct entry *entry = (const void *)(room + at);
            see((int)tasks, entry->name);
            at += entry->length;
        }
    sys1(SYS_close, tasks);
    return got == 0;
}

/* One that the kernel knows no more: it does not tell us any more that it ends. One that has no
 * number yet is about to begin, and one that is not on the list may have begun since. */
static bool has_ended(const struct agent_thread *thread, pid_t tid) {
    return thread != thread_self && tid != 0 && thread->seen != search_number &&
           sys3(SYS_tgkill, sys0(SYS_getpid), tid, 0) == -ESRCH &&
           atomic_load(&thread->used) != 0 && thread->tid == tid;
}

static void end_others(void) {
    for (struct agent_thread *t = thread_first(); t != NULL; t = t->next) {
        if (atomic_load(&t->used) == 0 || !has_ended(t, t->tid))
            continue;
        trigger_stop(t);
        session_give_slot_of(t);
        thread_release(t);
    }
}

static void search(uint64_t now) {
    uint64_t n = late_tasks_count();
    if (n == threads_then && now < forced_ns)
        return;
    if (now >= forced_ns) {
        modules_recheck();
        signal_learn_ignored(); /* what the application has set since was not seen */
        late_bind_search_all();
    }
    threads_then = n;
    forced_ns = now + FORCED_NS;
    search_number++;
    if (see_all())
        end_others();
}

void late_threads_search(void) {
    uint64_t now = ticker_now(CLOCK_MONOTONIC);
    uint32_t nobody = 0;
    late_bind_search();
    if (now < atomic_load_explicit(&due_ns, memory_order_relaxed) ||
        !atomic_compare_exchange_strong(&searching, &nobody, 1))
        return;
    search(now);
    uint64_t after = ticker_now(CLOCK_MONOTONIC), pause = (after - now) * COST_TIMES;
    atomic_store(&due_ns, after + (pause > SEARCH_NS ? pause : SEARCH_NS));
    atomic_store(&searching, 0);
}

/* ---- who attaches and leaves ---- */

/* Nobody else searches: nobody is inside. */
void late_threads_add(struct wire_attach *request, uint32_t fates[WIRE_ATTACH_FATES]) {
    uint32_t nobody = 0;
    bool mine = atomic_compare_exchange_strong(&searching, &nobody, 1);
    for (uint32_t i = 0; i < request->n_threads && i < WIRE_ATTACH_THREADS; i++)
        fates[add(request->thread[i].tid, request->thread[i].blocked)]++;
    if (mine)
        atomic_store(&searching, 0);
}

void late_threads_wake(struct wire_attach *request) {
    uint32_t nobody = 0;
    if (!atomic_compare_exchange_strong(&searching, &nobody, 1))
        return;
    late_wake_all(request);
    atomic_store(&searching, 0);
}

bool late_threads_wake_named(const struct wire_attach *request) {
    uint32_t nobody = 0;
    if (!atomic_compare_exchange_strong(&searching, &nobody, 1))
        return false;
    late_wake_named(request);
    atomic_store(&searching, 0);
    return true;
}

/* A tick that wakes it may be on its way, and goes with the timer. */
static bool may_be_waking(const struct agent_thread *thread) {
    const struct ticker *ticker = thread->trigger.ticker;
    if (thread == thread_self || !ticker[TRIGGER_CPU].made)
        return false;
    if (thread->masked == NULL)
        return thread->poked;
    return (ticker[TRIGGER_FINE].made || ticker[TRIGGER_WALL].made) && !is_masked(thread);
}

void late_threads_count(void) {
    struct wire_session *session = atomic_load(&agent.process->session);
    for (struct agent_thread *t = thread_first(); t != NULL && session != NULL; t = t->next)
        if (atomic_load(&t->used) != 0 && t->masked == NULL && !t->ending && t->tid != 0)
            count_unmet(t);
    if (session != NULL)
        unsampled_tell(session);
}

void late_threads_leave(void) {
    for (struct agent_thread *t = thread_first(); t != NULL; t = t->next) {
        if (atomic_load(&t->used) == 0)
            continue;
        t->ending = true; /* a tick that is on its way does nothing */
        if (may_be_waking(t))
            trigger_stop_asleep(t);
        else
            trigger_stop(t);
        memset(t->streams, 0, sizeof t->streams);
        rest(t);
    }
    atomic_store(&due_ns, 0);
    threads_then = 0;
}

static bool is_gone(const struct agent_thread *thread) {
    return thread->tid != 0 && sys3(SYS_tgkill, sys0(SYS_getpid), thread->tid, 0) == -ESRCH;
}

bool late_threads_have_left(void) {
    bool all = true;
    for (struct agent_thread *t = thread_first(); t != NULL; t = t->next) {
        if (atomic_load(&t->used) == 0 || !t->ending)
            continue;
        if (is_gone(t)) {
            trigger_free(t);
            thread_release(t);
        }
        all &= !t->trigger.ticker[TRIGGER_CPU].made;
    }
    return all;
}

void late_threads_forget(void) {
    for (struct agent_thread *t = thread_first(); t != NULL; t = t->next)
        if (atomic_load(&t->used) != 0)
            thread_release(t);
    atomic_store(&due_ns, 0);
    atomic_store(&searching, 0);
    threads_then = 0;
}
