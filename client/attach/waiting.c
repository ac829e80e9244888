/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * waiting.c - reads how often a thread has gone to sleep, its call, and the number again.
 */
#include "client/attach/waiting.h"

#include "client/attach/target.h"
#include "common/wire/waits.h"

static bool has_switched(pid_t pid, pid_t tid, uint64_t *times) {
    return target_status(pid, tid, "voluntary_ctxt_switches", false, times);
}

/* The call that is read is that of the sleep which is counted. */
static bool waits(pid_t pid, pid_t tid, struct wire_attach_thread *thread) {
    struct target_sleep where;
    uint64_t after;
    if (!has_switched(pid, tid, &thread->switches) || !target_where(pid, tid, &where) ||
        !has_switched(pid, tid, &after) || after != thread->switches)
        return false;
    thread->waits_on = waits_on_socket(where.call, where.argument);
    return !where.running && where.call >= 0 && waits_again(where.call, where.argument);
}

size_t waiting_name(struct wire_attach *request, pid_t pid, const pid_t *list, size_t n,
                    size_t from, bool ours) {
    request->n_threads = 0;
    for (; from < n && request->n_threads < WAITING_MOST; from++) {
        struct wire_attach_thread *thread = &request->thread[request->n_threads];
        *thread = (struct wire_attach_thread){0};
        if (!waits(pid, list[from], thread))
            continue;
        thread->tid = ours ? list[from] : target_own_number(pid, list[from]);
        request->n_threads += thread->tid != 0;
    }
    return from;
}
