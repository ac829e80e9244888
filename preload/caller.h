/*
 * caller.h - what a sample shows instead of the agent's own code.
 *
 * Time that passes while the agent's signal is blocked, in fork for one, is sampled where the agent
 * unblocks it. It is not the agent's: it belongs to the call that the agent has intercepted.
 */
#ifndef HCCT_CALLER_H
#define HCCT_CALLER_H

#include <stdint.h>
#include <ucontext.h>

#include "preload/wrap_sleep.h"

/* A context as a walk begins with it; pc 0: none. */
struct caller {
    uint64_t pc, sp, frame;
};

#if SLEEP_IS_WRAPPED /* else there are no points, and samples show what they meet */
#define CALLER_FRAME ((const uint64_t *)__builtin_frame_address(0))
/* Where this function was called. */
#define CALLER                                                                                     \
    ((struct caller){(uint64_t)(uintptr_t)__builtin_return_address(0),                             \
                     (uint64_t)(uintptr_t)(CALLER_FRAME + 2), CALLER_FRAME[0]})
/* The first instruction of `function`, as if it had been called in this function's place. */
#define CALLER_OF_REAL(function)                                                                   \
    ((struct caller){(uint64_t)(uintptr_t)(function), (uint64_t)(uintptr_t)(CALLER_FRAME + 1),     \
                     CALLER_FRAME[0]})
#else
#define CALLER                   ((struct caller){0, 0, 0})
#define CALLER_OF_REAL(function) ((void)(function), (struct caller){0, 0, 0})
#endif

/* `uc` is `caller` from here on, unless that is NULL or none; *own is what it was. Any context. */
void caller_show(ucontext_t *uc, const struct caller *caller, struct caller *own);

#endif
