/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * keys.c - a process has 1,024 keys of thread-local values, one of which ends our threads. Who
 * needs the last one gets it, and is not profiled any more.
 */
#include <errno.h>
#include <pthread.h>
#include <threads.h>

#include "common/wire/compiler.h"
#include "preload/life/silence.h"
#include "preload/life/thread_life.h"
#include "preload/sample/edge.h"
#include "preload/wrap/real.h"

/* True: there is a key more. */
static bool give_key(const struct sleep_place *caller) {
    return confine_for_good(caller) && thread_give_key();
}

hcct_export int pthread_key_create(pthread_key_t *key, void (*destructor)(void *)) {
    const struct sleep_place caller = EDGE_CALLER;
    int result = real_pthread_key_create(key, destructor);
    return result == EAGAIN && give_key(&caller) ? real_pthread_key_create(key, destructor)
                                                 : result;
}

hcct_export int tss_create(tss_t *key, tss_dtor_t destructor) {
    const struct sleep_place caller = EDGE_CALLER;
    int result = real_tss_create(key, destructor);
    return result != thrd_success && give_key(&caller) ? real_tss_create(key, destructor) : result;
}
