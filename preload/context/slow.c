/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * slow.c - a number by a walk, all signals blocked, on a stack that has room (event_inside.h).
 *
 * What the walk meets is believed where unwind rules, or open calls that were kept, lead from one
 * frame to the next up to the root. Where there is no such rule, or a frame was found by evidence
 * alone, there is no number.
 */
#include "preload/context/context.h"

#include <sys/mman.h>
#include <time.h>

#include "preload/context/send.h"
#include "preload/encode/slot.h"
#include "preload/encode/unwinder.h"
#include "preload/life/memory.h"
#include "preload/life/modules.h"
#include "preload/life/session.h"
#include "preload/life/session_slots.h"
#include "preload/life/sys.h"
#include "preload/redirect/redirect.h"
#include "preload/sample/event_inside.h"
#include "preload/sample/event_sample.h"
#include "preload/sample/unwind.h"
#include "preload/sample/walk.h"

/* A program that begins asks before the daemon has read its objects, or made room. */
#define NAP_NS    200000l
#define NAPS_MOST 2500u /* half a second in a process, all threads together */

struct asking {
    struct agent_thread *thread;
    struct context_thread *own;
    struct context_table *table;
    struct wire_session *session;
    const struct event_place *caller;
    struct slot_entry *top; /* the innermost open call that may still be met */
    uint32_t known;         /* where the walk has ended; 0: nowhere */
    uint32_t n;             /* in own->passed */
    enum unwind_end end;
};

struct slow_job {
    const struct event_place *caller;
    uint64_t number;
};

/* ---- what a process and a thread need ---- */

static struct context_table *table_of(struct agent_process *process) {
    struct context_table *all = atomic_load(&process->contexts), *none = NULL;
    if (all != NULL)
        return all;
    struct context_table *made = context_table_make();
    if (made == NULL)
        return NULL;
    if (atomic_compare_exchange_strong(&process->contexts, &none, made)) {
        atomic_store(&process->contexts_tag, made->tag);
        return made;
    }
    sys2(SYS_munmap, made, sizeof *made); /* another thread was faster */
    return none;
}

