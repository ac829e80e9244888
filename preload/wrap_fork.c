/*
 * wrap_fork.c - where fork was called: our signal is blocked until it is over.
 */
#include <unistd.h>

#include "common/compiler.h"
#include "preload/caller.h"
#include "preload/real.h"
#include "preload/thread.h"

hcct_export pid_t fork(void) {
    struct agent_thread *thread = thread_self;
    if (thread == NULL)
        return real_fork();
    struct caller caller = CALLER_OF_REAL(real_fork_address());
    const struct caller *outer = thread->forker;
    thread->forker = &caller;
    pid_t result = real_fork();
    thread->forker = outer;
    return result;
}
