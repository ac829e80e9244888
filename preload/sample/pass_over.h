/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * pass_over.h - a function that stands on the stack for the agent's sake alone.
 *
 * libc calls what is registered to run after a fork from a function of its own. There the agent
 * takes the sample that has become due while the kernel forked; without the agent nothing would be
 * registered, and the time would be seen in fork. So such a sample is the caller's.
 */
#ifndef HCCT_PASS_OVER_H
#define HCCT_PASS_OVER_H

#include <stdint.h>

#include "preload/sample/unwind.h"

#define PASS_OVER_MAX 2u /* places: after a fork, in the parent and in the child */

/* A sample of exactly `pc` is its caller's from now on. The place is forgotten when there are too
 * many. Any context. */
void pass_over_note(uint64_t pc);

/* Where `regs` are at such a place, they are the caller's afterwards; unless it can't be found, as
 * there is no table yet and has never been one. Signal context, in any thread. */
void pass_over(const struct unwind_env *env, struct unwind_registers *regs);

#endif
