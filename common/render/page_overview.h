/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * page_overview.h - the contexts of a large profile that are wide enough to be drawn, for the first
 * picture: what is lighter is one frame below its caller, PAGE_UNREAD, or PAGE_UNREAD_PRUNED where
 * it stands in [~]. So all that are there weigh with all below what they weigh in the profile.
 */
#ifndef HCCT_PAGE_OVERVIEW_H
#define HCCT_PAGE_OVERVIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "common/profile/profile.h"

#define PAGE_UNREAD        "[...]"
#define PAGE_UNREAD_PRUNED "[...~]"

struct page_overview {
    struct profile *profile; /* processes and modules have their numbers of the whole one */
    uint64_t *weight; /* for page_order_make(): what is lighter is the last of its caller's */
    uint64_t *module_weight; /* by module: the self weights of all contexts */
};

/* `weight`: page_weights(). False: it is not so large that this were worth it, and nothing is to
 * be freed. Gets memory by memory.h. */
bool page_overview_make(struct page_overview *overview, const struct profile *profile,
                        const uint64_t *weight);
void page_overview_free(struct page_overview *overview);

#endif
