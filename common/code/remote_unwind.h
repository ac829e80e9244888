/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * remote_unwind.h - walks a copy of a thread's stack with libunwind, from registers and the files
 * of its modules. Runs in the worker child: all of it may be hostile.
 *
 * Frames are named as the agent's own walk (preload/sample/unwind.h) would name them. libunwind
 * interprets the unwind entries; which entry covers a pc is found here, and libunwind's guesses for
 * code that has none (frame pointers) are not taken.
 */
#ifndef HCCT_REMOTE_UNWIND_H
#define HCCT_REMOTE_UNWIND_H

#include <stdbool.h>
#include <stdint.h>

#include "common/code/raw_stack.h"
#include "common/code/unwind_image.h"

struct remote_unwinder;

struct remote_unwinder *remote_unwinder_new(void); /* NULL: no memory */
void remote_unwinder_free(struct remote_unwinder *unwinder);

/* From now on `image`, which is taken over, is the module's. The images that were not used for
 * longest are forgotten when there are many. */
void remote_unwinder_keep(struct remote_unwinder *unwinder, uint32_t module,
                          struct unwind_image *image);

/* Walks the stack, and fills frames, which has room for RAW_STACK_FRAMES_MAX, and walk->n and
 * ->mark. Returns 0, or a module whose image is needed first. */
uint32_t remote_unwind(struct remote_unwinder *unwinder, const struct raw_stack *stack,
                       struct unwound_frame *frames, struct unwound_stack *walk);

#endif
