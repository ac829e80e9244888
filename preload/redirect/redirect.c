/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * redirect.c - the modules that are redirected, and when their texts change places.
 *
 * One thread at a time makes a module ready or changes places; who finds another one at it goes on,
 * as that one looks again before it is done. What is wanted is one number: the threads whose calls
 * are followed. Nothing changes while an object may be going (dlclose).
 *
 * A burst may begin only where the texts are redirected: what a thread has found of its open calls
 * holds as long as none of its calls is missed.
 */
#include "preload/redirect/redirect.h"

#include <dlfcn.h>
#include <errno.h>
#include <sys/mman.h>
#include <time.h>

#include "common/wire/call_sites.h"
#include "preload/calls/hot.h"
#include "preload/life/agent.h"
#include "preload/life/confine.h"
#include "preload/life/memory.h"
#include "preload/life/modules.h"
#include "preload/life/session.h"
#include "preload/life/sys.h"
#include "preload/redirect/enter.h"
#include "preload/redirect/form.h"
#include "preload/redirect/module.h"
#include "preload/redirect/stub.h"
#include "preload/redirect/text_copy.h"
#include "preload/sample/ticker.h"
#include "preload/wrap/real.h"

#define NAP_NS           200000l
#define WAITS_FOR_SITES  50000 /* naps until the program begins all the same */
#define WAITS_FOR_OTHER  5000  /* naps until another thread has changed places */
#define WAITS_FOR_OPENED 5000  /* the same as for sites, of a library that was opened */

static struct redirect_module *_Atomic modules; /* NULL: none was ever redirected */
static _Atomic uint32_t used;                   /* of them */
static _Atomic uint32_t users;                  /* threads whose calls are followed ... */
static _Atomic bool always;                     /* ... and one more: redirect_hold */
static _Atomic uint32_t changing;               /* one thread changes something */
static _Atomic bool all_on;                     /* since the last change */
static _Atomic uint32_t closing;                /* threads in dlclose */
static _Atomic bool suspended;
static _Atomic uint32_t readers;   /* redirect_reads */
static uint32_t numbers;           /* given to modules */
static _Atomic uint64_t opened_ns; /* the first dlopen since all objects were known, 0: none */
static _Atomic uint64_t learned_from_ns, learned_to_ns; /* what this and dlsym were, meanwhile */
static _Atomic uint32_t answered;       /* modules of the log that need no other answer ... */
static _Atomic uint32_t answered_epoch; /* ... in this session */
static _Atomic bool as_in_parent;       /* a child: all are as they were at the fork */

static void nap(void) {
    const struct timespec time = {0, NAP_NS};
    sys2(SYS_nanosleep, &time, NULL);
}

static bool begin_change(void) {
    uint32_t nobody = 0;
    return atomic_compare_exchange_strong(&changing, &nobody, 1);
}

static void end_change(void) {
    atomic_store(&changing, 0);
}

/* ---- changing places ---- */

static bool is_wanted(void) {
    return atomic_load(&users) != 0 && !atomic_load(&suspended);
}

static void switch_all(bool on) {
    for (uint32_t i = 0; i < atomic_load(&used); i++) {
        struct redirect_module *m = &atomic_load(&modules)[i];
        if (atomic_load(&m->there) != 0)
            text_copy_switch(m, on);
    }
    atomic_store(&all_on, on);
}

static bool may_change(void) {
    return atomic_load(&modules) != NULL && atomic_load(&closing) == 0;
}

/* The texts are as is wanted, or another thread is about to see to it. */
static void follow_users(void) {
    bool wanted;
    do {
        if (!may_change() || !begin_change())
            return;
        wanted = is_wanted();
        if (atomic_load(&closing) == 0)
            switch_all(wanted);
        end_change();
    } while (wanted != is_wanted());
}

/* Who changes something after this was asked finds the user who asked. */
static bool is_on(void) {
    return atomic_load(&modules) == NULL || (atomic_load(&changing) == 0 && atomic_load(&all_on));
}

