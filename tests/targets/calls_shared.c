/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * calls_shared.c - an instrumented shared library: functions that run before main and after it,
 * and one that calls the program.
 */
#include "tests/targets/calls_shared.h"

#include "tests/targets/calls_count.h"

static void shared_step(unsigned i) {
    COUNT_CALL();
    __asm__ volatile("" ::"r"(i));
}

__attribute__((constructor)) static void shared_begin(void) {
    COUNT_CALL();
    for (unsigned i = 0; i < 3; i++)
        shared_step(i);
}

__attribute__((destructor)) static void shared_end(void) {
    COUNT_CALL();
    shared_step(0);
}

void shared_each(unsigned n, void (*each)(void *state, uint64_t x), void *state) {
    COUNT_CALL();
    for (unsigned i = 0; i < n; i++) {
        shared_step(i);
        each(state, i);
    }
}
