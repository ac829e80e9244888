/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * emit_raw_stack.h - sends a copy of registers and stack, which the daemon unwinds.
 */
#ifndef HCCT_EMIT_RAW_STACK_H
#define HCCT_EMIT_RAW_STACK_H

#include <stdint.h>

#include "preload/life/thread.h"
#include "preload/sample/unwind.h"

/* Sends what the daemon needs to make the walk that has ended early in thread->memo: where it is to
 * begin, and the stack from there on, as far as it can be read and WIRE_RAW_STACK_MAX allows, with
 * `weight`. With `inner` = 0 the walk begins at thread->interrupted; else at memo->at, and the
 * first `inner` steps of the memo, whose last one leads there, go with it. Returns the words that
 * it takes in the ring, 0: there is no room for it. Signal context, inside the session. */
uint32_t emit_raw_stack(struct agent_thread *thread, struct wire_session *session,
                        struct wire_slot *slot, uint64_t weight, uint32_t inner,
                        const struct unwind_env *env);

#endif
