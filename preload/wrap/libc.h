/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * libc.h - libc's own functions, whatever the program defines.
 *
 * The language leaves names such as readlink, sysconf or getauxval to programs. The loader gives
 * everybody the first function of a name, which is the program's: it may mean something else, or
 * come back to the agent. So the agent calls by the loader only what C reserves for libc (mem...,
 * str..., getenv), and by this file what it needs besides. Each is looked up when it is first
 * called: that reads tables, and takes no lock. Any context, but where said.
 */
#ifndef HCCT_LIBC_H
#define HCCT_LIBC_H

#include <link.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* As getauxval; 0: the kernel does not say. */
unsigned long libc_getauxval(unsigned long type);

/* As sysconf; -1: not known. */
long libc_sysconf(int name);

/* As dl_iterate_phdr, which takes the loader's lock: process context. With another C library, too.
 */
int libc_iterate_objects(int (*see)(struct dl_phdr_info *object, size_t size, void *arg),
                         void *arg);

/* As clock_gettime. */
int libc_clock_gettime(clockid_t clock, struct timespec *time);

/* CLOCK_MONOTONIC, as exact as the kernel's tick; ns. */
static inline uint64_t libc_coarse_ns(void) {
    struct timespec now;
    libc_clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* As pthread_self. */
pthread_t libc_thread_self(void);

/* As pthread_getspecific, pthread_setspecific, pthread_key_delete. The second one may allocate
 * where the key is not one of the first 32. */
void *libc_getspecific(pthread_key_t key);
bool libc_setspecific(pthread_key_t key, const void *value);
bool libc_key_delete(pthread_key_t key);

/* How large the stack of a thread with these attributes (NULL: none) will be; 0: not known. Process
 * context. */
size_t libc_stack_size(const pthread_attr_t *attr);

#endif
