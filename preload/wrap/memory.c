/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * memory.c - mlockall locks the application's memory, not the agent's: the session alone has
 * half a gigabyte of address space, which would become real.
 */
#include <errno.h>
#include <stdbool.h>
#include <sys/mman.h>

#include "preload/life/agent.h"
#include "preload/life/confine.h"
#include "preload/life/memory.h"
#include "preload/life/session.h"
#include "preload/life/thread.h"
#include "preload/wrap/real.h"

/* Under a limit (RLIMIT_MEMLOCK) all address space counts, so the session has to go. */
static int lock_without_session(int flags) {
    bool hidden = session_hide();
    int result = real_mlockall(flags);
    if (result != 0 && errno == ENOMEM && hidden) {
        session_leave_for_good();
        result = real_mlockall(flags);
    }
    int saved = errno;
    if (hidden)
        session_show();
    errno = saved;
    return result;
}

hcct_export int mlockall(int flags) {
    struct agent_thread *self = thread_self;
    uint32_t before;
    if (self == NULL || !agent_owns_memory() || !confine_enter(self, &before))
        return real_mlockall(flags);
    if ((flags & MCL_FUTURE) != 0)
        memory_locked_from_now();
    int result = lock_without_session(flags), saved = errno;
    if (result == 0)
        thread_unlock_contexts();
    confine_leave(self, before);
    errno = saved;
    return result;
}
