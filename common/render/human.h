/*
 * human.h - numbers for people.
 *
 * All give a struct with the text in it, so that `human_count(n).text` can stand in an argument
 * list; it lives until the end of the statement.
 */
#ifndef HCCT_HUMAN_H
#define HCCT_HUMAN_H

#include <stdint.h>

#include "common/profile/profile.h"

struct human {
    char text[64];
};

struct human human_count(uint64_t n);     /* "12,330" */
struct human human_time(uint64_t ns);     /* "12.34 s", "2 h 05 min" */
struct human human_bytes(uint64_t bytes); /* "45.1 KiB" */

/* A weight in the unit of the profile: "12.34 s", "12,330". */
struct human human_weight(const struct profile *profile, uint64_t weight);

/* What the profile counts, to stand behind that weight: "of CPU time", "calls". */
const char *human_type(const struct profile *profile, uint64_t weight);

/* An estimate: "about 21,900,000", three digits and zeros. */
struct human human_estimate(double n);

/* A share in per cent that is not 0, to two significant digits below one: "0.0031 %". */
struct human human_share(double share);

#endif
