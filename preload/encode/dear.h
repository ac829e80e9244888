/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * dear.h - calls that are made so often that keeping them costs much: they are left alone.
 *
 * A sample that meets a thread on its way through a slot says what that slot costs: it is as likely
 * as the time that slots like it take. A call with more than its share of all samples leads through
 * its slot no longer. As no context depends on which calls do, nothing else changes, but that walks
 * find it from then on.
 */
#ifndef HCCT_ENCODE_DEAR_H
#define HCCT_ENCODE_DEAR_H

#include <stdint.h>

/* A sample is taken. Signal context. */
void dear_count(void);
/* It has met a thread in the slot with that address. As above, between redirect_reads(). */
void dear_met(uint64_t slot);

#endif
