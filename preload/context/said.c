/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * said.c - the number for a caller outside, which goes on as if nothing had been asked.
 */
#include "preload/context/exports.h"

#include "preload/context/context.h"

uint64_t hcct_agent_context(void) {
    const struct event_place caller = EVENT_CALLER;
    return context_number(&caller);
}

uint64_t hcct_context(void) {
    const struct event_place caller = EVENT_CALLER;
    return context_number(&caller);
}