/* False: another thread is at it, and has perhaps been asked to wait for its processor. */
static bool add_user(void) {
    atomic_fetch_add(&users, 1);
    if (!is_on())
        follow_users();
    return is_on();
}

bool redirect_use(struct calls *c) {
    struct redirect_thread *r = c->redirect;
    if (r == NULL || atomic_exchange(&r->uses, true))
        return true;
    r->unnamed.word = NULL;
    return add_user();
}

static void wait_for_change(void) {
    for (int i = 0; i < WAITS_FOR_OTHER && atomic_load(&changing) != 0; i++)
        nap();
}

void redirect_await_on(void) {
    if (is_on())
        return;
    wait_for_change();
    follow_users();
}

void redirect_hold(bool wanted) {
    if (!redirect_is_meant() || atomic_exchange(&always, wanted) == wanted)
        return;
    if (wanted)
        atomic_fetch_add(&users, 1);
    else
        atomic_fetch_sub(&users, 1);
    follow_users();
}

void redirect_leave(struct calls *c) {
    struct redirect_thread *r = c->redirect;
    if (r == NULL || !atomic_exchange(&r->uses, false))
        return;
    if (r->unnamed.word != NULL)
        count_lost(c);
    r->unnamed.word = NULL;
    bool awake = !atomic_exchange(&r->dozes, false);
    if (atomic_fetch_sub(&users, awake) == awake && !confine_is_quiet())
        follow_users();
}

/* The texts stay as they are until another thread's burst ends: to change their places twice for
 * each short sleep would cost more than what others lose who run meanwhile. */
void redirect_doze(const struct agent_thread *thread) {
    struct redirect_thread *r = thread->redirect;
    if (r != NULL && atomic_load(&r->uses) && !atomic_exchange(&r->dozes, true))
        atomic_fetch_sub(&users, 1);
}

void redirect_wake(struct agent_thread *thread) {
    struct redirect_thread *r = thread->redirect;
    bool bursts = agent.settings.burst_length_ns != 0;
    if (r == NULL || !atomic_exchange(&r->dozes, false))
        return;
    uint64_t began_ns = bursts ? ticker_now(CLOCK_THREAD_CPUTIME_ID) : 0;
    bool on = add_user();
    calls_leave_out(thread->calls, began_ns);
    if (on)
        return;
    if (bursts)
        calls_burst_end(thread);
    else
        redirect_await_on();
}

/* ---- modules that become ready ---- */

static struct redirect_module *module_at(uint64_t text) {
    for (uint32_t i = 0; i < atomic_load(&used); i++) {
        struct redirect_module *m = &atomic_load(&modules)[i];
        if (atomic_load(&m->there) != 0 && m->text == text)
            return m;
    }
    return NULL;
}

/* A place in the list: an unused one, or one whose object has gone. */
static struct redirect_module *place(void) {
    if (atomic_load(&modules) == NULL)
        atomic_store(&modules, memory_map(REDIRECT_MODULES_MAX * sizeof(struct redirect_module),
                                          PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1));
    struct redirect_module *list = atomic_load(&modules);
    for (uint32_t i = 0; list != NULL && i < REDIRECT_MODULES_MAX; i++)
        if (atomic_load(&list[i].there) == 0)
            return &list[i];
    return NULL;
}

static void count(const struct redirect_module *m) {
    uint32_t n = (uint32_t)(m - atomic_load(&modules)) + 1;
    if (atomic_load(&used) < n)
        atomic_store(&used, n);
}

static bool object_at(uint64_t address, struct dl_find_object *found) {
    return real_dl_find_object((void *)address, found) == 0;
}

