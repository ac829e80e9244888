/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * shadow_machine.h - what calls, returns and signals do to the stack, by architecture: beside the
 * functions below each file has shadow_kind_at(). Private to shadow*.c.
 */
#ifndef HCCT_STEP_SHADOW_MACHINE_H
#define HCCT_STEP_SHADOW_MACHINE_H

#include "tests/step/shadow.h"

enum shadow_called { SHADOW_CALLED, SHADOW_FAULTED, SHADOW_STRANGE };

/* Whether a call was made: where it is going to return to. */
enum shadow_called shadow_machine_called(struct memory *memory,
                                         const struct user_regs_struct *before,
                                         const struct user_regs_struct *after, uint64_t *target);

/* At the first instruction of a function: where it is going to return to. */
bool shadow_machine_first(struct memory *memory, const struct user_regs_struct *now,
                          uint64_t *target);

/* After a return has set the stack pointer: calls whose slots are below this are over. */
uint64_t shadow_machine_left(uint64_t sp);

/* At the first instruction of a handler: where the kernel has put the interrupted pc. */
uint64_t shadow_machine_interrupted(const struct user_regs_struct *handler);

#endif
