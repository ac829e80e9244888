/*
 * last.h - the last sample of a thread.
 *
 * A point that a thread reaches right before its end, or that of the process, has a tick that is
 * still under way: short threads would lack a good part of their time. It is credited to where the
 * agent is told of the end.
 */
#ifndef HCCT_LAST_H
#define HCCT_LAST_H

#include "preload/caller.h"
#include "preload/thread.h"

/* Takes the sample of what the calling thread has reached, at `caller`. Thread context. */
void last_sample(struct agent_thread *thread, const struct caller *caller);

#endif
