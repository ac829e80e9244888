/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * pace.c - calls and time, and when they say something.
 */
#include "preload/calls/pace.h"

#define CALLS_LEAST 64      /* fewer say little, and reports of so few cost little */
#define NS_LEAST    100000u /* what ticks are off by is a good part of a shorter time */
#define DEAREST     8 /* times their price reports may take, as where the ring's pages are new */

void pace_begin(struct pace *pace, uint64_t calls, uint64_t ns) {
    *pace = (struct pace){.from_calls = calls, .from_ns = ns, .taken = true};
}

void pace_end(struct pace *pace, uint64_t calls, uint64_t ns, uint64_t stub_ps) {
    if (!pace->taken)
        return;
    uint64_t n = calls - pace->from_calls, passed = ns - pace->from_ns, stubs = n * stub_ps / 1000;
    pace->taken = false;
    pace->calls = n >= CALLS_LEAST && passed >= NS_LEAST && passed > 2 * stubs ? n : 0;
    pace->ns = passed - stubs;
}

uint64_t pace_ns(const struct pace *pace, uint64_t calls, uint64_t used, uint64_t priced) {
    if (pace->calls == 0)
        return priced;
    uint64_t reports = used - priced, most = used - reports / 2;
    uint64_t least = DEAREST * reports < used ? used - DEAREST * reports : 0;
    uint64_t ns = (uint64_t)((unsigned __int128)calls * pace->ns / pace->calls);
    return ns < least ? least : ns > most ? most : ns;
}
