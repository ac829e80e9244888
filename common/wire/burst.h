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

#define BURST_ERROR_PPM 50000u /* where none is said */

/* The same, followed by ",adaptive" or ",adaptive=ERROR", such as 5%, or by nothing, which is an
 * error of 0: what is asked of the estimates of bursts that are left out (preload/calls/adapt.h).
 */
bool burst_parse_adaptive(const char *text, uint64_t *length_ns, uint64_t *period_ns,
                          uint32_t *error_ppm);

#endif
