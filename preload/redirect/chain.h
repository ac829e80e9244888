/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * chain.h - open calls by where their return addresses are. Private to enter.c and found.c, of
 * which the first may use no vector register.
 *
 * An open call has its return address's place twice: as its stack pointer (outermost functions have
 * none, and stand by their own stack pointer), and in `report`, with CALLS_WALKED. With CALLS_SEEN
 * its call was reported: as long as its return address is in place, nothing further out can have
 * changed, as the same call would have been reported again. One without was found by a walk: its
 * function may have been left and entered again, so that its callers are checked, too.
 */
#ifndef HCCT_REDIRECT_CHAIN_H
#define HCCT_REDIRECT_CHAIN_H

#include "preload/calls/calls.h"
#include "preload/redirect/module.h"

static inline uint64_t chain_place(const struct calls_frame *f) {
    return CALLS_RETURN_AT(f->report);
}

/* Where the site's function has its own return address. */
static inline uint64_t chain_parent_place(const struct redirect_site *site, uint64_t slot,
                                          uint64_t fp) {
    uint64_t base = (site->callee & REDIRECT_BY_FP) != 0 ? fp : slot + 8;
    return base + (uint64_t)(int64_t)site->cfa - 8;
}

/* No frame is open whose return address is below that place. */
static inline struct calls_frame *chain_drop(struct calls_frame *top, uint64_t place) {
    while (top[-1].sp < place)
        top--;
    return top;
}

/* The innermost frame is that one, by all that is on the stack. The place can be read if it is the
 * frame's. */
static inline bool chain_is(const struct calls_frame *f, uint64_t routine, uint64_t place) {
    return f->sp == place && f->routine == routine && chain_place(f) == place &&
           *(const volatile uint64_t *)place == f->site;
}

#endif
