/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * shown.h - whether what is said of a profile is true, against the profile of all its contexts.
 */
#ifndef HCCT_TESTS_SHOWN_H
#define HCCT_TESTS_SHOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/profile/profile.h"

/* A profile, with all that is said of it. */
struct shown {
    struct profile *profile;
    uint64_t *inclusive, *upper;
    struct profile_flat *flat;
    bool *hidden;
};

/* Takes the profile over, until shown_free(). */
void shown_make(struct shown *shown, struct profile *profile);
void shown_free(struct shown *shown);

/* Locations without lines get a function "f<address / 0x1000>", and a line of their own where they
 * are no function's entry. */
void shown_name(struct profile *profile);

/* Whether the true self and inclusive weight of each node, and of all that stands at a location,
 * lie in the intervals that `part` gives, however contexts are grouped and whatever is cut for
 * display. `whole` has all contexts with their true weights. False: stderr says what does not. */
bool shown_is_true(const struct profile *part, const struct profile *whole);

/* Written as a file and read again. Ends the program when that fails. */
struct profile *shown_through_file(const struct profile *profile);

/* The sum of n profiles, as `hcct merge` makes it. NULL: they do not fit. */
struct profile *shown_merged(const struct profile *const *parts, size_t n);

#endif
