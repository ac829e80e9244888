/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * libc.c - a table of the names, and what was found.
 */
#include "preload/wrap/libc.h"

#include <stdatomic.h>

#include "common/wire/compiler.h"
#include "preload/life/sys.h"
#include "preload/wrap/next_symbol.h"

enum name {
    GETAUXVAL,
    SYSCONF,
    ITERATE,
    CLOCK_GETTIME,
    SELF,
    GETSPECIFIC,
    SETSPECIFIC,
    KEY_DELETE,
    ATTR_INIT,
    ATTR_SIZE,
    ATTR_DESTROY,
};

static const char *const names[] = {
    [GETAUXVAL] = "getauxval",
    [SYSCONF] = "sysconf",
    [ITERATE] = "dl_iterate_phdr",
    [CLOCK_GETTIME] = "clock_gettime",
    [SELF] = "pthread_self",
    [GETSPECIFIC] = "pthread_getspecific",
    [SETSPECIFIC] = "pthread_setspecific",
    [KEY_DELETE] = "pthread_key_delete",
    [ATTR_INIT] = "pthread_attr_init",
    [ATTR_SIZE] = "pthread_attr_getstacksize",
    [ATTR_DESTROY] = "pthread_attr_destroy",
};

static _Atomic(void *) found[HCCT_ARRAY_LEN(names)];

/* NULL: the program has another C library. */
static void *libc(enum name which) {
    void *function = atomic_load_explicit(&found[which], memory_order_relaxed);
    if (hcct_unlikely(function == NULL)) {
        function = libc_symbol(names[which]);
        atomic_store_explicit(&found[which], function, memory_order_relaxed);
    }
    return function;
}

#define AS(type, which) ((type)libc(which))

unsigned long libc_getauxval(unsigned long type) {
    unsigned long (*get)(unsigned long) = AS(unsigned long (*)(unsigned long), GETAUXVAL);
    return get != NULL ? get(type) : 0;
}

long libc_sysconf(int name) {
    long (*get)(int) = AS(long (*)(int), SYSCONF);
    return get != NULL ? get(name) : -1;
}

int libc_iterate_objects(int (*see)(struct dl_phdr_info *object, size_t size, void *arg),
                         void *arg) {
    typedef int iterate(int (*)(struct dl_phdr_info *, size_t, void *), void *);
    iterate *all = AS(iterate *, ITERATE);
    return all != NULL ? all(see, arg) : 0;
}

hcct_hot int libc_clock_gettime(clockid_t clock, struct timespec *time) {
    int (*get)(clockid_t, struct timespec *) =
        AS(int (*)(clockid_t, struct timespec *), CLOCK_GETTIME);
    return get != NULL ? get(clock, time) : (int)sys2(SYS_clock_gettime, clock, time);
}

pthread_t libc_thread_self(void) {
    pthread_t (*self)(void) = AS(pthread_t(*)(void), SELF);
    return self != NULL ? self() : 0;
}

void *libc_getspecific(pthread_key_t key) {
    void *(*get)(pthread_key_t) = AS(void *(*)(pthread_key_t), GETSPECIFIC);
    return get != NULL ? get(key) : NULL;
}

bool libc_setspecific(pthread_key_t key, const void *value) {
    int (*set)(pthread_key_t, const void *) = AS(int (*)(pthread_key_t, const void *), SETSPECIFIC);
    return set != NULL && set(key, value) == 0;
}

bool libc_key_delete(pthread_key_t key) {
    int (*take)(pthread_key_t) = AS(int (*)(pthread_key_t), KEY_DELETE);
    return take != NULL && take(key) == 0;
}

/* The default is changed by pthread_setattr_default_np. */
size_t libc_stack_size(const pthread_attr_t *attr) {
    int (*size)(const pthread_attr_t *, size_t *) =
        AS(int (*)(const pthread_attr_t *, size_t *), ATTR_SIZE);
    int (*init)(pthread_attr_t *) = AS(int (*)(pthread_attr_t *), ATTR_INIT);
    int (*destroy)(pthread_attr_t *) = AS(int (*)(pthread_attr_t *), ATTR_DESTROY);
    pthread_attr_t plain;
    size_t bytes = 0;
    if (size == NULL || init == NULL || destroy == NULL || (attr == NULL && init(&plain) != 0))
        return 0;
    bytes = size(attr != NULL ? attr : &plain, &bytes) == 0 ? bytes : 0;
    if (attr == NULL)
        destroy(&plain);
    return bytes;
}