static enum calls_verdict make_ready(const struct wire_module *logged,
                                     const struct call_sites *table, uint32_t *sites) {
    struct dl_find_object object;
    uint64_t text = logged->bias + table->text_start;
    struct redirect_module *m = module_at(text);
    if (m == NULL) {
        m = place();
        if (m == NULL)
            return atomic_load(&modules) == NULL ? CALLS_NO_MEMORY : CALLS_TOO_MANY;
        if (!object_at(text, &object) || (uint64_t)object.dlfo_map_start != logged->start)
            return CALLS_TEXT_DIFFERS;
        *m = (struct redirect_module){.form = redirect_form(),
                                      .text = text,
                                      .bytes = table->text_bytes,
                                      .sites = table->sites,
                                      .callees = table->callees,
                                      .start = logged->start,
                                      .eh_frame = object.dlfo_eh_frame};
        enum calls_verdict verdict = text_copy_make(m, logged->bias, table);
        if (verdict != CALLS_FOLLOWED)
            return verdict;
        atomic_store(&m->there, ++numbers);
        count(m);
    }
    *sites = m->sites;
    return CALLS_FOLLOWED;
}

/* Where the linker has left gaps between segments (-z max-page-size), an object is to the loader
 * what it has of code, up to its last byte. */
static bool is_sound(const struct wire_module *logged, const struct call_sites *table,
                     uint64_t room) {
    uint64_t text = logged->bias + table->text_start;
    uint64_t end = (logged->end + WIRE_PAGE - 1) & ~(uint64_t)(WIRE_PAGE - 1);
    return table->magic == CALL_SITES_MAGIC && table->bytes <= room &&
           table->sites_off + (uint64_t)table->sites * sizeof(struct call_site) <= table->bytes &&
           table->callees_off + (uint64_t)table->callees * sizeof(struct call_callee) <=
               table->bytes &&
           table->text_bytes % WIRE_PAGE == 0 && text % WIRE_PAGE == 0 && text >= logged->start &&
           text + table->text_bytes <= end && table->text_bytes > CALL_SITE_BYTES;
}

/* From now on none of its calls is missed, or none can be made any more. */
static void end_missing(struct wire_module *logged) {
    uint64_t learned = atomic_load(&learned_to_ns);
    if (logged->missed_from_ns != 0 && atomic_load(&logged->missed_to_ns) == 0)
        atomic_store(&logged->missed_to_ns, learned != 0 ? learned : ticker_now(CLOCK_MONOTONIC));
}

static void say(struct wire_module *logged, enum calls_verdict verdict, uint32_t sites) {
    if (verdict == CALLS_FOLLOWED)
        end_missing(logged);
    atomic_store(&logged->redirected, sites);
    atomic_store_explicit(&logged->verdict, (uint8_t)verdict, memory_order_release);
}

/* In an earlier session, or in the process that this one was forked from. */
static const struct redirect_module *redirected_before(const struct wire_module *logged) {
    struct dl_find_object object;
    for (uint32_t i = 0; i < atomic_load(&used); i++) {
        const struct redirect_module *m = &atomic_load(&modules)[i];
        if (atomic_load(&m->there) != 0 && m->start == logged->start &&
            object_at(m->text, &object) && object.dlfo_eh_frame == m->eh_frame)
            return m;
    }
    return NULL;
}

/* Nothing is to be done: it was said before, and its object has not gone and come again. */
static bool is_done(struct wire_session *session, uint32_t i, bool redirected) {
    const struct wire_module *logged = modules_entry(session, i);
    uint8_t verdict = atomic_load(&logged->verdict);
    return !logged->want_sites ||
           (verdict == CALLS_FOLLOWED ? redirected || !modules_is_there(session, i)
                                      : verdict != CALLS_UNSAID);
}

