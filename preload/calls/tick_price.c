/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * tick_price.c - a loop that does nothing but read the clock sees for how long a tick has stopped
 * it.
 */
#include "preload/calls/tick_price.h"

#include "preload/life/signal.h"
#include "preload/life/sys.h"
#include "preload/sample/thread_timer.h"
#include "preload/sample/ticker.h"

#define TICKS    9u
#define LOWEST   2u      /* that tell nothing: the tick came too late for its loop */
#define FIRST_NS 20000u  /* a tick is due then ... */
#define LOOP_NS  150000u /* ... and has come by then, where timers are not late */
#define MOST_NS  60000u  /* the thread has waited for a processor if it seems more */

static uint64_t longest_stop(struct ticker *ticker) {
    ticker_run(ticker, FIRST_NS, SECOND_NS);
    uint64_t last = ticker_now(CLOCK_MONOTONIC), end = last + LOOP_NS, longest = 0;
    while (last < end) {
        uint64_t now = ticker_now(CLOCK_MONOTONIC);
        if (now - last > longest)
            longest = now - last;
        last = now;
    }
    return longest;
}

/* Where others want the processor, most loops may have waited for it: so not the mean one. */
static uint64_t usual_stop(struct ticker *ticker) {
    uint64_t stop[TICKS];
    for (unsigned i = 0; i < TICKS; i++) {
        uint64_t ns = longest_stop(ticker);
        unsigned at = i;
        for (; at > 0 && stop[at - 1] > ns; at--)
            stop[at] = stop[at - 1];
        stop[at] = ns;
    }
    return stop[LOWEST] < MOST_NS ? stop[LOWEST] : MOST_NS;
}

uint64_t tick_price(struct agent_thread *thread) {
    uint64_t blocked = 0, ns = 0;
    sys4(SYS_rt_sigprocmask, 0, NULL, &blocked, KERNEL_SIGSET_BYTES);
    if ((blocked & signal_bit(signal_number())) == 0 &&
        thread_timer_get(thread, TRIGGER_FINE, NULL)) {
        ns = usual_stop(thread_fine_timer(thread));
        ticker_free(thread_fine_timer(thread));
    }
    return ns;
}
