/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * percent.h - what profiling may cost, as people write it: a share of the CPU time, such as 1%.
 */
#ifndef HCCT_PERCENT_H
#define HCCT_PERCENT_H

#include <stdbool.h>
#include <stdint.h>

#define PERCENT_PPM     10000u /* parts per million in one */
#define PERCENT_MIN_PPM 100u
#define PERCENT_MAX_PPM 500000u

#define PERCENT_EXPECTED "a share of the CPU time from 0.01% to 50%, such as 1% or 0.5%"

/* Bursts of calls under a budget, where nothing else is asked for: no longer than what a fast
 * program sends in one has room in a ring, so that it need not wait. */
#define PERCENT_BURST "1ms/10ms"

/* A number with at most four decimals, with or without the sign. False: `text` is none, and nothing
 * is changed. Any context. */
bool percent_parse(const char *text, uint32_t *ppm);

#endif