/* What the daemon has said of it. False: nothing yet. */
static bool hear(struct wire_session *session, uint32_t i) {
    struct wire_module *logged = modules_entry(session, i);
    if (atomic_load_explicit(&logged->filled, memory_order_acquire) == 0)
        return false;
    const struct redirect_module *before = redirected_before(logged);
    if (is_done(session, i, before != NULL))
        return true;
    if (before != NULL) {
        say(logged, CALLS_FOLLOWED, before->sites);
        return true;
    }
    uint64_t at = atomic_load_explicit(&logged->sites, memory_order_acquire);
    if (at == WIRE_TABLE_PENDING)
        return false;
    if (redirect_is_interposer(logged->start)) {
        say(logged, CALLS_INTERPOSES, 0);
        return true;
    }
    uint64_t arena = agent.process->arena_bytes;
    if (at == WIRE_TABLE_NONE || at % 64 != 0 || at > arena - sizeof(struct call_sites))
        return true;
    const struct call_sites *table =
        (const void *)((const char *)atomic_load(&agent.process->arena) + at);
    uint32_t sites = 0;
    if (!is_sound(logged, table, arena - at))
        return true;
    enum calls_verdict verdict = make_ready(logged, table, &sites);
    say(logged, verdict, sites);
    return true;
}

static void forget_answered(struct agent_thread *thread) {
    if (atomic_load(&answered_epoch) == thread->epoch)
        return;
    atomic_store(&answered, 0);
    atomic_store(&answered_epoch, thread->epoch);
}

/* How many modules of the log are still to be heard of. */
static uint32_t look(struct agent_thread *thread, struct wire_session *session) {
    uint32_t waited_for = 0, n = modules_logged(session);
    forget_answered(thread);
    for (uint32_t i = atomic_load(&answered); i < n; i++) {
        bool heard = hear(session, i);
        waited_for += !heard;
        if (heard && waited_for == 0 && atomic_load(&opened_ns) == 0)
            atomic_store(&answered, i + 1);
    }
    return waited_for;
}

static bool is_all_answered(const struct agent_thread *thread, struct wire_session *session) {
    return atomic_load(&answered_epoch) == thread->epoch &&
           atomic_load(&answered) == modules_logged(session);
}

bool redirect_read_sites(struct agent_thread *thread, struct wire_session *session, uint64_t pc) {
    struct unwind_module module;
    if (!redirect_is_meant())
        return true;
    if (atomic_load(&closing) != 0 || session_slot(thread, session) == NULL)
        return false;
    if (pc != 0)
        modules_find(thread, session, pc, &module);
    if (is_all_answered(thread, session))
        return true;
    if (!begin_change())
        return false;
    uint32_t to_come = look(thread, session);
    switch_all(is_wanted());
    end_change();
    return to_come == 0 || atomic_load(&as_in_parent);
}

static bool has_tables(struct wire_session *session) {
    for (uint32_t i = 0; i < modules_logged(session); i++)
        if (atomic_load(&modules_entry(session, i)->table) == WIRE_TABLE_PENDING)
            return false;
    return true;
}

/* Walks are to reach the root from the first call on, so all tables are waited for, too. The daemon
 * looks at the log of a process that has a slot. */
/* All that is loaded is in the log; else there was no room, which the daemon makes when it is
 * missed.
 */
static bool is_all_logged(struct agent_thread *thread, struct wire_session *session) {
    uint32_t before = atomic_load(&session->modules_missing);
    modules_learn_all(thread, session);
    return atomic_load(&session->modules_missing) == before;
}

static bool is_ready(struct agent_thread *thread, struct wire_session *session) {
    bool has_slot = session_slot(thread, session) != NULL;
    uint32_t to_come = look(thread, session);
    return has_slot && to_come == 0 && has_tables(session);
}

void redirect_await(struct agent_thread *thread, struct wire_session *session) {
    bool logged = false;
    if (!redirect_is_meant() || !begin_change())
        return;
    for (int i = 0; i < WAITS_FOR_SITES && !session_is_dead(session); i++) {
        logged = logged || is_all_logged(thread, session);
        if (logged && is_ready(thread, session))
            break;
        nap();
    }
    end_change();
}

/* ---- objects that come ---- */

uint64_t redirect_missed_from(void) {
    uint64_t learning = atomic_load(&learned_from_ns);
    return learning != 0 ? learning : atomic_load(&opened_ns);
}

