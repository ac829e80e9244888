/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "preload/encode/dear.h"

#include <stdatomic.h>

#include "preload/encode/shallow.h"
#include "preload/encode/slot.h"
#include "preload/redirect/redirect.h"

#define MET_LEAST 3u    /* by chance a slot is met once */
#define ONE_IN    2000u /* of the samples: a call's share is more */

static _Atomic uint32_t samples;

void dear_count(void) {
    atomic_fetch_add_explicit(&samples, 1, memory_order_relaxed);
}

void dear_met(uint64_t slot) {
    struct redirect_site *site = slot_site(slot);
    uint32_t met = atomic_fetch_add_explicit(&site->met, 1, memory_order_relaxed) + 1u;
    if (met < MET_LEAST || shallow_is(site) ||
        (uint64_t)met * ONE_IN < atomic_load_explicit(&samples, memory_order_relaxed))
        return;
    shallow_leave(site);
    redirect_write_anew(slot);
}
