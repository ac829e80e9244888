/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * unwind_bare.h - steps through code that has no unwind data: assembly, generated code.
 *
 * Nothing tells for certain where the caller is. What is found is checked before it is used: a
 * return address follows a call, and where the call's target can be read it must be such code, too.
 * What passes is counted (WIRE_BY_FP) or opaque; what does not ends the walk.
 */
#ifndef HCCT_UNWIND_BARE_H
#define HCCT_UNWIND_BARE_H

#include "preload/sample/unwind_types.h"

/* From code of `module` that has no rule. Fills step->routine. */
enum unwind_end unwind_bare_step(const struct unwind_env *env, const struct unwind_module *module,
                                 struct unwind_registers *regs, struct unwind_step *step);

/* From a pc that no module covers: generated code, or no code at all (then step->routine is 0). */
enum unwind_end unwind_generated_step(const struct unwind_env *env, struct unwind_registers *regs,
                                      struct unwind_step *step);

#endif
