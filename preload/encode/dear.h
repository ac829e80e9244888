/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * dear.h - as long as keeping calls costs too much, those that cost are left alone.
 *
 * How many samples meet a thread on its way through a slot is the share of time that slots take.
 * While it is too large, calls of the function that is called there lead through slots no longer:
 * the more they cost, the sooner they are met. As no context depends on which calls are kept,
 * nothing else changes, but that walks find them from then on.
 */
#ifndef HCCT_ENCODE_DEAR_H
#define HCCT_ENCODE_DEAR_H

#include <stdint.h>

/* A sample is taken. Signal context. */
void dear_count(void);
/* It has met a thread in the slot with that address. As above, between redirect_reads(). */
void dear_met(uint64_t slot);

#endif
