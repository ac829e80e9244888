/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * inside.h - what the functions of libhcctlocks.so have in common: the next library's functions,
 * the clock, and the chance of the calling thread.
 *
 * Thread context, or inside a handler of the application.
 */
#ifndef HCCT_LOCKS_INSIDE_H
#define HCCT_LOCKS_INSIDE_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "common/wire/compiler.h"
#include "preload/events/course.h"
#include "preload/life/sys.h"
#include "preload/locks/link.h"
#include "preload/wrap/libc.h"
#include "preload/wrap/next_symbol.h"

#define SECOND_NS 1000000000

/* What the application calls stands in a part of the code of its own (preload/events/link.h). */
#define LOCKS_WRAPPER hcct_export hcct_jumps __attribute__((section("hcct_locks")))
/* The rest of such a function, which it jumps to: so the caller is the application here, too. */
#define LOCKS_SLOWLY static hcct_noinline __attribute__((section("hcct_locks")))

struct function {
    const char *name;
    _Atomic(void *) found;
};

static hcct_noinline void *look_up(struct function *it) {
    void *(*find)(const char *) = hcct_locks_link.find;
    void *function = find != NULL ? find(it->name) : next_by_itself(it->name);
    atomic_store_explicit(&it->found, function, memory_order_relaxed);
    return function;
}

/* NULL: it has not been looked up. */
static inline void *next_if_found(const struct function *it) {
    return atomic_load_explicit(&it->found, memory_order_relaxed);
}

static inline void *next(struct function *it) {
    void *function = next_if_found(it);
    return hcct_likely(function != NULL) ? function : look_up(it);
}

static inline uint64_t locks_now(void) {
    struct timespec time;
    libc_clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * SECOND_NS + (uint64_t)time.tv_nsec;
}

/* `left` is of waits, by the one that waits. */
extern __thread struct course locks_course
    __attribute__((tls_model("initial-exec"), visibility("hidden")));
void locks_course_begin(void) __attribute__((visibility("hidden")));

/* A child of fork begins anew. */
static inline void locks_course_here(void) {
    if (!locks_course.begun || locks_course.process != (pid_t)sys0(SYS_getpid))
        locks_course_begin();
}

#endif
