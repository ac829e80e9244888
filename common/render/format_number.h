/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * format_number.h - numbers as text for people.
 *
 * All give a struct with the text in it, so that `format_count(n).text` can stand in an argument
 * list; it lives until the end of the statement.
 */
#ifndef HCCT_FORMAT_NUMBER_H
#define HCCT_FORMAT_NUMBER_H

#include <stdint.h>

#include "common/profile/profile.h"

struct formatted {
    char text[64];
};

struct formatted format_count(uint64_t n);     /* "12,330" */
struct formatted format_time(uint64_t ns);     /* "12.34 s", "2 h 05 min" */
struct formatted format_bytes(uint64_t bytes); /* "45.1 KiB" */

/* A weight in the unit of the profile: "12.34 s", "12,330". */
struct formatted format_weight(const struct profile *profile, uint64_t weight);

/* What the profile counts, to stand behind that weight: "of CPU time", "calls". */
const char *format_type(const struct profile *profile, uint64_t weight);

/* An estimate: "about 21,900,000", three digits and zeros. */
struct formatted format_estimate(double n);

/* A share in per cent that is not 0, to two significant digits below one: "0.0031 %". */
struct formatted format_share(double share);

#endif
