/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * unwind_follow.h - the caller of code that has no unwind data, by following the code to its
 * return.
 */
#ifndef HCCT_UNWIND_FOLLOW_H
#define HCCT_UNWIND_FOLLOW_H

#include "preload/sample/unwind_types.h"

/* From regs->pc, in code of `module` without a rule or in code of no module (NULL). True: regs are
 * the caller's, and step says where the return address was. False: no return was found within
 * bounds, nothing has changed but step->effort, and the kind of step must be another. */
bool unwind_follow(const struct unwind_env *env, const struct unwind_module *module,
                   struct unwind_registers *regs, struct unwind_step *step);

#endif
