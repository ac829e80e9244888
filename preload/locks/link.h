/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * link.h - between the agent and libhcctlocks.so (preload/events/link.h).
 */
#ifndef HCCT_LOCKS_LINK_H
#define HCCT_LOCKS_LINK_H

#include "common/wire/compiler.h"
#include "preload/events/link.h"

/* Weak: where it is missing, its address is NULL. */
extern struct event_link hcct_locks_link hcct_export __attribute__((weak));

#endif
