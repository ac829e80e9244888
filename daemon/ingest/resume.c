/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * resume.c - moving what is kept from one process to the next.
 */
#include "daemon/ingest/resume.h"

#include "daemon/ingest/drain.h"
#include "daemon/ingest/windows.h"

/* CPU time that passed after the checkpoint; none is missed where sampling was paused. */
static void tell_gap(struct process_stats *kept, const struct process *process) {
    struct process_stats now;
    process_stats_locked((struct process *)process, &now);
    if (!kept->off && now.cpu_ns > kept->cpu_ns)
        kept->gap_ns += now.cpu_ns - kept->cpu_ns;
}

/* What a user set in the last session (control.c), not what the agent asks for. */
static void set_as_before(struct wire_session *session, const struct process_stats *kept) {
    if (kept->rate > 0)
        atomic_store(&session->rate, kept->rate);
    atomic_store(&session->burst_length_ns, kept->burst_length_ns);
    atomic_store(&session->burst_period_ns, kept->burst_period_ns);
    if (kept->off)
        atomic_fetch_and(&session->control, ~WIRE_CONTROL_ON);
}

static void take(struct process *p, struct process *old) {
    struct mcct *empty = p->tree;
    p->tree = old->tree;
    old->tree = empty;
    if (old->before.by == BEFORE_BY_OTHER)
        p->before = old->before;
    else
        p->before.by = old->waiting ? BEFORE_BY_GAP : BEFORE_BY_SESSION;
    if (old->waiting)
        tell_gap(&old->ended, p);
    set_as_before(p->memory.session, &old->ended);
    p->ended = old->ended;
    p->effects = old->effects;
    old->effects = (struct scatter_effects){0};
    followed_add(&p->followed, &old->followed);
    numbered_fold(&p->numbered, &old->numbered);
    p->ended.threads -= old->threads_open < p->ended.threads ? old->threads_open : p->ended.threads;
    p->since_ns = old->since_ns;
    p->since_mono_ns = old->since_mono_ns;
    windows_resume(p, old);
    old->ended = (struct process_stats){0};
}

bool resume(struct process *p, struct process *old) {
    process_end(old, false);
    if (wire_of_heap(old->sampling.collector))
        return false; /* this session will not know when what it has is freed */
    if (process_has_deferred(old) || p->sampling.collector != old->sampling.collector)
        return false;
    pthread_mutex_lock(&old->lock);
    take(p, old);
    pthread_mutex_unlock(&old->lock);
    return true;
}
