/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * found.c - redirected calls that take more than a few loads and stores: there is no room in the
 * ring, the daemon has not heard of the called function's module, the caller is to be found by a
 * walk with all of its rules, or the called function is not known yet.
 *
 * The last is so for the first call through each word that the loader binds when it is used. The
 * call is put down when the next one comes: by then the word says what was called.
 */
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "common/wire/ring.h"
#include "preload/calls/hot.h"
#include "preload/life/agent.h"
#include "preload/life/hooks.h"
#include "preload/life/memory.h"
#include "preload/life/modules.h"
#include "preload/life/session.h"
#include "preload/life/sys.h"
#include "preload/redirect/chain.h"
#include "preload/redirect/enter.h"
#include "preload/redirect/redirect.h"
#include "preload/redirect/stub.h"
#include "preload/sample/stack.h"
#include "preload/wrap/next_symbol.h"

#define NAP_NS          1000000l
#define WAITS_FOR_TABLE 1000 /* naps until a module's calls are without their callers */

bool redirect_prepare(struct agent_thread *thread) {
    if (!redirect_is_meant())
        return true;
    if (thread->redirect == NULL)
        thread->redirect =
            memory_map(sizeof(struct redirect_thread) + stub_area_bytes(), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
    thread->calls->redirect = thread->redirect;
    return thread->redirect != NULL;
}

void redirect_unlock(const struct agent_thread *thread) {
    if (thread->redirect != NULL)
        sys2(SYS_munlock, thread->redirect, sizeof(struct redirect_thread) + stub_area_bytes());
}

/* ---- walks ---- */

static bool find_module(void *arg, uint64_t pc, struct unwind_module *module) {
    const struct calls *c = arg;
    return modules_find(c->thread, c->session, pc, module);
}

static bool read_word(void *arg, uint64_t address, uint64_t *word) {
    const struct calls *c = arg;
    return stack_read(&c->thread->probe, address, word);
}

/* Rules are of the session that they were found in, and of the objects that were there. */
static void forget_old_rules(struct calls *c) {
    struct redirect_thread *r = c->redirect;
    uint32_t epoch = c->thread->epoch, validity = modules_validity();
    if (r->epoch == epoch && r->validity == validity)
        return;
    memset(r->cache, 0, sizeof r->cache);
    r->epoch = epoch;
    r->validity = validity;
}

static struct unwind_env walk_env(const struct redirect_call *call) {
    struct agent_thread *thread = call->calls->thread;
    struct unwind_env env = {
        .find = find_module, .read = read_word, .arg = call->calls, .scratch = thread->scratch};
    stack_forget(&thread->probe);
    thread_stack_above(thread, call->slot + 8, &env.low, &env.high);
    return env;
}

static struct unwind_registers registers_of(const struct redirect_call *call, uint64_t site) {
    struct unwind_registers regs = {.pc = site, .exact = false};
    regs.reg[ARCH_SP] = call->slot + 8;
    regs.reg[ARCH_FP] = call->fp;
    regs.known = 1u << ARCH_SP | UNWIND_FP_KNOWN;
    return regs;
}

static uint32_t mark_of(enum unwind_end end) {
    return end == UNWIND_TRUNCATED   ? WIRE_PSEUDO_TRUNCATED
           : end == UNWIND_NO_MODULE ? WIRE_PSEUDO_NO_MODULE
           : end == UNWIND_BAD_STACK ? WIRE_PSEUDO_BAD_STACK
                                     : WIRE_PSEUDO_NO_RULE;
}

/* The frame that a step has come from: before it the registers were `sp` and `exact`. A signal's
 * frame is never taken to be the one of before: no word on the stack says that alone. */
static struct calls_frame frame_of(const struct unwind_step *step, uint64_t sp, bool to_exact) {
    uint64_t place = to_exact ? 0 : step->ra_at;
    return (struct calls_frame){.routine = step->routine,
                                .site = step->site,
                                .sp = step->site != 0 && place != 0 ? place : sp,
                                .report = CALLS_WALKED | (step->site != 0 ? place : 0)};
}

/* A table that is still being made is waited for, as its rules are needed now. */
static bool wait_for_table(struct calls *c, int tries) {
    const struct timespec time = {.tv_nsec = NAP_NS};
    if (tries == WAITS_FOR_TABLE || session_is_dead(c->session))
        return false;
    session_leave(c->thread);
    sys2(SYS_nanosleep, &time, NULL);
    return session_hold(c->thread, c->session);
}

struct walk {
    struct calls_frame *top; /* above the open call that was met; the base's: none was */
    uint32_t n;              /* frames found */
};

static bool is_met(const struct calls *c, const struct calls_frame *top,
                   const struct calls_frame *f) {
    const struct calls_frame *open = top - 1;
    if (open == c->base || open->routine != f->routine || open->sp != f->sp ||
        open->report != (f->report | (open->report & CALLS_SEEN)))
        return false;
    if (f->site == 0)
        return open->site == 0;
    return open->site == f->site && chain_place(f) != 0;
}

/* As in the hot path, by words that can be read. */
static bool holds(const struct calls *c, const struct calls_frame *f) {
    for (; (f->report & CALLS_SEEN) == 0 && f->site != 0; f--) {
        const struct calls_frame *outer = f - 1;
        uint64_t place = chain_place(outer), word;
        if (outer == c->base || outer->site == 0)
            return true;
        if (place == 0 || !stack_read(&c->thread->probe, place, &word) || word != outer->site)
            return false;
    }
    return true;
}

/* All from the site's function up to an open call that still is what it was, or to the root. */
static struct walk find_all(const struct redirect_call *call, uint64_t site, bool cached) {
    struct calls *c = call->calls;
    struct redirect_thread *r = c->redirect;
    struct unwind_env env = walk_env(call);
    struct unwind_registers regs = registers_of(call, site);
    struct unwind_module module = {0};
    struct unwind_step step;
    struct walk walk = {.top = c->top};
    enum unwind_end end = UNWIND_TRUNCATED;
    uint64_t sp = 0;
    if (cached)
        env.cache = r->cache;
    for (int tries = 0; walk.n < WIRE_MAX_FRAMES - 1;) {
        const struct unwind_registers before = regs;
        sp = regs.reg[ARCH_SP];
        end = unwind_step(&env, &module, &regs, &step);
        if (end == UNWIND_PENDING && wait_for_table(c, tries++)) {
            regs = before;
            module = (struct unwind_module){0};
            continue;
        }
        struct calls_frame f = frame_of(&step, sp, regs.exact && end == UNWIND_STEPPED);
        if (step.routine != 0 && !redirect_is_stub(step.routine)) {
            walk.top = chain_drop(walk.top, f.sp);
            if (cached && is_met(c, walk.top, &f) && holds(c, walk.top - 1))
                return walk;
            if (redirect_is_site(f.site))
                f.report |= CALLS_SEEN; /* as good as: if it were made again, it would be seen */
            r->found[walk.n++] = f;
        }
        if (end != UNWIND_STEPPED)
            break;
    }
    walk.top = c->base + 1;
    if (end != UNWIND_COMPLETE)
        r->found[walk.n++] =
            (struct calls_frame){.routine = mark_of(end), .sp = sp, .report = CALLS_WALKED};
    return walk;
}

/* ---- the open calls ---- */

static bool same_call(const struct calls_frame *a, const struct calls_frame *b) {
    return a->routine == b->routine && a->site == b->site;
}

/* The innermost one from now on. What the daemon has in its place may be the same. */
static void open_call(struct calls *c, struct calls_frame f) {
    if (c->common > c->top && !same_call(c->top, &f))
        c->common = c->top;
    *c->top++ = f;
}

static bool make_room(struct calls *c, uint32_t n) {
    while ((uint64_t)(c->end - c->top) < n)
        if (!calls_grow(c))
            return false;
    return true;
}

/* A coroutine's stack goes up to where a walk has found its outermost return address. */
static void learn_bounds(struct calls *c, const struct walk *walk) {
    for (uint32_t i = 0; c->guessed && i < walk->n && chain_place(&c->redirect->found[i]) != 0; i++)
        if (c->redirect->found[i].sp >= c->high)
            c->high = c->redirect->found[i].sp + 8;
}

/* Its caller is the innermost open call. False: no memory, or the session is lost. */
static bool find_caller(const struct redirect_call *call, uint64_t site) {
    struct calls *c = call->calls;
    if (!session_hold(c->thread, c->session))
        return calls_lose(c);
    forget_old_rules(c);
    const struct walk walk = find_all(call, site, true);
    session_leave(c->thread);
    if (!session_seems_alive(c->session))
        return calls_lose(c);
    c->top = walk.top;
    if (!make_room(c, walk.n + 1))
        return false;
    learn_bounds(c, &walk);
    for (uint32_t i = walk.n; i-- > 0;)
        open_call(c, c->redirect->found[i]);
    return true;
}

static bool send(struct calls *c, uint64_t routine, uint64_t site, uint64_t slot) {
    if (!make_room(c, 1) || !calls_tell_code(c, routine, site))
        return false;
    open_call(c, (struct calls_frame){routine, site, slot, CALLS_WALKED | CALLS_SEEN | slot});
    bool due = !c->sampled || calls_is_due(c, routine);
    return (!due || calls_tell(c, c->sampled ? agent.settings.every : 1)) && calls_make_room(c);
}

/* ---- what was called ---- */

/* A word that leads to the PLT it belongs to is not bound yet. One may also lead to a function of
 * the same module. */
static bool is_unbound(const struct redirect_module *m, uint64_t routine) {
    return routine - m->text < m->bytes - 16 && stub_is_binder((const uint8_t *)routine);
}

/* Where the agent stands before a function, what the program has called is that one. */
static uint64_t as_called(uint64_t routine) {
    uint64_t behind = modules_is_agent(routine) ? next_behind(routine) : 0;
    return behind != 0 ? behind : routine;
}

/* The hot path compares the word with what it was, which is the agent's function then: from now on
 * it finds what is behind that in a word of ours. A word that is bound stays as it is. */
static void know(struct redirect_callee *k, uint64_t routine, uint64_t called) {
    atomic_store_explicit(&k->routine, called, memory_order_relaxed);
    if (called != routine)
        k->word = (const uint64_t *)(const void *)&k->routine;
}

static void flush(struct calls *c) {
    struct redirect_thread *r = c->redirect;
    if (r->unnamed.word == NULL || c->session == NULL)
        return;
    if (!redirect_is_there(r->unnamed.module, r->unnamed.number)) {
        r->unnamed.word = NULL; /* the word has gone with its object */
        count_lost(c);
        return;
    }
    uint64_t routine = *(const volatile uint64_t *)r->unnamed.word;
    r->unnamed.word = NULL;
    calls_write_back(c);
    send(c, as_called(routine), r->unnamed.site, r->unnamed.slot);
}

/* To a tick it is a report. */
void redirect_flush(struct calls *c) {
    if (c->redirect == NULL || c->redirect->unnamed.word == NULL)
        return;
    c->busy = (uintptr_t)__builtin_frame_address(0);
    atomic_signal_fence(memory_order_seq_cst);
    flush(c);
    atomic_signal_fence(memory_order_seq_cst);
    c->busy = CALLS_JUMPED;
}

/* Until the next call. The hot path finds no room. */
static void put_off(struct calls *c, const struct redirect_module *m, const uint64_t *word,
                    uint64_t site, uint64_t slot) {
    struct redirect_thread *r = c->redirect;
    r->unnamed.word = word;
    r->unnamed.module = m;
    r->unnamed.number = atomic_load(&m->there);
    r->unnamed.site = site;
    r->unnamed.slot = slot;
    if (calls_tell(c, 0) && calls_make_room(c))
        c->limit = NULL;
}

static void enter(const struct redirect_call *call, uint64_t site) {
    struct calls *c = call->calls;
    const struct redirect_module *m = call->module;
    struct redirect_callee *k = &m->callee[call->site->callee & REDIRECT_CALLEE];
    uint64_t routine = k->word != NULL ? *(const volatile uint64_t *)k->word : k->target;
    if (calls_is_elsewhere(c, call->slot) && !calls_switch(c, call->slot)) {
        count_lost(c);
        return;
    }
    if (!find_caller(call, site)) {
        count_lost(c);
        return;
    }
    if (k->word != NULL && is_unbound(m, routine)) {
        put_off(c, m, k->word, site, call->slot);
        return;
    }
    uint64_t called = as_called(routine);
    if (!send(c, called, site, call->slot))
        return;
    know(k, routine, called);
    call->site->function = called;
}

void redirect_enter_rarely(void *arg) {
    const struct redirect_call *call = arg;
    struct calls *c = call->calls;
    atomic_store(&c->thread->busy, 0); /* a handler may have left the session by longjmp */
    if (c->session == NULL)
        return;
    flush(c);
    calls_write_back(c);
    if (!agent_hooks.goes_on(c))
        return;
    if (c->session != NULL && (call->slot & 7) == 0)
        enter(call, call->module->text + call->site->back);
    else
        count_lost(c);
}

/* ---- the check ---- */

static bool is_as_found(const struct calls *c, const struct walk *walk) {
    const struct calls_frame *open = c->base + 1, *end = c->top;
    if (c->redirect->unnamed.word == NULL)
        end--; /* the call itself */
    if (end - open != (int64_t)walk->n)
        return false;
    for (uint32_t i = walk->n; i-- > 0; open++)
        if (!same_call(open, &c->redirect->found[i]))
            return false;
    return true;
}

void redirect_check(void *arg) {
    const struct redirect_call *call = arg;
    struct calls *c = call->calls;
    if (c->session == NULL || c->slot == NULL || !session_hold(c->thread, c->session))
        return;
    const struct walk walk = find_all(call, call->module->text + call->site->back, false);
    session_count(c->slot, WIRE_CHECKED, 1);
    if (!is_as_found(c, &walk))
        session_count(c->slot, WIRE_DIFFERENT, 1);
    session_leave(c->thread);
}
