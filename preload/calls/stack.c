/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * stack.c - which open calls are still open.
 *
 * Every call that is reported has its end reported, too, also when an exception leaves the
 * function. What leaves functions without a report is longjmp, which the agent intercepts
 * (wrap/jump.c): at the next event after it, frames whose stack pointer is below that event's are
 * gone. From the same stack pointer, a new call is one of these:
 *   - of a function that was inlined into the innermost one: it reports from another place in the
 *     same physical frame, which is known by the return address (`site`) that both report;
 *   - in the place of a frame that is gone: then the site differs, or the very same report has been
 *     made before. A report that is made again from the same frame without its end in between means
 *     that all from the first one on is gone.
 * What this can't tell apart: a function that is called, by the same indirect call, in the place of
 * another one of the same frame size that was left by longjmp. It is shown below that one.
 *
 * Without a longjmp, stack pointers say little: within one physical frame they differ by arguments
 * that were pushed and not taken off yet. But a frame that is far below an event (PUSHED_MAX) has
 * been left by other means, such as a longjmp of the program's own.
 *
 * A thread may run on several stacks (makecontext, coroutine libraries). Each has its own open
 * calls, which begin at the root, as the stack's first function has no caller. Bounds are not
 * known, but for the thread's own stack: a stack pointer outside is on the stack whose bounds, as
 * seen so far, are near.
 */
#include "preload/calls/calls.h"

#include <string.h>
#include <sys/mman.h>

#include "preload/life/agent.h"
#include "preload/life/session.h"
#include "preload/life/sys.h"

#define FIRST_ROOM 1024u
#define ABOVE      4096u /* a stack's first report is so near its top */

/* ---- memory ---- */

