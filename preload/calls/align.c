/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * align.c - open calls out of a walk.
 *
 * A walk shows all functions that are executing; those that do not report their calls (of libraries
 * that were built as usual) are left out, as they would be if calls had been followed all along;
 * and so is one that has not come to its report yet. Where calls are redirected all functions
 * count, as they do in the walks that find a caller.
 */
#include "preload/calls/calls.h"

#include "common/wire/arch.h"
#include "preload/redirect/redirect.h"
#include "preload/sample/walk.h"

static bool same_call(const struct calls_frame *a, const struct calls_frame *b) {
    return a->routine == b->routine && a->site == b->site;
}

/* Before `*common` are the frames that the daemon knows. */
static bool add(struct calls *c, struct calls_frame **common, const struct calls_frame *frame) {
    if (c->top == c->end)
        return false; /* room is made by reports, of which there was none so deep yet */
    if (*common > c->top && !same_call(c->top, frame))
        *common = c->top;
    *c->top++ = *frame;
    return true;
}

/* Where the return address of the frame inside of `caller` is. */
static uint64_t return_slot(const struct memo_frame *caller) {
    return ARCH_CALL_BYTES == 0 ? 0 : caller->sp - ARCH_CALL_BYTES;
}

/* One physical frame, as one or more functions report it. */
static bool add_physical(struct calls *c, struct calls_frame **common, const struct memo_frame *f,
                         uint64_t walked, uint64_t report) {
    struct calls_frame frame = {f->frame.routine, f->frame.site, f->sp, walked};
    if (c->redirect != NULL && redirect_is_site(f->frame.site))
        frame.report |= CALLS_SEEN; /* as good as: if it were made again, it would be seen */
    if (report == 0 && CALLS_RETURN_AT(walked) != 0)
        frame.sp = CALLS_RETURN_AT(walked);
    const struct calls_known *known = f->exact ? NULL : calls_recall(c, f->pc);
    if (known == NULL)
        known = calls_recall(c, report);
    if (known == NULL)
        return add(c, common, &frame);
    for (uint32_t i = 0; i < known->n; i++) {
        frame.routine = known->routine[i];
        frame.report = walked | (i > 0 ? CALLS_INSIDE : 0);
        if (!add(c, common, &frame))
            return false;
    }
    return true;
}

bool calls_align(struct calls *c, struct wire_session *session, const ucontext_t *uc) {
    struct agent_thread *thread = c->thread;
    if (!walk_whole(thread, session, uc))
        return false;
    const struct memo *memo = &thread->memo;
    struct calls_frame *common = c->common;
    bool all = true;
    c->top = c->base + 1;
    for (uint32_t i = 0; i < memo->depth && all; i++) {
        const struct memo_frame *f = &memo->frame[i];
        uint64_t report = calls_report_in(&thread->probe, f->frame.routine, f->pc);
        uint64_t walked = CALLS_WALKED | (i > 0 && !f[-1].exact ? return_slot(f - 1) : 0);
        if (report == 0 && (c->redirect == NULL || redirect_is_stub(f->frame.routine)))
            continue;
        if (f->pc == report)
            walked |= CALLS_ENTERING;
        all = add_physical(c, &common, f, walked, report);
    }
    c->common = common < c->top ? common : c->top;
    return all;
}
