/*
 * calls_align.c - open calls out of a walk.
 *
 * A walk shows all functions that are executing; those that do not report their calls (of libraries
 * that were built as usual) are left out, as they would be if calls had been followed all along.
 * Functions that were inlined into others are not seen: their ends are reports without a beginning,
 * and ignored.
 */
#include "preload/calls.h"

#include "preload/walk.h"

static bool same_call(const struct calls_frame *a, const struct calls_frame *b) {
    return a->routine == b->routine && a->site == b->site;
}

bool calls_align(struct calls *c, struct wire_session *session, const ucontext_t *uc) {
    struct agent_thread *thread = c->thread;
    if (!walk_whole(thread, session, uc))
        return false;
    const struct memo *memo = &thread->memo;
    struct calls_frame *told = c->told;
    c->top = c->base + 1;
    for (uint32_t i = 0; i < memo->depth; i++) {
        const struct memo_frame *f = &memo->frame[i];
        if (!calls_reports(f->frame.routine, f->pc))
            continue;
        if (c->top == c->end)
            return false; /* room is made by reports, of which there is none this deep yet */
        struct calls_frame frame = {f->frame.routine, f->frame.site, f->sp, 0};
        if (told > c->top && !same_call(c->top, &frame))
            told = c->top;
        *c->top++ = frame;
    }
    c->told = told < c->top ? told : c->top;
    return true;
}
