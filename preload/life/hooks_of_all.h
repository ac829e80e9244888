/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * hooks_of_all.h - the hooks that are the same in both libraries, the one that is preloaded
 * (start.c) and the one that comes later (late.c).
 */
#ifndef HCCT_HOOKS_OF_ALL_H
#define HCCT_HOOKS_OF_ALL_H

#include "preload/calls/call_burst.h"
#include "preload/calls/calls.h"
#include "preload/life/handler.h"
#include "preload/life/hooks.h"
#include "preload/life/signal.h"
#include "preload/redirect/redirect.h"

#define HOOKS_OF_ALL                                                                               \
    .sends_to = calls_use, .handle = signal_handle, .check_signal = signal_check_again,            \
    .wants_sites = redirect_means, .find_stubs = redirect_find_stubs, .goes_on = call_burst_go_on, \
    .doze = redirect_doze, .wake = redirect_wake, .missed_from = redirect_missed_from

#endif
