/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * memory.c - mlockall locks the application's memory, not the agent's: the session alone has
 * half a gigabyte of address space, or 4 where calls are counted, which would become real. Who
 * limits their address space (at the start the agent has gone by the limit) has no use for it
 * either.
 */
#include <errno.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "preload/calls/calls.h"
#include "preload/life/agent.h"
#include "preload/life/confine.h"
#include "preload/life/memory.h"
#include "preload/life/session.h"
#include "preload/life/sys.h"
#include "preload/life/thread.h"
#include "preload/redirect/redirect.h"
#include "preload/wrap/real.h"

/* What a thread keeps for its calls: a megabyte, of which little is used. */
static void unlock_calls(void) {
    for (struct agent_thread *t = thread_first(); t != NULL; t = t->next) {
        if (t->calls != NULL)
            sys2(SYS_munlock, t->calls, sizeof *t->calls);
        redirect_unlock(t);
    }
}

/* The calling thread's calls: the session's memory goes when no thread uses it any more. */
static void stop_counting(struct calls *c) {
    if (c != NULL && c->alive && c->session != NULL)
        calls_lose(c);
}

/* Under a limit (RLIMIT_MEMLOCK) all address space counts, so the session has to go. */
static int lock_without_session(int flags) {
    bool hidden = session_hide();
    struct calls *followed = calls_self;
    if (hidden)
        calls_self = NULL; /* a handler's calls could not wait for the session */
    int result = real_mlockall(flags);
    if (result != 0 && errno == ENOMEM && hidden) {
        session_leave_for_good();
        stop_counting(thread_self->calls);
        followed = NULL;
        result = real_mlockall(flags);
    }
    int saved = errno;
    if (hidden) {
        session_show();
        calls_self = followed;
    }
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
    if (result == 0) {
        thread_unlock_contexts();
        unlock_calls();
    }
    confine_leave(self, before);
    errno = saved;
    return result;
}

/* The next tick begins a session of the size that there is for such programs. */
static void limit_session(void) {
    struct agent_thread *self = thread_self;
    uint32_t before;
    int saved = errno;
    if (self == NULL || !agent_owns_memory() || !confine_enter(self, &before))
        return;
    if (agent.settings.collector != WIRE_COLLECT_CALLS && session_hide()) {
        session_drop();
        session_show();
    }
    confine_leave(self, before);
    errno = saved;
}

static bool limits_space(int resource, const struct rlimit *limit) {
    return resource == RLIMIT_AS && limit != NULL && limit->rlim_cur != RLIM_INFINITY;
}

hcct_export int setrlimit(__rlimit_resource_t resource, const struct rlimit *limit) {
    int result = real_setrlimit(resource, limit);
    if (result == 0 && limits_space(resource, limit))
        limit_session();
    return result;
}

hcct_export int prlimit(pid_t pid, enum __rlimit_resource resource, const struct rlimit *limit,
                        struct rlimit *old) {
    int result = real_prlimit(pid, resource, limit, old);
    if (result == 0 && limits_space(resource, limit) &&
        (pid == 0 || pid == (pid_t)sys0(SYS_getpid)))
        limit_session();
    return result;
}

#ifdef __LP64__
/* The same functions: both types are the same. */
hcct_export int setrlimit64(__rlimit_resource_t resource, const struct rlimit64 *limit)
    __attribute__((alias("setrlimit")));
hcct_export int prlimit64(pid_t pid, enum __rlimit_resource resource, const struct rlimit64 *limit,
                          struct rlimit64 *old) __attribute__((alias("prlimit")));
#endif
