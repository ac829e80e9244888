/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * calls_plugin.c - an instrumented shared object for dlopen. Built twice, with functions of other
 * names at the same places (PART is a or b): which one was called is a matter of time.
 */
#include "tests/targets/calls_count.h"

#define JOIN_(a, b) a##b
#define JOIN(a, b)  JOIN_(a, b)
#define NAMED(name) JOIN(name##_, PART)

/* The two differ in how long their parts are. */
__attribute__((used)) static const char padding[PADDING] = "";

void NAMED(plugin_leaf)(void);
void plugin_run(unsigned n);

__attribute__((noinline)) void NAMED(plugin_leaf)(void) {
    COUNT_CALL();
}

__attribute__((constructor)) static void NAMED(plugin_begin)(void) {
    COUNT_CALL();
    NAMED(plugin_leaf)();
}

__attribute__((destructor)) static void NAMED(plugin_end)(void) {
    COUNT_CALL();
    NAMED(plugin_leaf)();
}

static void NAMED(plugin_work)(unsigned n) {
    COUNT_CALL();
    for (unsigned i = 0; i < n; i++)
        NAMED(plugin_leaf)();
}

NOT_REPORTED void plugin_run(unsigned n) {
    NAMED(plugin_work)(n);
}
