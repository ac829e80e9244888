/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * own_names.c - a program whose functions have names that libc has, too, and C leaves to programs.
 * Nobody else may call them. Prints which were called.
 */
#include <stdio.h>

#define NAMES(F)                                                                                   \
    F(readlink)                                                                                    \
    F(sysconf)                                                                                     \
    F(getauxval)                                                                                   \
    F(dl_iterate_phdr)                                                                             \
    F(getpid)                                                                                      \
    F(gettid)                                                                                      \
    F(clock_getres)                                                                                \
    F(clock_gettime)                                                                               \
    F(getrusage)                                                                                   \
    F(getrlimit)                                                                                   \
    F(pthread_self)                                                                                \
    F(pthread_getspecific)                                                                         \
    F(pthread_setspecific)                                                                         \
    F(pthread_key_delete)                                                                          \
    F(pthread_attr_init)                                                                           \
    F(pthread_attr_destroy)                                                                        \
    F(pthread_attr_getstacksize)                                                                   \
    F(sigaddset)                                                                                   \
    F(sigdelset)                                                                                   \
    F(sigfillset)                                                                                  \
    F(sigismember)                                                                                 \
    F(mprotect)                                                                                    \
    F(munmap)                                                                                      \
    F(madvise)                                                                                     \
    F(dlsym)                                                                                       \
    F(dladdr)                                                                                      \
    F(open)                                                                                        \
    F(close)                                                                                       \
    F(fcntl)                                                                                       \
    F(timer_create)                                                                                \
    F(timer_settime)                                                                               \
    F(sched_yield)                                                                                 \
    F(usleep)

static int calls;
static const char *first = "none";

/* A word that is no pointer: who takes it for one is ended. */
#define DEFINE(name)                                                                               \
    long own_##name(void) __asm__(#name) __attribute__((visibility("default")));                   \
    long own_##name(void) {                                                                        \
        if (calls++ == 0)                                                                          \
            first = #name;                                                                         \
        return 9;                                                                                  \
    }
NAMES(DEFINE)

int main(void) {
    volatile double sum = 0;
    for (long i = 0; i < 60000000; i++)
        sum += (double)i;
    printf("%d calls by others, first of %s\n", calls, first);
    return 0;
}
