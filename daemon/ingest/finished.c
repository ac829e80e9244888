/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * finished.c - waits for a crowd (registry.h), or a minute.
 */
#include "daemon/ingest/finished.h"

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/clock.h"
#include "daemon/ingest/registry.h"
#include "daemon/ingest/windows.h"

#define EXPIRE_NS 60000000000ull /* sub-windows grow old */

static pthread_t thread;

static bool is_remembered(const struct process *process, const void *unused) {
    (void)unused;
    return !process->live && process->subwindows != NULL;
}

static void expire_windows(uint64_t now) {
    size_t n;
    struct process **list = registry_list(is_remembered, NULL, &n); /* else a minute later */
    for (size_t i = 0; i < n; i++)
        windows_expire(list[i], now);
    registry_free_list(list, n);
}

static void *run(void *unused) {
    uint64_t due = clock_now() + EXPIRE_NS;
    (void)unused;
    while (registry_wait_finished(due)) {
        while (registry_fold())
            ;
        uint64_t now = clock_now();
        if (now < due)
            continue;
        expire_windows(now);
        due = now + EXPIRE_NS;
    }
    return NULL;
}

bool finished_start(void) {
    return pthread_create(&thread, NULL, run, NULL) == 0;
}

void finished_stop(void) {
    registry_wait_stop();
    pthread_join(thread, NULL);
}
