/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "preload/encode/dear.h"

#include <stdatomic.h>

#include "preload/encode/slot.h"
#include "preload/redirect/redirect.h"

#define SHARE_ONE_IN  50u   /* of the samples may be in slots */
#define SAMPLES_LEAST 64u   /* that say something */
#define SAMPLES_MOST  1024u /* of which half is forgotten then: programs have phases */

/* Threads that count at the same time may lose one. */
static _Atomic uint32_t samples, in_slots;

void dear_count(void) {
    uint32_t n = atomic_fetch_add_explicit(&samples, 1, memory_order_relaxed) + 1;
    if (n < SAMPLES_MOST)
        return;
    atomic_store_explicit(&samples, n / 2, memory_order_relaxed);
    atomic_store_explicit(&in_slots, atomic_load_explicit(&in_slots, memory_order_relaxed) / 2,
                          memory_order_relaxed);
}

static bool are_too_many(void) {
    uint32_t met = atomic_fetch_add_explicit(&in_slots, 1, memory_order_relaxed) + 1;
    uint32_t all = atomic_load_explicit(&samples, memory_order_relaxed);
    return all >= SAMPLES_LEAST && met * SHARE_ONE_IN > all;
}

void dear_met(uint64_t slot) {
    if (are_too_many() && !atomic_exchange(&slot_callee(slot)->dear, true))
        redirect_write_anew(slot);
}
