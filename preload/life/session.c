/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * session.c - one session at a time, replaced without a lock.
 *
 * Attaching unmaps the old session's memory, so nobody may be using it. Each thread says so by its
 * `busy` word before it reads the session, and the attacher says so by `attaching` before it reads
 * the busy words; both sides in sequentially consistent order, so that at least one of two sees the
 * other and backs off (Dekker). Nobody waits: the samples of the loser are counted as lost.
 */
#include "preload/life/session.h"

#include <linux/futex.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>

#include "preload/context/send.h"
#include "preload/labels/marks.h"
#include "preload/life/child_ends.h"
#include "preload/life/connect.h"
#include "preload/life/hooks.h"
#include "preload/life/modules.h"
#include "preload/life/patience.h"
#include "preload/life/session_blocks.h"
#include "preload/life/session_left.h"
#include "preload/life/session_slots.h"
#include "preload/life/signal.h"
#include "preload/life/sys.h"
#include "preload/life/unsampled.h"
#include "preload/python/thread.h"
#include "preload/wrap/libc.h"

/* For a daemon's answer. A process that was just begun, or forked, may be over before another try;
 * of one in the middle of its work: patience.h. */
#define FIRST_WAIT_MS 100
#define START_WAIT_MS 1000 /* the first, where all is to be seen: hcctd may be busy */
#define CALLS_WAIT_MS 2000 /* the first, where each call is to be counted: hcctd is not stopped */

static bool says_goodbye(struct wire_session *session) {
    return (atomic_load_explicit(&session->control, memory_order_acquire) & WIRE_CONTROL_GONE) != 0;
}

static bool is_killed(const struct wire_arena *arena) {
    return (atomic_load_explicit(&arena->daemon, memory_order_acquire) & FUTEX_OWNER_DIED) != 0;
}

bool session_was_ended(struct wire_session *session, const struct wire_arena *arena) {
    return says_goodbye(session) || is_killed(arena);
}

bool session_was_read(struct wire_session *session, const struct wire_arena *arena) {
    uint32_t control = atomic_load_explicit(&session->control, memory_order_acquire);
    return (control & WIRE_CONTROL_READ) != 0 || is_killed(arena);
}

bool session_is_dead(struct wire_session *session) {
    if (session_was_ended(session, atomic_load(&agent.process->arena)))
        return true;
    uint64_t beat = atomic_load_explicit(&session->heartbeat_ns, memory_order_relaxed);
    uint64_t ahead = atomic_load_explicit(&agent.process->ahead_ns, memory_order_relaxed);
    int64_t silent_ns = (int64_t)(libc_coarse_ns() - beat - ahead);
    return silent_ns > (int64_t)WIRE_HEARTBEAT_DEAD_NS;
}

/* The daemon has just made the session. */
static void learn_clock(struct agent_process *process, struct wire_session *session) {
    atomic_store(&process->ahead_ns, libc_coarse_ns() - atomic_load(&session->heartbeat_ns));
}

bool session_is_held(void) {
    return atomic_load_explicit(&agent.process->attaching, memory_order_acquire) != 0 ||
           atomic_load_explicit(&agent.process->forks, memory_order_relaxed) != 0;
}

/* Who attaches counts the session first, and is done after that. */
bool session_may_come(uint32_t before) {
    return session_is_held() || session_epoch() != before;
}

static bool others_are_out(void) {
    for (struct agent_thread *t = thread_first(); t != NULL; t = t->next)
        if (t != thread_self && atomic_load(&t->busy) != 0)
            return false;
    return true;
}

/* ---- sessions that are left (session_left.h) ---- */

/* What a daemon that has fallen silent might still read. */
static void forget_silent(struct agent_process *process) {
    if (process->silent.session != NULL)
        session_left_unmap(&process->silent);
    process->silent.session = NULL;
}

/* How it was with the daemon when the session was seen last, for the time after that. */
static void note_silence(struct agent_process *process) {
    struct wire_session *session = atomic_load(&process->session);
    if (session != NULL)
        process->fell_silent = !session_was_ended(session, atomic_load(&process->arena));
}

