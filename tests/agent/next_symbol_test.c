/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * next_symbol_test.c - the agent's own search for functions finds what dlsym does: plain ones,
 * those with several versions, those that are resolved by a call, and those that nobody has.
 */
#include <dlfcn.h>

#include "preload/wrap/next_symbol.h"
#include "tests/check.h"

static const char *const names[] = {
    "read",
    "write",
    "poll",
    "epoll_pwait2",
    "nanosleep",
    "thrd_sleep",
    "sigaction",
    "longjmp",
    "__longjmp_chk",
    "pthread_create",
    "pthread_cond_wait",
    "sem_wait",
    "sem_timedwait",
    "dlclose",
    "_exit",
    "signal",
    "sysv_signal",
    "getrandom",
    "fopen",
    "realpath",
    "regexec",
    "memcpy",
    "strlen",
    "gettimeofday",
    "time",
    "posix_spawn",
    "glob64",
    "nobody_has_this",
    "",
    "sin",
    "environ",
    "stdout",
};

#define N ((unsigned)(sizeof names / sizeof *names))

/* More than are looked for at once, some of them more than once. */
static void test_together(void) {
    const char *many[3 * N];
    void *found[3 * N];
    for (unsigned i = 0; i < 3 * N; i++)
        many[i] = names[i % N];
    next_symbols(many, found, 3 * N);
    for (unsigned i = 0; i < 3 * N; i++)
        CHECK(found[i] == dlsym(RTLD_NEXT, many[i]));
}

int main(void) {
    test_together();
    for (unsigned i = 0; i < N; i++) {
        void *found = next_symbol(names[i]), *truth = dlsym(RTLD_NEXT, names[i]);
        if (found != truth)
            fprintf(stderr, "%s: %p, not %p\n", names[i], found, truth);
        CHECK(found == truth);
    }
    return check_report();
}
