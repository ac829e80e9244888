/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * calls_shared.h - an instrumented shared library that programs are linked with.
 */
#ifndef CALLS_SHARED_H
#define CALLS_SHARED_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Calls `each` with the numbers below n. */
void shared_each(unsigned n, void (*each)(void *state, uint64_t x), void *state);

#ifdef __cplusplus
}
#endif

#endif