/* Nobody uses it, and nothing of it is read: it may be hidden. */
static struct agent_left take_out(struct agent_process *process) {
    const struct agent_left old = {atomic_load(&process->session), atomic_load(&process->arena),
                                   process->session_bytes, process->arena_bytes};
    atomic_store(&process->session, NULL);
    session_blocks_leave();
    return old;
}

/* `waits`: for the daemon's last word. */
static void give_up(const struct agent_left *old, bool waits) {
    if (old->session == NULL)
        return;
    if (agent.settings.collector == WIRE_COLLECT_CALLS)
        session_left_keep(old, waits);
    else
        session_left_unmap(old);
}

static void drop(struct agent_process *process) {
    const struct agent_left old = take_out(process);
    forget_silent(process);
    give_up(&old, false);
}

/* Another one is looked for. */
static void set_aside(struct agent_process *process) {
    note_silence(process);
    const struct agent_left old = take_out(process);
    if (old.session != NULL && process->fell_silent &&
        agent.settings.collector == WIRE_COLLECT_WALKS)
        process->silent = old;
    else
        give_up(&old, true);
}

/* Of the last session: there is another one now, whose memory may need its room. */
static bool connect_daemon(struct agent_process *process, const struct wire_hello *request,
                           int wait_ms, struct connect_result *found) {
    struct connect_answer answer;
    set_aside(process);
    if (!connect_ask(agent.settings.socket, request, wait_ms, &answer)) {
        process->fell_silent |= answer.reached && atomic_load(&process->epoch) == 0;
        if (answer.waited)
            atomic_fetch_add(&process->unanswered, 1);
        return false;
    }
    atomic_store(&process->unanswered, 0);
    forget_silent(process);
    return connect_map(&answer, found);
}

static bool attach(struct agent_process *process, int wait_ms) {
    struct connect_result found;
    const struct agent_settings *set = &agent.settings;
    struct wire_hello request = {.rate = set->rate,
                                 .flags = (set->follow ? 0 : WIRE_HELLO_NO_FOLLOW) |
                                          (agent_hooks.late ? WIRE_HELLO_ATTACHED : 0) |
                                          (set->lines ? WIRE_HELLO_LINES : 0) |
                                          (set->threads ? WIRE_HELLO_THREADS : 0) |
                                          set->budget_ppm << WIRE_HELLO_BUDGET_SHIFT,
                                 .clock = (uint16_t)set->clock,
                                 .burst_length_ns = set->burst_length_ns,
                                 .burst_period_ns = set->burst_period_ns,
                                 .collector = set->metric[0],
                                 .more = (uint8_t)(set->metrics - 1),
                                 .every = set->every | (set->every_each ? WIRE_EVERY_EACH : 0),
                                 .credit = (uint16_t)set->credit,
                                 .sessions = atomic_load(&process->epoch)};
    memcpy(request.others, &set->metric[1], sizeof request.others);
    if (!connect_daemon(process, &request, wait_ms, &found))
        return false;
    struct wire_session *session = found.session;
    memcpy(session->tags, set->tags, sizeof session->tags);
    memcpy(session->command, agent.command, sizeof session->command);
    session->earlier_ns = agent.process->earlier_ns;
    session->is_child = process->is_child;
    bool first = atomic_load(&process->epoch) == 0 && !agent_hooks.late;
    atomic_store(&session->start_ns, first ? agent.process->earlier_ns : 0);
    unsampled_pass(session);
    atomic_store(&session->forked, atomic_exchange(&process->forked, 0));
    atomic_store(&session->signal, (uint32_t)signal_number());
    learn_clock(process, session);
    modules_reset();
    atomic_store(&process->arena, found.arena);
    process->arena_bytes = found.arena_bytes;
    process->slot_bytes = found.slot_bytes;
    process->session_bytes = found.session_bytes;
    process->slots = found.slots;
    process->attached_ns = ticker_now(CLOCK_MONOTONIC);
    atomic_fetch_add(&process->epoch, 1);
    if (thread_self != NULL)
        modules_learn_again(thread_self, session);
    atomic_store(&process->session, session);
    return true;
}

static bool has_session(struct agent_process *process) {
    struct wire_session *session = atomic_load(&process->session);
    return session != NULL && !session_is_dead(session);
}

