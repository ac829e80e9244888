/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * renew.c - copies of texts that are written anew, as other calls are to lead to their slots.
 */
#include <time.h>

#include "preload/redirect/module_list.h"
#include "preload/redirect/places.h"
#include "preload/redirect/redirect.h"
#include "preload/redirect/text_copy.h"
#include "preload/sample/ticker.h"

#define RENEW_LEAST_NS 50000000u /* from one to the next */
#define RENEW_ONE_IN   100u      /* and a part of all time, at most */

static _Atomic bool some_stale;
static _Atomic uint64_t renew_from_ns; /* CLOCK_MONOTONIC */

void redirect_write_anew(uint64_t stub) {
    for (struct redirect_module *m = module_list_next(NULL); m != NULL; m = module_list_next(m))
        if (stub - m->stubs < m->stub_bytes)
            atomic_store(&m->stale, true);
    atomic_store(&some_stale, true);
}

static void write_stale(void) {
    for (struct redirect_module *m = module_list_next(NULL); m != NULL; m = module_list_next(m))
        if (atomic_exchange(&m->stale, false))
            text_copy_write_anew(m);
}

void redirect_renew(void) {
    if (!atomic_load_explicit(&some_stale, memory_order_relaxed) || places_are_kept())
        return;
    uint64_t began_ns = ticker_now(CLOCK_MONOTONIC);
    if (began_ns < atomic_load(&renew_from_ns) || !places_begin())
        return;
    atomic_store(&some_stale, false);
    if (!places_are_kept())
        write_stale();
    uint64_t now_ns = ticker_now(CLOCK_MONOTONIC);
    atomic_store(&renew_from_ns, now_ns + RENEW_LEAST_NS + RENEW_ONE_IN * (now_ns - began_ns));
    places_end();
}
