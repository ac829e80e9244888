/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * show.h - a walk with the functions of Python in the place of the interpreter's loop.
 */
#ifndef HCCT_PYTHON_SHOW_H
#define HCCT_PYTHON_SHOW_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/life/thread.h"

struct python_shown {
    uint32_t effort; /* as so many steps of a walk */
    bool cut;        /* outermost frames were left out, for the limit */
    bool lost;       /* the ring has no room for the names */
};

/* The frames of thread->memo, at most `limit`, are shown with functions of Python in them; as they
 * are where there are none. Of a thread with thread->python. Signal context, inside the session. */
struct python_shown python_show(struct agent_thread *thread, struct wire_slot *slot,
                                uint32_t limit);

/* The walk that is shown ends within a function of Python. Any context. */
bool python_is_innermost(const struct agent_thread *thread);

#endif