static bool is_due(struct agent_process *process, bool now) {
    uint64_t last = atomic_load(&process->last_try_ns); /* before the clock is read */
    uint32_t unanswered = atomic_load(&process->unanswered);
    return now || libc_coarse_ns() - last >= patience_pause_ns(unanswered, agent_hooks.late);
}

static int first_wait_ms(void) {
    const struct agent_settings *set = &agent.settings;
    bool all_calls = set->collector == WIRE_COLLECT_CALLS && set->burst_length_ns == 0;
    return all_calls ? CALLS_WAIT_MS : set->attach_at_start ? START_WAIT_MS : FIRST_WAIT_MS;
}

/* `attaching` is ours: another thread may have tried, or have found one, just before. */
static bool attach_if_due(struct agent_process *process, bool now) {
    bool begins = atomic_load(&process->last_try_ns) == 0 && !agent_hooks.late;
    if (has_session(process) || !is_due(process, now) || !others_are_out())
        return false; /* others are in their handlers for a moment only */
    atomic_store(&process->last_try_ns, libc_coarse_ns());
    return attach(process,
                  begins ? first_wait_ms() : patience_wait_ms(atomic_load(&process->unanswered)));
}

bool session_attach(bool now) {
    struct agent_process *process = agent.process;
    uint32_t nobody = 0;
    if (atomic_load(&process->barred) || !is_due(process, now) ||
        !atomic_compare_exchange_strong(&process->attaching, &nobody, 1))
        return false;
    bool attached = atomic_load(&process->forks) == 0 && attach_if_due(process, now);
    atomic_store(&process->attaching, 0);
    return attached;
}

/* ---- around a fork ---- */

#define NAP_NS          50000
#define FORK_WAITS_MOST (2 * FIRST_WAIT_MS * 1000000l / NAP_NS)

static void nap(void) {
    sys_nap(NAP_NS);
}

/* Who attaches says so before it looks at `forks`. */
void session_before_fork(void) {
    atomic_fetch_add(&agent.process->forks, 1);
    for (int i = 0; i < FORK_WAITS_MOST && atomic_load(&agent.process->attaching) != 0; i++)
        nap();
}

static void count_children(struct agent_process *process, uint32_t n) {
    struct wire_session *session = session_enter(thread_self);
    if (session == NULL) {
        atomic_fetch_add(&process->forked, n);
        return;
    }
    atomic_fetch_add(&session->forked, n);
    session_leave(thread_self);
}

void session_hear_children(void) {
    uint32_t forked = (uint32_t)child_ends_forked();
    unsampled_add(child_ends_lost(), true);
    if (forked != 0 && thread_self != NULL)
        count_children(agent.process, forked);
}

void session_after_fork(void) {
    atomic_fetch_sub(&agent.process->forks, 1);
    if (agent.settings.follow) /* one that has failed, too: what it has returned is not known */
        count_children(agent.process, 1);
}

/* ---- while the application locks its memory ---- */

#define NAPS_MOST 400

static uint64_t hidden_from;               /* bytes from the session's beginning */
static struct agent_thread *_Atomic hider; /* set before the session is hidden until after that */

/* Reports of calls write without asking, but only to slots that are ready: these are the least of
 * it, and no thread takes another one meanwhile. */
static uint64_t first_to_hide(const struct agent_process *process) {
    const struct wire_session *session = atomic_load(&process->session);
    if (agent.settings.collector != WIRE_COLLECT_CALLS)
        return 0;
    uint64_t ready = atomic_load(&session->slots_ready);
    uint64_t end = WIRE_SLOTS_OFFSET + ready * process->slot_bytes;
    return end < process->session_bytes ? end : process->session_bytes;
}

static void set_rights(const struct agent_process *process, int session, int arena) {
    char *start = (char *)atomic_load(&process->session) + hidden_from;
    if (hidden_from < process->session_bytes)
        sys3(SYS_mprotect, start, process->session_bytes - hidden_from, session);
    sys3(SYS_mprotect, atomic_load(&process->arena), process->arena_bytes, arena);
}

