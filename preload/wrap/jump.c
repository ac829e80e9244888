/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * jump.c - the moment before a longjmp, which leaves functions without a report of their end.
 *
 * For threads whose calls are followed (calls.h) a flag is set; and out of a handler during which
 * our signal is blocked, or out of one that has
 * interrupted a call for which it is blocked, it must not stay so. A long sleep that a handler has
 * interrupted is over.
 */
#include <setjmp.h>

#include "preload/calls/calls.h"
#include "preload/life/agent.h"
#include "preload/sample/edge.h"
#include "preload/wrap/handler_masks.h"
#include "preload/wrap/jump_target.h"
#include "preload/wrap/real.h"
#include "preload/wrap/sleep.h"

/* Unless a report is under way: then a signal handler jumps, and the next report's stack pointer
 * says whether out of that report. */
static void note_jump(void) {
    struct calls *c = calls_self;
    if (c != NULL && c->busy < CALLS_JUMPED)
        c->busy += CALLS_JUMPED;
}

static inline __attribute__((always_inline)) void before_jump(const struct __jmp_buf_tag *buffer) {
    note_jump();
    handler_mask_jump(__builtin_frame_address(0));
    if (hcct_unlikely(sleep_masked != 0))
        handler_mask_jump_to(jump_target_sp(buffer));
    sleep_forget_announced();
    const struct sleep_place caller = EDGE_CALLER;
    trigger_call_left(&caller);
    if (hcct_unlikely((sleep_burst & SLEEP_NEXT) != 0))
        trigger_before_sleep(); /* out of a handler, and of the sleep that it has interrupted */
}

hcct_export void longjmp(struct __jmp_buf_tag buffer[1], int value) {
    before_jump(buffer);
    real_longjmp(REAL_LONGJMP, buffer, value);
}

hcct_export void _longjmp(struct __jmp_buf_tag buffer[1], int value) {
    before_jump(buffer);
    real_longjmp(REAL_LONGJMP_BSD, buffer, value);
}

hcct_export void siglongjmp(sigjmp_buf buffer, int value) {
    before_jump(buffer);
    real_longjmp(REAL_SIGLONGJMP, buffer, value);
}

/* What the others are in programs that are built with -D_FORTIFY_SOURCE. */
_Noreturn void __longjmp_chk(struct __jmp_buf_tag buffer[1], int value);

hcct_export void __longjmp_chk(struct __jmp_buf_tag buffer[1], int value) {
    before_jump(buffer);
    real_longjmp(REAL_LONGJMP_CHK, buffer, value);
}