static struct context_thread *thread_of(struct agent_thread *thread) {
    if (thread->context == NULL) {
        struct context_thread *made = memory_map(sizeof *made, PROT_READ | PROT_WRITE,
                                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
        if (made == NULL)
            return NULL;
        sys3(SYS_madvise, made, sizeof *made, MADV_NOHUGEPAGE);
        thread->context = made;
    }
    return thread->context;
}

static void forget_all(struct context_thread *own) {
    for (unsigned i = 0; i < CONTEXT_RECENT; i++)
        own->recent[i].pc = 0;
    for (unsigned i = 0; i < CONTEXT_OBJECTS; i++)
        own->object[i].start = 0;
    for (unsigned i = 0; i < 1u << UNWIND_CACHE_BITS; i++)
        own->cache[i] = (struct unwind_cached){0};
}

/* Where the thread's outermost frames stand: below the context that it was created in. 0: no room.
 */
static uint32_t root_of(const struct asking *asking) {
    uint32_t root = asking->own->root, parent;
    uint64_t created_in = asking->thread->created_in;
    if (!context_holds(created_in, asking->table->tag, root))
        return root;
    parent = (uint32_t)created_in;
    return context_add(asking->table, parent, WIRE_CONTEXT_THREAD, 0);
}

/* Rules and numbers are those of now. False: there is no room. */
static bool renew(struct asking *asking) {
    struct context_thread *own = asking->own;
    uint64_t stamp = context_stamp(agent.process);
    if (own->tag == asking->table->tag && own->stamp == stamp)
        return true;
    own->stamp = 0;
    forget_all(own);
    own->tag = asking->table->tag;
    own->root = context_root(asking->table, (uint32_t)(stamp >> 32));
    own->own_root = own->root != 0 ? root_of(asking) : 0;
    own->outermost = (struct context_outermost){0, 0};
    own->stack_low = asking->thread->stack_low;
    own->stack_high = asking->thread->stack_high;
    if (own->own_root == 0)
        return false;
    own->stamp = stamp;
    return true;
}

/* ---- the walk ---- */

static bool is_own_stack(const struct asking *asking, uint64_t address) {
    return address - asking->own->stack_low < asking->own->stack_high - asking->own->stack_low;
}

/* The open call whose return address is there; NULL: it is not kept. */
static struct slot_entry *open_call_at(struct asking *asking, uint64_t place) {
    if (asking->top == NULL || (place & 7) != 0 || !is_own_stack(asking, place))
        return NULL;
    return context_open_call(&asking->top, place, *(const volatile uint64_t *)place);
}

/* The number in the log of the module that is passed, which may be that of the last one. */
static uint32_t module_of(const struct asking *asking, uint64_t pc, struct unwind_module *last) {
    if (pc - last->start >= last->end - last->start &&
        !modules_find(asking->thread, asking->session, pc, last))
        *last = (struct unwind_module){0};
    return last->number;
}

static void pass(struct asking *asking, const struct unwind_registers *regs,
                 struct slot_entry *entry, struct unwind_module *last) {
    if (slot_helper_depth(regs->pc) != 0)
        return; /* a signal has come on the way to a call */
    asking->own->passed[asking->n++] = (struct context_passed){
        .pc = regs->exact ? regs->pc | WIRE_CONTEXT_EXACT : regs->pc,
        .entry = entry,
        .module = module_of(asking, regs->exact ? regs->pc : regs->pc - 1, last)};
}

/* The object of that code may have an unwinder, which a signal may have interrupted where it
 * changes what its own frame has saved to what a landing pad is to find: the next frame out would
 * be found by a frame pointer of another one. */
static bool is_of_unwinder(struct asking *asking, uint64_t pc) {
    struct unwind_module module;
    if (modules_is_agent(pc))
        return false; /* what stands before a call that sleeps: it asks for objects, and has none */
    if (!modules_find(asking->thread, asking->session, pc, &module))
        return true;
    for (unsigned i = 0; i < CONTEXT_OBJECTS; i++) {
        struct context_object *object = &asking->own->object[i];
        if (object->start == 0)
            *object = (struct context_object){module.start, unwinder_is_in(pc)};
        if (object->start == module.start)
            return object->has_unwinder;
    }
    return unwinder_is_in(pc);
}

/* The frames from `place` on, where a return address is. */
static enum unwind_end follow(struct asking *asking, const struct unwind_env *env,
                              struct unwind_registers *regs, uint64_t place) {
    struct unwind_module module = {0}, passed = {0};
    struct unwind_step step;
    bool interrupted = false;
    while (asking->n < WIRE_MAX_FRAMES) {
        struct slot_entry *entry = regs->exact ? NULL : open_call_at(asking, place);
        if (entry != NULL && context_holds(entry->number, asking->own->tag, asking->own->root)) {
            asking->known = (uint32_t)entry->number;
            return UNWIND_COMPLETE;
        }
        interrupted |= regs->exact;
        if (interrupted && is_of_unwinder(asking, regs->pc))
            return UNWIND_NO_RULE;
        pass(asking, regs, entry, &passed);
        struct context_outermost at = {regs->pc, regs->reg[ARCH_SP]};
        enum unwind_end end = unwind_step(env, &module, regs, &step);
        if (end == UNWIND_COMPLETE) {
            bool own = is_own_stack(asking, at.sp - 1);
            asking->known = own ? asking->own->own_root : asking->own->root;
            if (own)
                asking->own->outermost = at;
        }
        if (end != UNWIND_STEPPED)
            return end;
        if ((step.flags & UNWIND_STEP_BARE) != 0)
            return UNWIND_NO_RULE;
        place = step.ra_at;
    }
    return UNWIND_TRUNCATED;
}

static void walk(const struct unwind_env *given, void *arg) {
    struct asking *asking = arg;
    const struct event_place *caller = asking->caller;
    struct unwind_env env = *given;
    struct unwind_registers regs = {.exact = false};
    env.cache = asking->own->cache;
    regs.pc = agent.settings.encode ? redirect_in_program(caller->pc) : caller->pc;
    regs.reg[ARCH_SP] = caller->sp;
    regs.reg[ARCH_FP] = caller->frame;
    regs.known = 1ull << ARCH_SP | UNWIND_FP_KNOWN;
    asking->n = asking->known = 0;
    asking->top = slot_self != NULL ? slot_self->top : NULL;
    asking->end = follow(asking, &env, &regs, caller->sp - ARCH_CALL_BYTES);
}

static bool nap(void) {
    const struct timespec time = {0, NAP_NS};
    if (atomic_fetch_add(&agent.process->contexts_naps, 1) >= NAPS_MOST) {
        atomic_store(&agent.process->contexts_naps, NAPS_MOST);
        return false;
    }
    sys2(SYS_nanosleep, &time, NULL);
    return true;
}

static void walk_until_tables_are_there(struct asking *asking) {
    do {
        walk_lend(asking->thread, asking->session, asking->caller->sp, walk, asking);
    } while (asking->end == UNWIND_PENDING && !session_is_dead(asking->session) && nap());
}

/* ---- the number ---- */

/* Of what was passed, from the outermost on. 0: no room. */
static uint64_t number_passed(const struct asking *asking) {
    uint32_t number = asking->known;
    for (uint32_t i = asking->n; i > 0 && number != 0; i--) {
        const struct context_passed *passed = &asking->own->passed[i - 1];
        number = context_add(asking->table, number, passed->pc, passed->module);
        if (passed->entry != NULL && number != 0)
            passed->entry->number = asking->table->tag | number;
    }
    return number != 0 ? asking->table->tag | number : 0;
}

/* The first time, until there is room; later what finds none is sent with the next one. */
static void send(const struct asking *asking) {
    context_send(asking->session);
    while (atomic_load(&asking->session->contexts_ready) == 0 && context_may_send() &&
           !session_is_dead(asking->session) && nap())
        ;
    context_send(asking->session);
}

static uint64_t find(struct asking *asking) {
    struct wire_session *session = asking->session;
    if (!renew(asking)) {
        atomic_fetch_add(&session->numbers_full, 1);
        return 0;
    }
    (void)session_slot(asking->thread,
                       session); /* the daemon reads the log where there is a ring */
    atomic_fetch_add(&session->numbers_walked, 1);
    walk_until_tables_are_there(asking);
    if (asking->end != UNWIND_COMPLETE) {
        atomic_fetch_add(&session->numbers_unsure, 1);
        return 0;
    }
    uint64_t number = number_passed(asking);
    if (number == 0)
        atomic_fetch_add(&session->numbers_full, 1);
    return number;
}

static void ask(struct agent_thread *thread, const void *arg) {
    struct slow_job *job = *(struct slow_job *const *)arg;
    struct wire_session *session = event_session_enter(thread);
    if (session == NULL)
        return;
    struct asking asking = {.thread = thread, .session = session, .caller = job->caller};
    asking.own = thread_of(thread);
    asking.table = asking.own != NULL && context_may_send() ? table_of(agent.process) : NULL;
    if (asking.table == NULL) {
        atomic_fetch_add(&session->numbers_full, 1);
    } else {
        context_self = asking.own;
        asking.own->turn++;
        job->number = find(&asking);
        send(&asking);
    }
    session_leave(thread);
}

uint64_t context_slowly(const struct event_place *caller) {
    struct slow_job job = {.caller = caller}, *pointer = &job;
    (void)event_inside(ask, &pointer);
    return job.number;
}

uint64_t context_of_creator(const struct event_place *caller) {
    bool asked =
        agent_started() && (agent.settings.encode || atomic_load(&agent.process->contexts) != NULL);
    return asked ? context_number(caller) : 0;
}

void context_end(void) {
    context_self = NULL;
}
