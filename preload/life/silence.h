/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * silence.h - the agent falls silent before the program may make no more system calls (confine.h).
 */
#ifndef HCCT_SILENCE_H
#define HCCT_SILENCE_H

#include <stdbool.h>

#include "preload/life/thread.h"
#include "preload/wrap/sleep.h"

/* What confine_begin has made quiet; for confine_end. */
struct confine {
    enum { CONFINE_NOTHING, CONFINE_THREAD, CONFINE_PROCESS } which;
    struct agent_thread *thread; /* the calling one, NULL: it was not profiled */
    bool some_before;            /* confine_some, as it was */
    int signal;                  /* the agent's, before */
};

/* Before the calling thread confines itself, or `all` threads of the process: what is due is
 * sampled, timers are deleted. confine_end must follow. Thread context. */
void confine_begin(struct confine *what, bool all, const struct sleep_place *caller);
/* After it: where it was refused the profile goes on. Thread context. */
void confine_end(const struct confine *what, bool done);

/* The whole process is not profiled any more: the program needs what the agent has. False: it was
 * not profiled. Thread context. */
bool confine_for_good(const struct sleep_place *caller);

#endif
