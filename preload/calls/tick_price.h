/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * tick_price.h - what a tick takes of a thread's time beside what its handler does.
 *
 * The interrupt, the signal and the way back are the kernel's, and count as the thread's: 4 us on
 * one machine, 20 to 45 on a virtual one. Neither end can be timed from within a handler.
 */
#ifndef HCCT_CALLS_TICK_PRICE_H
#define HCCT_CALLS_TICK_PRICE_H

#include <stdint.h>

#include "preload/life/thread.h"

/* In ns; takes one and a half milliseconds. 0: it can't be measured, as the thread blocks our
 * signal, or has no timer. At the agent's start, on the thread itself, before any tick is served.
 */
uint64_t tick_price(struct agent_thread *thread);

#endif