static struct calls_frame *map_frames(uint32_t room) {
    long at = sys6(SYS_mmap, 0, room * sizeof(struct calls_frame), PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return at < 0 && at > -WIRE_PAGE ? NULL : (struct calls_frame *)at;
}

/* No frame of them is known to the daemon. */
static void use(struct calls *c, struct calls_frame *base, uint32_t room, uint32_t depth) {
    c->base = base;
    c->room = room;
    c->end = base + room;
    base[0] = (struct calls_frame){.sp = UINT64_MAX};
    c->top = base + 1 + depth;
    c->cursor = c->common = base + 1;
}

/* The hot path compares with the innermost open call alone. Where none is open it finds that an
 * event from above is not on this stack, as a coroutine's stack would else go on as its thread's.
 * Redirected calls compare with the bounds, and with places above them. */
void calls_set_bounds(struct calls *c, uint64_t low, uint64_t high, bool guessed) {
    c->low = low;
    c->high = high;
    c->guessed = guessed;
    c->base->sp = c->redirect != NULL ? UINT64_MAX : high;
}

void calls_clear(struct calls *c) {
    c->top = c->cursor = c->common = c->base + 1;
    for (int i = 0; i < CALLS_STACKS; i++)
        c->other[i].depth = 0;
}

/* ---- frames that are gone ---- */

static void drop_to(struct calls *c, struct calls_frame *top) {
    if (c->top > top)
        session_count(c->slot, WIRE_JUMPED, (uint64_t)(c->top - top));
    c->top = top;
}

/* Of the frames at the same stack pointer: where those begin that are gone when `e` begins. */
static struct calls_frame *gone_from(struct calls *c, const struct calls_event *e) {
    for (struct calls_frame *f = c->top; f[-1].sp == e->sp; f--) {
        if (f[-1].site == e->site && f[-1].report != e->report)
            continue;
        struct calls_frame *from = f - 1;
        while (from[-1].sp == e->sp && from[-1].site == from->site)
            from--; /* its physical frame as a whole, unless the report is found further out */
        return f[-1].site == e->site ? f - 1 : from;
    }
    return c->top;
}

static void drop_below(struct calls *c, uint64_t sp) {
    struct calls_frame *top = c->top;
    while (top[-1].sp < sp)
        top--;
    drop_to(c, top);
}

/* A stack that was given up in the middle of its calls is used for other ones. */
static bool begins_anew(const struct calls *c, const struct calls_event *e) {
    const struct calls_frame *first = c->base + 1;
    return e->enter && c->top > first &&
           (first->sp < e->sp || (first->sp == e->sp && first->report == e->report));
}

static bool drop_left(struct calls *c, const struct calls_event *e) {
    if (calls_is_elsewhere(c, e->sp)) {
        if (!calls_switch(c, e->sp))
            return false;
        if (begins_anew(c, e))
            drop_to(c, c->base + 1);
    }
    drop_below(c, e->jumped ? e->sp : e->sp - CALLS_PUSHED_MAX);
    return true;
}

/* Its return address has been written over since the walk that found it: a walk may meet a function
 * that has reported its end already. */
static bool has_returned(const struct calls_frame *f) {
    uint64_t slot = CALLS_RETURN_AT(f->report);
    return (f->report & CALLS_WALKED) != 0 && slot != 0 &&
           *(const volatile uint64_t *)slot != f->site;
}

static bool is_entering(const struct calls_frame *f) {
    return (f->report & CALLS_WALKED) != 0 && (f->report & CALLS_ENTERING) != 0;
}

static void drop_jumped(struct calls *c, const struct calls_event *e) {
    while (has_returned(c->top - 1))
        drop_to(c, c->top - 1);
    const struct calls_frame *last = c->top - 1;
    if (is_entering(last) && last->routine == e->routine && last->site == e->site)
        c->top--; /* this is the report within which the walk met it */
    else if ((last->report & CALLS_WALKED) == 0 && last->sp == e->sp)
        drop_to(c, gone_from(c, e));
}

/* The first event after a walk may be on another stack: what it found is checked at the first one
 * on its own. */
bool calls_drop_left(struct calls *c, const struct calls_event *e) {
    if (!drop_left(c, e))
        return false;
    if (e->jumped || (c->top[-1].report & CALLS_WALKED) != 0)
        drop_jumped(c, e);
    return true;
}

/* The site may differ: of a function that was inlined in part, the rest may be a function of its
 * own, and report the end. */
static bool is_of(const struct calls_frame *f, const struct calls_event *e) {
    return f->routine == e->routine;
}

/* A function may end in a jump to the report: its own frame is gone then, and the address that the
 * report returns to is its caller's. */
static void leave_by_jump(struct calls *c, const struct calls_event *e) {
    while (c->top > c->base + 1 && c->top[-2].sp < e->sp && !is_of(c->top - 1, e))
        drop_to(c, c->top - 1);
}

static void take_off(struct calls *c, const struct calls_event *e) {
    struct calls_frame *f = c->top;
    while (f > c->base + 1 && !is_of(f - 1, e) && (f[-1].site == e->site || f[-1].sp < e->sp))
        f--;
    if (f == c->base + 1 || !is_of(f - 1, e)) {
        session_count(c->slot, WIRE_STRAY, 1);
        return;
    }
    drop_to(c, f);
    c->top--;
}

bool calls_leave(struct calls *c, const struct calls_event *e) {
    if (e->report == e->site && !calls_is_elsewhere(c, e->sp))
        leave_by_jump(c, e);
    else if (!drop_left(c, e))
        return false;
    take_off(c, e);
    return true;
}

/* ---- other stacks, and more room ---- */

static struct calls_stack this_one(const struct calls *c) {
    return (struct calls_stack){.low = c->low,
                                .high = c->high,
                                .base = c->base,
                                .room = c->room,
                                .depth = (uint32_t)(c->top - c->base - 1),
                                .guessed = c->guessed};
}

void calls_finish_change(struct calls *c) {
    struct calls_change *change = &c->change;
    if (!change->under_way)
        return;
    if (change->place != NULL)
        *change->place = change->away;
    use(c, change->next.base, change->next.room, change->next.depth);
    calls_set_bounds(c, change->next.low, change->next.high, change->next.guessed);
    c->cursor = change->cursor;
    c->common = change->common;
    atomic_signal_fence(memory_order_seq_cst);
    change->under_way = false;
}

/* All that it takes has been written down. */
static void make_change(struct calls *c) {
    atomic_signal_fence(memory_order_seq_cst);
    c->change.under_way = true;
    atomic_signal_fence(memory_order_seq_cst);
    calls_finish_change(c);
}

static bool begin(struct calls *c) {
    struct calls_frame *base = map_frames(FIRST_ROOM);
    if (base == NULL)
        return false;
    use(c, base, FIRST_ROOM, 0);
    return true;
}

/* A handler may leave this at any instruction: the frames are where they were then, or in their new
 * place, and at worst memory stays mapped that nobody uses. So they are copied: mremap moves them
 * before anybody can know of it. Where they were stays mapped, too: this may be within a handler
 * that has interrupted the end of a call, which may look there yet. */
static bool move(struct calls *c) {
    struct calls_frame *old = c->base;
    uint32_t old_room = c->room, room = 2 * old_room;
    struct calls_frame *base = room > old_room ? map_frames(room) : NULL;
    if (base == NULL)
        return false;
    memcpy(base, old, old_room * sizeof *old);
    c->change.place = NULL;
    c->change.next = this_one(c);
    c->change.next.base = base;
    c->change.next.room = room;
    c->change.cursor = base + (c->cursor - old);
    c->change.common = base + (c->common - old);
    make_change(c);
    sys3(SYS_madvise, old, old_room * sizeof *old, MADV_DONTNEED);
    return true;
}

bool calls_grow(struct calls *c) {
    return c->base == NULL ? begin(c) : move(c);
}

static bool is_on(const struct calls_stack *s, uint64_t sp) {
    return s->room != 0 && sp >= s->low && sp < s->high;
}

/* The stack with that address; else a place for a new one: unused, or one without open calls. */
static struct calls_stack *find(struct calls *c, uint64_t sp) {
    struct calls_stack *place = NULL;
    for (int i = 0; i < CALLS_STACKS; i++) {
        struct calls_stack *s = &c->other[i];
        if (is_on(s, sp))
            return s;
        if (place == NULL && (s->room == 0 || (s->depth == 0 && s->guessed)))
            place = s;
    }
    return place;
}

/* The stack that grows downwards has been seen to be larger. */
static bool is_further_down(const struct calls *c, uint64_t sp) {
    return c->guessed && sp < c->low && c->low - sp <= CALLS_NEAR;
}

bool calls_switch(struct calls *c, uint64_t sp) {
    struct calls_stack *s = find(c, sp);
    if (is_further_down(c, sp) && (s == NULL || !is_on(s, sp))) {
        c->low = sp - CALLS_NEAR;
        return true;
    }
    if (!calls_pop_all(c))
        return false;
    if (s == NULL)
        s = &c->other[sp / CALLS_NEAR % CALLS_STACKS]; /* too many: its open calls are forgotten */
    struct calls_stack next = *s;
    if (next.room == 0) {
        next.base = map_frames(FIRST_ROOM);
        if (next.base == NULL)
            return false;
        next.room = FIRST_ROOM;
    }
    if (!is_on(&next, sp)) {
        session_count(c->slot, WIRE_JUMPED, next.depth);
        next.depth = 0;
        next.guessed = true;
        next.low = sp - CALLS_NEAR;
        next.high = sp + ABOVE;
    }
    c->change.place = s;
    c->change.away = this_one(c);
    c->change.next = next;
    c->change.cursor = c->change.common = next.base + 1;
    make_change(c);
    return true;
}

/* Those that the thread has gone to and fro since then may have other calls open, or be gone. */
static void forget_others(struct calls *c) {
    for (int i = 0; i < CALLS_STACKS; i++) {
        struct calls_stack *s = &c->other[i];
        *s = (struct calls_stack){.base = s->base, .room = s->room, .guessed = true};
    }
}

void calls_start_on(struct calls *c, uint64_t sp) {
    const struct agent_thread *thread = c->thread;
    const struct calls_frame *first = c->base + 1;
    uint64_t top = c->top > first && first->sp > sp ? first->sp : sp;
    forget_others(c);
    if (sp >= thread->stack_low && sp < thread->stack_high)
        calls_set_bounds(c, thread->stack_low, thread->stack_high, false);
    else
        calls_set_bounds(c, sp - CALLS_NEAR, top + ABOVE, true);
}