static bool hide(struct agent_process *process) {
    uint32_t nobody = 0;
    if (!atomic_compare_exchange_strong(&process->attaching, &nobody, 1))
        return false;
    for (int i = 0; i < NAPS_MOST && !others_are_out(); i++)
        nap();
    if (others_are_out() && atomic_load(&process->session) != NULL) {
        note_silence(process);
        hidden_from = first_to_hide(process);
        set_rights(process, PROT_NONE, PROT_NONE);
        return true;
    }
    atomic_store(&process->attaching, 0);
    return false;
}

/* What was left of a daemon that has fallen silent would be locked as well. */
static void forget_silent_alone(struct agent_process *process) {
    uint32_t nobody = 0;
    for (int i = 0; i < NAPS_MOST && process->silent.session != NULL; i++, nobody = 0)
        if (!atomic_compare_exchange_strong(&process->attaching, &nobody, 1)) {
            nap();
        } else {
            if (others_are_out())
                forget_silent(process);
            atomic_store(&process->attaching, 0);
        }
}

bool session_hide(void) {
    struct agent_thread *nobody = NULL;
    forget_silent_alone(agent.process);
    if (atomic_load(&agent.process->session) == NULL ||
        !atomic_compare_exchange_strong(&hider, &nobody, thread_self))
        return false;
    if (hide(agent.process))
        return true;
    atomic_store(&hider, NULL);
    return false;
}

void session_drop(void) {
    drop(agent.process);
    atomic_store(&agent.process->last_try_ns, 1); /* long ago: hcctd is there */
}

void session_leave_for_good(void) {
    atomic_store(&agent.process->barred, true);
    set_rights(agent.process, PROT_READ | PROT_WRITE, PROT_READ); /* reports see how it ends */
    drop(agent.process);
}

void session_give_back(void) {
    struct agent_process *process = agent.process;
    struct wire_session *session = atomic_load(&process->session);
    atomic_store(&process->barred, true);
    process->awaits = false;
    for (struct agent_thread *t = thread_first(); t != NULL; t = t->next)
        if (t->epoch == atomic_load(&process->epoch) && session != NULL)
            session_end_slots(t);
    if (session != NULL)
        atomic_store(&session->left, 1);
    drop(process);
}

/* As in a program that has just begun. */
void session_may_begin(void) {
    struct agent_process *process = agent.process;
    atomic_store(&process->last_try_ns, 0);
    process->awaits = true;
    atomic_store(&process->barred, false);
}

/* Stands around what is written into the session that was left as its daemon has fallen silent. As
 * session_enter. */
static struct wire_session *enter_silent(struct agent_thread *thread) {
    struct agent_process *process = agent.process;
    atomic_store(&thread->busy, atomic_load_explicit(&thread->busy, memory_order_relaxed) + 1);
    if (atomic_load(&process->attaching) == 0 && process->silent.session != NULL)
        return process->silent.session;
    session_leave(thread);
    return NULL;
}

/* A child that has never had a session has its family to report it. */
static void note_end_in_silence(struct agent_thread *thread) {
    struct agent_process *process = agent.process;
    struct wire_session *session = enter_silent(thread);
    if (session == NULL && process->is_child && atomic_load(&process->epoch) == 0)
        child_ends_leave(atomic_exchange(&process->unsampled.lost_ns, 0),
                         atomic_exchange(&process->forked, 0));
    if (session == NULL)
        return;
    unsampled_leave(session);
    atomic_store(&session->cpu_ns, ticker_now(CLOCK_PROCESS_CPUTIME_ID));
    session_leave(thread);
}

void session_note_end(struct agent_thread *thread) {
    session_hear_children();
    struct wire_session *session = session_enter(thread);
    session_free_left();
    unsampled_account_all();
    if (session == NULL) {
        note_end_in_silence(thread);
        return;
    }
    session_tell_labels(session);
    session_tell_lost(session);
    marks_send(session);
    unsampled_tell(session);
    context_send(session);
    atomic_store(&session->cpu_ns, ticker_now(CLOCK_PROCESS_CPUTIME_ID));
    session_leave(thread);
}

void session_note_unsampled(void) {
    struct wire_session *session = thread_self != NULL ? enter_silent(thread_self) : NULL;
    if (session == NULL)
        return;
    unsampled_leave(session);
    session_leave(thread_self);
}