void redirect_opening(void) {
    uint64_t none = 0;
    uint32_t before;
    struct agent_thread *self = thread_self;
    if (!redirect_is_meant() || atomic_load(&opened_ns) != 0 || self == NULL ||
        !agent_owns_memory() || !confine_enter(self, &before))
        return;
    calls_burst_end(self); /* the next one has the calls of what is opened */
    atomic_store(&as_in_parent, false);
    atomic_compare_exchange_strong(&opened_ns, &none, ticker_now(CLOCK_MONOTONIC));
    confine_leave(self, before);
}

/* Not in what dlclose calls, as nothing becomes ready meanwhile. */
static void await_opened(struct agent_thread *thread, struct wire_session *session) {
    for (int i = 0; i < WAITS_FOR_OPENED && atomic_load(&closing) == 0 &&
                    !redirect_read_sites(thread, session, 0) && !session_is_dead(session);
         i++)
        nap();
}

/* One that was there before, at the same place, has its entry, but no stubs any more. While the
 * program waits none of its calls is missed. */
static void learn_opened(struct agent_thread *thread, bool wait) {
    struct wire_session *session = session_enter(thread);
    if (session == NULL)
        return;
    atomic_store(&learned_from_ns, atomic_exchange(&opened_ns, 0));
    atomic_store(&learned_to_ns, ticker_now(CLOCK_MONOTONIC));
    modules_learn_all(thread, session);
    atomic_store(&answered, 0);
    if (wait && !agent.settings.encode && agent.settings.burst_length_ns == 0)
        await_opened(thread, session);
    atomic_store(&learned_from_ns, 0);
    atomic_store(&learned_to_ns, 0);
    session_leave(thread);
}

void redirect_learn_opened(bool wait) {
    uint32_t before;
    struct agent_thread *self = thread_self;
    if (atomic_load(&opened_ns) == 0 || self == NULL || !agent_owns_memory() ||
        !confine_enter(self, &before))
        return;
    int saved = errno;
    learn_opened(self, wait);
    confine_leave(self, before);
    errno = saved;
}

/* ---- objects that go ---- */

bool redirect_is_there(const struct redirect_module *m, uint32_t number) {
    return atomic_load(&closing) == 0 && atomic_load(&m->there) == number;
}

void redirect_closing(void) {
    if (calls_self != NULL && calls_self->alive)
        redirect_flush(calls_self);
    atomic_fetch_add(&closing, 1);
    if (atomic_load(&modules) != NULL)
        wait_for_change();
}

static bool has_gone(const struct redirect_module *m) {
    struct dl_find_object object;
    return !object_at(m->text, &object) || (uint64_t)object.dlfo_map_start != m->start ||
           object.dlfo_eh_frame != m->eh_frame;
}

static void wait_for_readers(void) {
    for (int i = 0; i < WAITS_FOR_OTHER && atomic_load(&readers) != 0; i++)
        nap();
}

static void forget_gone(void) {
    for (uint32_t i = 0; i < atomic_load(&used); i++) {
        struct redirect_module *m = &atomic_load(&modules)[i];
        if (atomic_load(&m->there) != 0 && has_gone(m)) {
            atomic_store(&m->there, 0);
            wait_for_readers();
            text_copy_free(m);
        }
    }
}

/* Objects that have gone before their calls were redirected. */
static void end_missing_of_gone(struct wire_session *session) {
    for (uint32_t i = 0; i < modules_logged(session); i++) {
        struct wire_module *logged = modules_entry(session, i);
        if (atomic_load(&logged->filled) != 0 && logged->want_sites &&
            atomic_load(&logged->verdict) == CALLS_UNSAID && !modules_is_there(session, i))
            end_missing(logged);
    }
}

