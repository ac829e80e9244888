/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * unsampled.h - how long threads were there without being sampled, and whether that was asked for.
 *
 * Between two sessions, or while sampling is paused, no timer looks for points. What a thread has
 * used by then is known exactly: CPU time by its clock, on the wall clock time itself. It is lost
 * where the daemon has fallen silent, as it still lives and its user waits for samples. It was not
 * asked for where there was no daemon, where the last one has ended (the next one knows what it has
 * not seen), and while sampling was paused.
 *
 * A period is accounted for at ticks that look for a daemon, at the thread's end and at that of the
 * process, each part once, whoever does it. Sums wait in agent_process for a session to be sent to;
 * and stand in the memory of the session that was left, in case there is no other one.
 */
#ifndef HCCT_UNSAMPLED_H
#define HCCT_UNSAMPLED_H

#include <stdbool.h>
#include <stdint.h>

#include "common/wire/compiler.h"
#include "preload/life/thread.h"

/* The thread is not sampled from now on, or from `since` of its CPU time on (UINT64_MAX: now).
 * `lost`: as the daemon has fallen silent. Nothing where it is not sampled already. On the thread,
 * or while it can't run. Any context. */
void unsampled_begin(struct agent_thread *thread, uint64_t since, bool lost);
/* It is sampled again, or ends. The same. */
void unsampled_end(struct agent_thread *thread);
/* Adds up to now what the thread was not sampled. Any thread, any context. */
void unsampled_account(struct agent_thread *thread);
/* The same, for all threads. */
void unsampled_account_all(void);

/* Weight that can be reported to no session: of samples that came while the session was changed, or
 * after it was left. Any context. */
void unsampled_add(uint64_t ns, bool lost);

/* The rest of the function below. */
void unsampled_report(struct wire_session *session);
/* What no session has heard of yet is this one's to report. Any context, inside the session. */
static inline void unsampled_tell(struct wire_session *session) {
    const struct agent_unsampled *it = &agent.process->unsampled;
    if (hcct_unlikely((atomic_load_explicit(&it->lost_ns, memory_order_relaxed) |
                       atomic_load_explicit(&it->unasked_ns, memory_order_relaxed)) != 0))
        unsampled_report(session);
}

/* A session begins: it is sent what came between the last one and this, by itself, as the daemon
 * may know that from another source. While nobody else can use the session. */
void unsampled_pass(struct wire_session *session);
/* The process ends, or may end soon, without another session than `left`, which it has left. */
void unsampled_leave(struct wire_session *left);

#endif
