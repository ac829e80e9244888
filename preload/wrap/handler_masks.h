/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * handler_masks.h - whether our signal may come while a handler of the application runs.
 *
 * By itself it may, whatever the application wants: a system call that such a handler has
 * interrupted must be distinguished from one that ours has (restart.h). But the kernel puts our
 * handler's frame on the stack that is in use, and on an alternate stack that is made for one frame
 * there is no room for a second; the kernel then ends the process. So handlers on alternate stacks
 * are left alone when they handle faults, and once the application has set up a small stack, all of
 * them.
 *
 * As long as the application has no alternate stack, that a handler asks for one means nothing, and
 * is kept from the kernel, which has ours (handler_stack.h).
 *
 * What the application reads back is what it has set. Thread context.
 */
#ifndef HCCT_HANDLER_MASKS_H
#define HCCT_HANDLER_MASKS_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* `action`, which the application sets for `number` (another signal than ours, a valid one), with
 * the mask and the stack that the handler is to have. Ours is signal `ours`. */
void handler_mask_apply(int number, int ours, struct sigaction *action);
/* Before it: whether who sets `action` relies on what stack it finds (handler_stack.h). */
void handler_mask_heed(const struct sigaction *action, int ours);
/* What handler_mask_apply() has remembered; to go back to when the action was not taken. */
int handler_mask_get(int number);
void handler_mask_set_back(int number, int before);
/* `old`, as the kernel has it, as the application had set it when handler_mask_get() was `before`.
 */
void handler_mask_show(int before, int ours, struct sigaction *old);

/* libc has set an action for `number` that asks for nothing of the kind. */
void handler_mask_forget(int number);

/* The application is about to have an alternate stack of so many bytes. */
void handler_mask_stack(size_t bytes, int ours);
/* It may have one from now on. */
void handler_mask_allow_stacks(int ours);

/* Our signal is another one now; what was is the application's. */
void handler_mask_move(int before, int ours);

/* longjmp is about to leave: maybe a handler during which our signal is blocked, and without the
 * old mask being restored. `sp` is the caller's. */
void handler_mask_jump(const void *sp);
/* The same out of a handler that has interrupted a call with our signal blocked (wrap/sleep.h), to
 * stack pointer `sp`. One that stays in the handler leaves it blocked. */
void handler_mask_jump_to(uintptr_t sp);
/* The signal is raised by what a thread does itself: its handlers are left alone most. Any context.
 */
bool handler_mask_is_fault(int number);
/* A handler that runs in the calling thread has room for ours. Any context. */
struct agent_thread;
bool handler_mask_has_room(const struct agent_thread *thread);
/* Opens our signal within such a handler, until that returns; unless there is no room for it on the
 * handler's stack. Any context; keeps errno. */
void handler_mask_open(void);

#endif