/* Others may go meanwhile, and another may come to the same place: it has an entry of its own. */
static void note_gone(void) {
    uint32_t before;
    struct agent_thread *self = thread_self;
    if (!redirect_is_meant() || self == NULL || !agent_owns_memory() ||
        !confine_enter(self, &before))
        return;
    struct wire_session *session = session_enter(self);
    if (session != NULL) {
        end_missing_of_gone(session);
        session_leave(self);
    }
    confine_leave(self, before);
}

void redirect_closed(void) {
    note_gone();
    if (atomic_load(&modules) != NULL && atomic_load(&closing) == 1 && begin_change()) {
        forget_gone();
        end_change();
    }
    atomic_fetch_sub(&closing, 1);
    follow_users();
}

/* ---- silence, and children ---- */

void redirect_suspend(void) {
    atomic_store(&suspended, true);
    follow_users();
    if (atomic_load(&modules) != NULL)
        wait_for_change();
}

void redirect_resume(void) {
    atomic_store(&suspended, false);
    follow_users();
}

static bool forking;   /* it is the forking thread that changes nothing */
static bool all_ready; /* nothing is to be heard in the parent */

static bool is_all_ready(struct agent_thread *thread) {
    struct wire_session *session = session_enter(thread);
    if (session == NULL)
        return atomic_load(&as_in_parent);
    bool ready = is_all_answered(thread, session) || atomic_load(&as_in_parent);
    session_leave(thread);
    return ready && atomic_load(&opened_ns) == 0;
}

void redirect_before_fork(void) {
    if (atomic_load(&modules) == NULL)
        return;
    all_ready = thread_self != NULL && is_all_ready(thread_self);
    bool ours = begin_change();
    for (int i = 0; !ours && i < WAITS_FOR_OTHER; i++) {
        nap();
        ours = begin_change();
    }
    if (ours)
        forking = true;
}

static void end_fork(void) {
    if (!forking)
        return;
    forking = false;
    end_change();
}

void redirect_after_fork_parent(void) {
    end_fork();
    follow_users();
}

/* Where another thread was in dlclose, nothing changes places any more. Sessions are numbered anew,
 * and none has heard yet what is redirected: a burst need not wait for that. */
void redirect_after_fork_child(void) {
    atomic_store(&users, atomic_load(&always));
    atomic_store(&readers, 0);
    atomic_store(&answered_epoch, 0);
    atomic_store(&as_in_parent, all_ready);
    for (struct agent_thread *t = thread_first(); t != NULL; t = t->next)
        if (t->redirect != NULL) {
            t->redirect->epoch = UINT32_MAX; /* its rules were in the parent's memory */
            atomic_store(&t->redirect->uses, false);
            atomic_store(&t->redirect->dozes, false);
        }
    end_fork();
    follow_users();
}

/* ---- walks through stubs ---- */

/* The stack pointer points at the return address wherever one is in a stub. */
static const struct {
    struct unwind_table table;
    struct unwind_row row;
    struct unwind_rule rule[2];
    uint32_t block;
} stub_table = {
    .table = {.magic = UNWIND_TABLE_MAGIC,
              .bytes = sizeof stub_table,
              .text_span = INT32_MAX,
              .rows = 1,
              .rules = 2,
              .blocks = 1,
              .block_shift = 31,
              .rows_off = offsetof(__typeof__(stub_table), row),
              .rules_off = offsetof(__typeof__(stub_table), rule),
              .blocks_off = offsetof(__typeof__(stub_table), block)},
    .row = {.rule = 1},
    .rule = {{0},
             {.cfa = UNWIND_CFA_REG,
              .cfa_reg = ARCH_SP,
              .ra = UNWIND_AT_CFA,
              .fp = UNWIND_SAME,
              .cfa_off = 8,
              .ra_off = -8}},
};

/* The module whose text that address is in. */
static const struct redirect_module *text_of(uint64_t address) {
    for (uint32_t i = 0; i < atomic_load_explicit(&used, memory_order_acquire); i++) {
        const struct redirect_module *m = &atomic_load(&modules)[i];
        if (atomic_load(&m->there) != 0 && address - m->text < m->bytes)
            return m;
    }
    return NULL;
}