bool session_fell_silent(void) {
    const struct agent_process *process = agent.process;
    struct agent_thread *thread = thread_self;
    struct wire_session *session = NULL;
    if (thread == NULL)
        return process->fell_silent;
    atomic_store(&thread->busy, atomic_load_explicit(&thread->busy, memory_order_relaxed) + 1);
    if (atomic_load(&process->attaching) == 0)
        session = atomic_load(&process->session);
    bool silent = session != NULL ? !session_was_ended(session, atomic_load(&process->arena))
                                  : process->fell_silent;
    session_leave(thread);
    return silent;
}

void session_show(void) {
    struct agent_process *process = agent.process;
    struct wire_session *session = atomic_load(&process->session);
    if (session != NULL) {
        sys2(SYS_munlock, session, process->session_bytes);
        sys2(SYS_munlock, atomic_load(&process->arena), process->arena_bytes);
        set_rights(process, PROT_READ | PROT_WRITE, PROT_READ);
    }
    atomic_store(&process->attaching, 0);
    atomic_store(&hider, NULL);
}

static bool is_hidden_by_other(const struct agent_thread *thread) {
    const struct agent_thread *by = atomic_load(&hider);
    return by != NULL && by != thread;
}

/* They are in the arena of the session in which they were found, maybe by another thread that had
 * this context before. */
static void forget_rules(struct agent_thread *thread) {
    uint64_t session = agent.process->attached_ns;
    if (thread->memo_session == session)
        memo_forget_walk(&thread->memo);
    else
        memo_forget(&thread->memo);
    thread->memo_session = session;
}

static void begin_epoch(struct agent_thread *thread, uint32_t epoch) {
    thread->epoch = epoch;
    memset(thread->streams, 0, sizeof thread->streams);
    if (thread->python != NULL)
        python_thread_forget(thread->python);
    thread->shown.depth = 0;
    forget_rules(thread);
    memset(thread->module_cache, 0, sizeof thread->module_cache);
}

/* Only its own thread writes `busy`, and what a handler adds it has taken off at its end. */
static struct wire_session *enter(struct agent_thread *thread) {
    struct agent_process *process = agent.process;
    struct wire_session *session = NULL;
    atomic_store(&thread->busy, atomic_load_explicit(&thread->busy, memory_order_relaxed) + 1);
    if (atomic_load(&process->attaching) == 0)
        session = atomic_load(&process->session);
    if (session != NULL && !session_is_dead(session))
        return session;
    session_leave(thread);
    return NULL;
}

struct wire_session *session_enter(struct agent_thread *thread) {
    struct wire_session *session = enter(thread);
    uint32_t epoch = atomic_load(&agent.process->epoch);
    if (session != NULL && thread->epoch != epoch)
        begin_epoch(thread, epoch);
    return session;
}

/* A report in the middle of which another thread locks all memory goes on after that. */
bool session_hold(struct agent_thread *thread, struct wire_session *session) {
    bool hidden = is_hidden_by_other(thread);
    struct wire_session *now = enter(thread);
    while (now == NULL && (hidden || is_hidden_by_other(thread))) {
        nap();
        hidden = is_hidden_by_other(thread);
        now = enter(thread);
    }
    if (now == session && now != NULL)
        return true;
    if (now != NULL)
        session_leave(thread);
    return false;
}

/* A child of fork begins with 0, whatever was under way where its parent forked. */
void session_leave(struct agent_thread *thread) {
    uint32_t depth = atomic_load_explicit(&thread->busy, memory_order_relaxed);
    atomic_store_explicit(&thread->busy, depth > 0 ? depth - 1 : 0, memory_order_release);
}

bool session_seems_alive(struct wire_session *session) {
    return atomic_load_explicit(&agent.process->session, memory_order_acquire) == session &&
           !says_goodbye(session);
}

void session_give_slot_of(struct agent_thread *ended) {
    struct wire_session *session = session_enter(thread_self);
    if (session == NULL)
        return;
    if (ended->epoch == thread_self->epoch)
        session_end_slots(ended);
    memset(ended->streams, 0, sizeof ended->streams);
    session_leave(thread_self);
}

void session_give_slot(struct agent_thread *thread) {
    struct wire_session *session = session_enter(thread);
    if (session == NULL)
        return;
    session_end_slots(thread);
    session_leave(thread);
}
