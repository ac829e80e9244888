/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * shallow.h - calls that are left as they are, as a walk finds them with few steps.
 *
 * Most calls of a program are of functions that call nothing, or little. A context does not depend
 * on which calls lead through slots: what does not is found by a walk, from where the thread is, or
 * from the caller of an open call. So a call is left alone where no more than SHALLOW_LEVELS
 * functions can be below it by the calls that the module's table has. What these calls are worth as
 * entries, a sample pays by that many steps. Functions that ask for the number of their context
 * (hcct.h) count as deep: the number is to be found in few steps.
 */
#ifndef HCCT_ENCODE_SHALLOW_H
#define HCCT_ENCODE_SHALLOW_H

#include "preload/redirect/module.h"

#define SHALLOW_LEVELS 3u

/* Sets site.level of all sites. Any context, while the module is made. */
void shallow_find(const struct redirect_module *m);

/* The call is one of hcct_context(), which needs no entry of its own. Any context. */
bool shallow_asks(const struct redirect_module *m, const struct redirect_site *site);

static inline bool shallow_is(const struct redirect_site *site) {
    return site->level < SHALLOW_LEVELS;
}

#endif
