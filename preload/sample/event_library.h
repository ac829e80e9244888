/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * event_library.h - the libraries that have samples of events (preload/events/link.h): which are
 * there, and what can't be sampled without the others.
 *
 * Process context.
 */
#ifndef HCCT_EVENT_LIBRARY_H
#define HCCT_EVENT_LIBRARY_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/life/settings.h"

struct event_link;

/* Of metrics of the same kind as that one. NULL: their library is not preloaded. */
struct event_link *event_library_link(uint32_t collector);

/* Leaves the metrics in the settings that can be had with what is preloaded, and says which ones go
 * and what to preload for them. False: none stays, and the settings are as they were. */
bool event_library_choose(struct agent_settings *settings);

#endif
