/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * unwind_search.h - the caller of code that has no unwind data and can't be followed to its return,
 * by what is on the stack.
 */
#ifndef HCCT_UNWIND_SEARCH_H
#define HCCT_UNWIND_SEARCH_H

#include "preload/sample/unwind_types.h"

/* From code of `module` without a rule or of no module (NULL). True: regs are the caller's. False:
 * nothing on the next words of the stack is good enough, and nothing has changed but
 * step->effort. */
bool unwind_search(const struct unwind_env *env, const struct unwind_module *module,
                   struct unwind_registers *regs, struct unwind_step *step);

#endif
