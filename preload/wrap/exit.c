/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * exit.c - the end of a process that runs no destructors.
 */
#include <unistd.h>

#include "common/wire/compiler.h"
#include "preload/life/agent.h"
#include "preload/life/confine.h"
#include "preload/life/handler_room.h"
#include "preload/life/session.h"
#include "preload/life/thread.h"
#include "preload/sample/edge.h"
#include "preload/sample/wall_leave.h"
#include "preload/wrap/real.h"

_Noreturn void _Exit(int status);

/* A child that shares its parent's memory (vfork) leaves nothing. */
static void leave(struct sleep_place caller) {
    if (agent_started() && thread_self != NULL && agent_owns_memory()) {
        edge_sample_last(thread_self, caller);
        handler_room_leave();
        session_note_end(thread_self);
    }
    wall_leave();
}

hcct_export void _exit(int status) {
    leave(EDGE_CALLER);
    real_exit(status);
}

hcct_export void _Exit(int status) {
    leave(EDGE_CALLER);
    real_exit(status);
}
