/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * opened.h - objects that come while the program runs, whose first calls may be missed. Private to
 * this room.
 */
#ifndef HCCT_REDIRECT_OPENED_H
#define HCCT_REDIRECT_OPENED_H

#include <stdbool.h>

struct wire_module;

/* An object may have come of which nothing is known. Any context. */
bool opened_is_any(void);
/* From now on none of the module's calls is missed, or none can be made any more: its entry in the
 * log says until when they were. Any context. */
void opened_end_missing(struct wire_module *logged);

#endif
