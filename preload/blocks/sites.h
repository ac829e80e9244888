/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * sites.h - how much each place in the program allocates, so that samples are spent where little is
 * known.
 *
 * A server may allocate gigabytes for its requests and a megabyte for what it keeps. Most samples
 * would be of the former, and R as large as these make it; the megabyte is a few samples then, or
 * none. So a place of which there were many points lately has a larger R than the others.
 *
 * A place is where it was called from, how deep the stack was there, and how large the block is.
 * Which R is right for it follows from what it had before, and a block that is drawn by any R
 * counts for what is right for that (events/course.h): so places may share a number by chance.
 *
 * No lock: any thread, and its signal handlers, may call anything at any time.
 */
#ifndef HCCT_BLOCKS_SITES_H
#define HCCT_BLOCKS_SITES_H

#include <stddef.h>
#include <stdint.h>

#include "preload/events/link.h"

#define SITES_SHIFT 12u
#define SITES       (1u << SITES_SHIFT)

/* Of a block of that size, asked for there: below SITES. */
uint32_t sites_number(const struct event_place *place, size_t size);

/* Points that the place had lately, WIRE_BLOCKS_MEAN apart: those of an age count for half in the
 * next one. `points` more come to them. */
uint64_t sites_meet(uint32_t site, uint64_t points);

/* An age is over. */
void sites_age(void);

/* R of a place that had so many points is doubled so many times, if each may have 2^quota samples.
 * A pure function. */
static inline uint32_t sites_doubled(uint64_t points, uint32_t quota) {
    uint32_t bits = points > 0 ? 64 - (uint32_t)__builtin_clzll(points) : 0;
    return bits > quota ? bits - quota : 0;
}

#endif
