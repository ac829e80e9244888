/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * unwind.h - the walk: from registers to frames, by compact tables.
 *
 * A pure function of (registers, memory reader, tables): it calls nothing but the two functions
 * that it is given, keeps no state, and touches no memory but the frames that it fills. So it runs
 * in a signal handler and, with recorded snapshots, in a test.
 */
#ifndef HCCT_UNWIND_H
#define HCCT_UNWIND_H

#include "preload/sample/unwind_types.h"

/* All registers of an interrupted program. */
void unwind_registers_of(struct unwind_registers *regs, const ucontext_t *uc);

/* One frame: from `regs` to the caller's. `*module` is the last one found (zeroed at first).
 * UNWIND_STEPPED, or how the walk has ended; step->routine is filled in any case. */
enum unwind_end unwind_step(const struct unwind_env *env, struct unwind_module *module,
                            struct unwind_registers *regs, struct unwind_step *step);

/* Walks from `regs` (changed on the way) and fills frames[0..*n), innermost first, at most `room`.
 * Says how the walk ended; what was found up to there is in frames. */
enum unwind_end unwind_walk(const struct unwind_env *env, struct unwind_registers *regs,
                            struct unwind_frame *frames, uint32_t room, uint32_t *n);

#endif