/* Sites are in the order of their addresses. */
bool redirect_is_site(uint64_t address) {
    const struct redirect_module *m = text_of(address);
    uint32_t low = 0, high = m == NULL ? 0 : m->sites;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        uint64_t back = m->text + m->site[middle].back;
        if (back == address)
            return true;
        if (back < address)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

static const struct redirect_module *stubs_at(uint64_t address) {
    for (uint32_t i = 0; i < atomic_load_explicit(&used, memory_order_acquire); i++) {
        const struct redirect_module *m = &atomic_load(&modules)[i];
        if (atomic_load(&m->there) != 0 && address - m->stubs < m->stub_bytes)
            return m;
    }
    return NULL;
}

bool redirect_is_stub(uint64_t address) {
    return stubs_at(address) != NULL;
}

bool redirect_find_stubs(uint64_t address, struct unwind_module *module) {
    const struct redirect_module *m = stubs_at(address);
    if (m == NULL || m->form->in_program != NULL)
        return false;
    *module = (struct unwind_module){.start = m->stubs,
                                     .end = m->stubs + m->stub_bytes,
                                     .bias = m->stubs,
                                     .table = &stub_table.table};
    return true;
}

uint64_t redirect_in_program(uint64_t address) {
    const struct redirect_module *m = stubs_at(address);
    return m == NULL || m->form->in_program == NULL ? address : m->form->in_program(address);
}

/* ---- copies that are written anew ---- */

#define RENEW_LEAST_NS 50000000u /* from one to the next */
#define RENEW_ONE_IN   100u      /* and a part of all time, at most */

static _Atomic bool some_stale;
static _Atomic uint64_t renew_from_ns; /* CLOCK_MONOTONIC */

void redirect_write_anew(uint64_t stub) {
    for (uint32_t i = 0; i < atomic_load(&used); i++) {
        struct redirect_module *m = &atomic_load(&modules)[i];
        if (atomic_load(&m->there) != 0 && stub - m->stubs < m->stub_bytes)
            atomic_store(&m->stale, true);
    }
    atomic_store(&some_stale, true);
}

static void write_stale(void) {
    for (uint32_t i = 0; i < atomic_load(&used); i++) {
        struct redirect_module *m = &atomic_load(&modules)[i];
        if (atomic_load(&m->there) != 0 && atomic_exchange(&m->stale, false))
            text_copy_write_anew(m);
    }
}

void redirect_renew(void) {
    if (!atomic_load_explicit(&some_stale, memory_order_relaxed) || !may_change())
        return;
    uint64_t began_ns = ticker_now(CLOCK_MONOTONIC);
    if (began_ns < atomic_load(&renew_from_ns) || !begin_change())
        return;
    atomic_store(&some_stale, false);
    if (atomic_load(&closing) == 0)
        write_stale();
    uint64_t now_ns = ticker_now(CLOCK_MONOTONIC);
    atomic_store(&renew_from_ns, now_ns + RENEW_LEAST_NS + RENEW_ONE_IN * (now_ns - began_ns));
    end_change();
}

uint64_t redirect_in_file(uint64_t address) {
    const struct redirect_module *m = text_of(address);
    return m == NULL || !m->on ? address : m->spare + (address - m->text);
}

void redirect_reads(bool begins) {
    if (begins)
        atomic_fetch_add(&readers, 1);
    else
        atomic_fetch_sub(&readers, 1);
}

bool redirect_find_object(uint64_t address, struct dl_find_object *found) {
    const struct redirect_module *m = stubs_at(address);
    if (m == NULL || !object_at(m->text, found))
        return false;
    found->dlfo_map_start = (void *)m->stubs;
    found->dlfo_map_end = (void *)(m->stubs + m->stub_bytes);
    found->dlfo_eh_frame = (void *)(uintptr_t)m->unwind.bytes;
    return true;
}
