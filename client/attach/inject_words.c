/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * inject_words.c - what people read of a result.
 */
#include "client/attach/inject.h"

const char *inject_words(enum injected result) {
    static const char *const words[] = {
        [INJECTED] = "done",
        [INJECT_NO_RIGHTS] = "the kernel does not let this user trace it",
        [INJECT_GONE] = "it has ended",
        [INJECT_NO_LIBC] = "it does not use glibc, or is statically linked, and the agent needs "
                           "glibc 2.35 or later",
        [INJECT_OLD_LIBC] = "its glibc is too old: the agent needs 2.35 or later",
        [INJECT_STRANGE_LIBC] = "its glibc is built in a way that is not known",
        [INJECT_NOT_LOADED] = "its loader could not load the agent: it does not see the file, may "
                              "not map it, or has no room left for thread-local variables; start "
                              "it under 'hcct record --' instead",
        [INJECT_NEVER_SAFE] = "no thread of it was where a library can be loaded without risk; it "
                              "goes on as it was: try again, or with a larger --wait",
        [INJECT_AGAIN] = "a thread did not stop",
        [INJECT_NOT_IN_TIME] = "its loader was busy for too long; it goes on as it was: try again",
        [INJECT_CONFINED] =
            "it has forbidden itself system calls that the agent makes (seccomp), or has "
            "them sent to itself (Wine); "
            "start it under 'hcct record --', where the agent is there before",
        [INJECT_BROKEN] = "the agent's function ended with a fault",
        [INJECT_NOT_HERE] = "attaching is for x86-64: start the program under 'hcct record --'",
    };
    return words[result];
}
