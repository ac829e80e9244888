/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * burst.h - a burst as people write it: LENGTH/PERIOD, such as 2ms/20ms.
 */
#ifndef HCCT_BURST_TEXT_H
#define HCCT_BURST_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#define BURST_LENGTH_MIN_NS 100000ull
#define BURST_PERIOD_MAX_NS 10000000000ull

/* Two durations, whole numbers with us, ms or s, the first at least 100us and not above the second,
 * which is at most 10s. False: `text` is none, and nothing is changed. Any context. */
bool burst_parse(const char *text, uint64_t *length_ns, uint64_t *period_ns);

#endif
