/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * patience.c - 3, 6, 12, 24, 48 ms, a second apart, then 48 ms each 3 s: a 50th of the time at
 * most; after an attach a 16th.
 */
#include "preload/life/patience.h"

#define SHORTEST_MS   3
#define DOUBLINGS     4
#define NS_PER_MS     1000000ull
#define PAUSE_NS      1000000000ull
#define LATE_PAUSE_NS 50000000ull
#define SHARE         64
#define LATE_SHARE    16

int patience_wait_ms(uint32_t unanswered) {
    return SHORTEST_MS << (unanswered < DOUBLINGS ? unanswered : DOUBLINGS);
}

uint64_t patience_pause_ns(uint32_t unanswered, bool late) {
    uint64_t wait_ns = (uint64_t)patience_wait_ms(unanswered) * NS_PER_MS;
    if (!late)
        return unanswered <= DOUBLINGS ? PAUSE_NS : wait_ns * SHARE;
    return wait_ns * LATE_SHARE > LATE_PAUSE_NS ? wait_ns * LATE_SHARE : LATE_PAUSE_NS;
}
