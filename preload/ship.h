/*
 * ship.h - a copy of registers and stack, for the daemon to unwind.
 */
#ifndef HCCT_SHIP_H
#define HCCT_SHIP_H

#include <stdint.h>

#include "preload/thread.h"
#include "preload/unwind.h"

/* Sends `regs` and the stack above the stack pointer, as far as it can be read and
 * WIRE_SHIP_STACK_MAX allows, with `weight`. Returns the words that it takes in the ring, 0: there
 * is no room for it. Signal context, inside the session. */
uint32_t ship_stack(struct agent_thread *thread, struct wire_session *session,
                    struct wire_slot *slot, uint64_t weight, const struct unwind_registers *regs,
                    const struct unwind_env *env);

#endif
