/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * numbers.h - contexts that the program has asked the numbers of (hcct.h), beside those that weigh
 * something: a table of them in a profile.
 */
#ifndef HCCT_NUMBERS_H
#define HCCT_NUMBERS_H

#include "common/profile/profile.h"

/* Stands between the context in which a thread was created and the thread's own outermost frame. */
#define NUMBERS_THREAD "[thread created here]"

/* Puts one more into the profile's table, and returns its place there: `parent` is its caller's, 0:
 * it has none. */
uint32_t numbers_add(struct profile *profile, uint64_t number, uint32_t parent, uint32_t location);

/* The places of the table in the order of their numbers, n_numbers - 1 of them (or none), for who
 * looks for many. The caller frees it. */
uint32_t *numbers_sort(const struct profile *profile);
/* The place of the number in the table; 0: it is not there. */
uint32_t numbers_find(const struct profile *profile, const uint32_t *sorted, uint64_t number);

/* The table of `from`, which `to` has none of, with copies of its locations. */
void numbers_copy(struct profile *to, const struct profile *from);

#endif
