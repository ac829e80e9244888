/*
 * last.h - the last sample of a thread.
 *
 * A point that a thread reaches right before its end, or that of the process, has a tick that is
 * still under way: short threads would lack a good part of their time. It is credited to where the
 * agent is told of the end.
 */
#ifndef HCCT_LAST_H
#define HCCT_LAST_H

#include <stdint.h>

#include "preload/thread.h"
#include "preload/wrap_sleep.h"

/* Where the function that asks for it was called. */
struct last_caller {
    uint64_t pc, sp, frame;
};

#if SLEEP_IS_WRAPPED /* else there are no points */
#define LAST_CALLER                                                                                \
    ((struct last_caller){(uint64_t)(uintptr_t)__builtin_return_address(0),                        \
                          (uint64_t)(uintptr_t)__builtin_frame_address(0) + 16,                    \
                          *(const uint64_t *)__builtin_frame_address(0)})
#else
#define LAST_CALLER ((struct last_caller){0, 0, 0})
#endif

/* Takes the sample of what the calling thread has reached. Thread context. */
void last_sample(struct agent_thread *thread, const struct last_caller *caller);

#endif
