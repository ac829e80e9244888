/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * own_time.c - a sum for each thread, from which samples are taken by thinning.
 */
#include "preload/sample/own_time.h"

#include "preload/life/agent.h"
#include "preload/sample/points.h"
#include "preload/sample/thinning.h"
#include "preload/sample/ticker.h"

#define MOST_NS         200000 /* at once: it has waited for a processor if it seems more */
#define PARTS           8      /* of a step: it is credited in such pieces */
#define SETTING_MOST_NS 16000  /* the timer is set in that time, or the thread has waited */
#define SETTING_MORE    4      /* part that is learned of a longer time ... */
#define SETTING_LESS    12     /* ... and of a shorter one */

void own_time_leave_out(struct agent_thread *thread, uint64_t ns) {
    points_put_off(&thread->trigger.points, ns);
    thread->trigger.nap.own_call_ns += ns;
}

uint64_t own_time_since(struct agent_thread *thread, uint64_t since) {
    uint64_t ns = ticker_now(CLOCK_MONOTONIC) - since;
    ns = ns < MOST_NS ? ns : MOST_NS;
    own_time_leave_out(thread, ns);
    return ns;
}

void own_time_for_timer(struct agent_thread *thread, uint64_t ns) {
    thread->trigger.nap.own_ns += ns;
}

uint32_t own_time_of_setting(const struct agent_thread *thread) {
    uint32_t known = thread->trigger.nap.aim_ns;
    return known != 0 ? known
                      : atomic_load_explicit(&agent.process->setting_ns, memory_order_relaxed);
}

void own_time_learn_setting(struct agent_thread *thread, uint64_t took) {
    uint32_t known = own_time_of_setting(thread);
    uint32_t ns = took < SETTING_MOST_NS ? (uint32_t)took : SETTING_MOST_NS;
    known = known == 0   ? ns
            : ns > known ? known + (ns - known) / SETTING_MORE
                         : known - (known - ns) / SETTING_LESS;
    thread->trigger.nap.aim_ns = known;
    atomic_store_explicit(&agent.process->setting_ns, known, memory_order_relaxed);
}

uint64_t own_time_weight(struct agent_thread *thread, bool ends) {
    struct trigger *t = &thread->trigger;
    uint64_t ns = t->nap.own_ns, step = t->plan.fine_ns;
    if (ns == 0 || step == 0 || (!ends && ns < step / PARTS))
        return 0;
    t->nap.own_ns = 0;
    return thinning_weight(&t->nap.own_thinned, ns, step, &thread->random);
}
