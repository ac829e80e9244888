/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * timers.c - a user has room for so many timers and queued signals (RLIMIT_SIGPENDING), and the
 * agent two timers a thread. Who finds no room for a timer is given the agent's, and is not
 * profiled any more.
 */
#include <errno.h>
#include <signal.h>
#include <time.h>

#include "common/wire/compiler.h"
#include "preload/life/silence.h"
#include "preload/sample/edge.h"
#include "preload/wrap/real.h"

hcct_export int timer_create(clockid_t clock, struct sigevent *restrict event,
                             timer_t *restrict id) {
    const struct sleep_place caller = EDGE_CALLER;
    int result = real_timer_create(clock, event, id);
    return result != 0 && errno == EAGAIN && confine_for_good(&caller)
               ? real_timer_create(clock, event, id)
               : result;
}
