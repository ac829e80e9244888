/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * glibc.h - what only glibc has.
 *
 * A child in the tree of a profiled program may use another C library (musl), whose loader ends a
 * program for each symbol of a preloaded library that is not to be found. So these are weak, and
 * the agent does nothing where they are missing: its wrappers lead to the library's functions.
 */
#ifndef HCCT_GLIBC_H
#define HCCT_GLIBC_H

#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>

extern void *__libc_stack_end; /* the main thread's stack as the kernel made it */

/* pthread_atfork() calls it, by an object of libc that is linked into the agent. */
int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void), void *dso);
extern void *__dso_handle __attribute__((visibility("hidden")));

#pragma weak gnu_get_libc_version
#pragma weak __libc_stack_end
#pragma weak _r_debug
#pragma weak __register_atfork
#pragma weak dlvsym

/* True when all of them are there. Any context. */
static inline bool glibc_is_here(void) {
    return gnu_get_libc_version != NULL && &__libc_stack_end != NULL && __register_atfork != NULL;
}

#endif
