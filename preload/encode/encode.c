/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * encode.c - threads' context stacks, and what a sample makes of them.
 */
#include "preload/encode/encode.h"

#include <sys/mman.h>

#include "common/wire/call_sites.h"
#include "preload/encode/dear.h"
#include "preload/encode/slot.h"
#include "preload/life/agent.h"
#include "preload/life/memory.h"
#include "preload/life/session.h"
#include "preload/redirect/redirect.h"

/* Of one thread; stays with its context. */
struct encode_thread {
    struct slot_entry entry[WIRE_MAX_FRAMES];   /* the first stands below all calls */
    struct unwind_frame found[WIRE_MAX_FRAMES]; /* by the sample being taken, innermost first */
    struct unwind_frame shown[WIRE_MAX_FRAMES]; /* of the last one, outermost first */
    uint32_t depth;                             /* of that */
    struct slot_self self;
};

/* ---- threads ---- */

static struct encode_thread *make(void) {
    struct encode_thread *e = memory_map(sizeof *e, PROT_READ | PROT_WRITE,
                                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
    if (e != NULL)
        e->entry[0].place = UINT64_MAX;
    return e;
}

void encode_begin(struct agent_thread *thread) {
    if (!agent.settings.encode || !redirect_is_meant())
        return;
    if (thread->encode == NULL)
        thread->encode = make();
    struct encode_thread *e = thread->encode;
    if (e == NULL)
        return;
    e->self = (struct slot_self){.top = e->entry,
                                 .limit = &e->entry[WIRE_MAX_FRAMES - 1],
                                 .low = thread->stack_low,
                                 .span = thread->stack_high - thread->stack_low};
    atomic_signal_fence(memory_order_seq_cst);
    slot_self = &e->self;
}

void encode_end(void) {
    slot_self = NULL;
}

void encode_follow(struct agent_thread *thread, struct wire_session *session, uint64_t pc) {
    redirect_read_sites(thread, session, pc);
    redirect_hold(true);
    redirect_renew();
}

void encode_rest(void) {
    redirect_hold(false);
}

/* ---- what is interrupted ---- */

static bool is_own_stack(uint64_t address) {
    return slot_self != NULL && address - slot_self->low < slot_self->span;
}

/* How far below its place in the slot the stack pointer is, with a return address below that. */
static uint64_t depth_at(uint64_t pc) {
    return redirect_is_stub(pc) && slot_is_head(pc) ? sizeof(uint64_t) : slot_helper_depth(pc);
}

/* A slot that costs time. Its address is in the pc, or the return address of what it has called. */
static void note_slot(const struct unwind_registers *regs, uint64_t depth) {
    uint64_t place = regs->reg[ARCH_SP] + depth - 8, slot = regs->pc;
    dear_count();
    if (depth != 0)
        slot = is_own_stack(place) ? *(const volatile uint64_t *)place : 0;
    if (redirect_is_stub(slot) && !slot_is_head(slot))
        dear_met(slot);
}

void encode_step_out(const struct unwind_env *env, struct unwind_registers *regs) {
    uint64_t depth = depth_at(regs->pc), back;
    note_slot(regs, depth);
    if (depth == 0) {
        regs->pc = redirect_in_program(regs->pc);
    } else if (env->read(env->arg, regs->reg[ARCH_SP] + depth - 8, &back)) {
        regs->reg[ARCH_SP] += depth;
        regs->pc = back - CALL_SITE_BYTES;
    }
}

/* ---- a context ---- */

struct search {
    const struct unwind_env *env;
    const struct slot_entry *entry; /* the innermost that may still be met */
    struct unwind_frame *found;
    uint32_t n, limit;
};

static const struct slot_entry *entry_from(const struct slot_entry *entry, uint64_t place) {
    while (entry->place < place)
        entry--;
    return entry;
}

/* The return address in that place, which can be read, is of the entry's call: no other has been
 * made by this slot from there since. */
static bool is_of(const struct slot_entry *entry, uint64_t place) {
    return entry->place == place &&
           *(const volatile uint64_t *)place == slot_start(entry->from) + SLOT_BACK;
}

static void add(struct search *search, uint64_t routine, uint64_t site) {
    search->found[search->n++] = (struct unwind_frame){routine, site};
}

/* Where the function that has made this call has its own return address; 0: nowhere. */
static uint64_t parent_place(const struct slot_entry *entry) {
    const struct redirect_site *site = slot_site(entry->from);
    uint64_t base = (site->callee & REDIRECT_BY_FP) != 0 ? entry->fp : entry->place + 8;
    uint64_t place = base + (uint64_t)(int64_t)site->cfa - 8;
    return (place & 7) == 0 && place > entry->place && is_own_stack(place) ? place : 0;
}

/* From an entry that holds to those further out, as long as each function was entered by the next
 * one's call. */
static void follow_entries(struct search *search) {
    while (search->n < search->limit) {
        const struct slot_entry *inner = search->entry;
        uint64_t place = parent_place(inner);
        const struct slot_entry *outer = entry_from(inner - 1, place);
        if (place == 0 || !is_of(outer, place))
            return;
        add(search, slot_site(inner->from)->routine, slot_back(outer->from));
        search->entry = outer;
    }
}

/* The function that has made the entry's call. */
static struct unwind_registers caller_of(const struct slot_entry *entry) {
    struct unwind_registers regs = {.pc = slot_back(entry->from), .exact = false};
    regs.reg[ARCH_SP] = entry->place + 8;
    regs.reg[ARCH_FP] = entry->fp;
    regs.known = 1ull << ARCH_SP | UNWIND_FP_KNOWN;
    return regs;
}

/* UNWIND_STEPPED: an entry was met. */
static enum unwind_end walk_to_entry(struct search *search, struct unwind_registers *regs) {
    struct unwind_module module = {0};
    struct unwind_step step;
    while (search->n < search->limit) {
        enum unwind_end end = unwind_step(search->env, &module, regs, &step);
        if (step.routine != 0)
            add(search, step.routine, step.site);
        if (end != UNWIND_STEPPED)
            return end;
        search->entry = entry_from(search->entry, step.ra_at);
        if (is_own_stack(step.ra_at) && is_of(search->entry, step.ra_at))
            return UNWIND_STEPPED;
    }
    return UNWIND_TRUNCATED;
}

static enum unwind_end find(struct search *search, struct unwind_registers *regs,
                            struct encode_found *found) {
    for (;;) {
        uint32_t before = search->n;
        enum unwind_end end = walk_to_entry(search, regs);
        found->stepped += search->n - before;
        if (end != UNWIND_STEPPED)
            return end;
        const struct slot_entry *met = search->entry;
        follow_entries(search);
        if (search->entry != met)
            *regs = caller_of(search->entry);
    }
}

/* ---- what is shown ---- */

/* One frame after the other, from the outermost on. */
static void show(struct agent_thread *thread, uint32_t i, const struct unwind_frame *frame) {
    struct unwind_frame *shown = &thread->encode->shown[i];
    if (thread->stream->common_frames > i &&
        (i >= thread->encode->depth || !unwind_frame_is(shown, frame)))
        thread->stream->common_frames = i;
    *shown = *frame;
}

static void show_all(struct agent_thread *thread, uint32_t n) {
    struct encode_thread *e = thread->encode;
    e->depth = n;
    if (thread->stream->common_frames > n)
        thread->stream->common_frames = n;
    thread->shown = (struct shown){e->shown, sizeof *e->shown, n};
}

void encode_show_walk(struct agent_thread *thread) {
    struct memo *memo = &thread->memo;
    if (thread->encode == NULL) {
        thread->shown = (struct shown){memo->frame, sizeof *memo->frame, memo->depth};
        thread->stream->common_frames = 0;
        return;
    }
    for (uint32_t i = 0; i < memo->depth; i++)
        show(thread, i, &memo->frame[i].frame);
    show_all(thread, memo->depth);
}

/* Why a walk has to tell; WIRE_COUNTERS: it need not. */
static enum wire_counter find_in(struct search *search, struct agent_thread *thread,
                                 const struct unwind_registers *from, struct encode_found *found) {
    struct unwind_registers regs = *from;
    if (slot_self == NULL || thread != thread_self)
        return WIRE_ENCODE_UNKEPT;
    if (!is_own_stack(regs.reg[ARCH_SP]))
        return WIRE_ENCODE_FOREIGN;
    search->entry = entry_from(slot_self->top, regs.reg[ARCH_SP]);
    search->found = thread->encode->found;
    enum unwind_end end = find(search, &regs, found);
    found->truncated = end == UNWIND_TRUNCATED;
    return end == UNWIND_COMPLETE || end == UNWIND_TRUNCATED ? WIRE_COUNTERS : WIRE_ENCODE_RULE;
}

bool encode_find(struct agent_thread *thread, struct wire_slot *slot, const struct unwind_env *env,
                 const struct unwind_registers *regs, uint32_t limit, struct encode_found *found) {
    struct unwind_env cached = *env;
    struct search search = {.env = &cached, .limit = limit};
    *found = (struct encode_found){0};
    cached.cache = memo_cache(&thread->memo);
    enum wire_counter reason = find_in(&search, thread, regs, found);
    if (reason != WIRE_COUNTERS) {
        session_count(slot, reason, 1);
        return false;
    }
    for (uint32_t i = 0; i < search.n; i++)
        show(thread, i, &search.found[search.n - 1 - i]);
    show_all(thread, search.n);
    session_count(slot, WIRE_ENCODED, 1);
    session_count(slot, WIRE_ENCODED_FRAMES, search.n - found->stepped);
    return true;
}
