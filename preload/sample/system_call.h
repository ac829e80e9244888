/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * system_call.h - the system call that a sample has met, as a frame below all others.
 *
 * A signal that comes while its thread is in the kernel is handled when the call returns, or before
 * it is made again. The thread is right behind the instruction that made the call then, or at it.
 * What the number of the call was is not in the signal's frame: it stands in the code, in a
 * register that the kernel leaves alone, or is known from who made the call.
 */
#ifndef HCCT_SAMPLE_SYSTEM_CALL_H
#define HCCT_SAMPLE_SYSTEM_CALL_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#include "common/wire/arch.h"
#include "common/wire/compiler.h"
#include "preload/sample/unwind.h"

/* Learns where this library is. Process context, before samples. */
void system_call_start(void);

/* Private: the thread may be in a system call. Reads code. */
bool system_call_read(const struct unwind_env *env, const ucontext_t *uc,
                      struct unwind_frame *frame);

/* False: the thread runs code of its own. Costs a comparison then, where the processor lets us tell
 * by registers. Signal context. */
static inline bool system_call_met(const struct unwind_env *env, const ucontext_t *uc,
                                   struct unwind_frame *frame) {
    return hcct_unlikely(arch_may_be_in_call(uc)) && system_call_read(env, uc, frame);
}

/* The frame of a call that is over: by which instruction it was made is not known. `site`: where
 * the function has returned to that made it; 0: it has not. Any context. */
struct unwind_frame system_call_shown(uint64_t number, uint64_t site);

#endif
