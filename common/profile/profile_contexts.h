/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * profile_contexts.h - contexts as a stream, for another process of the same program: whoever has
 * no room for a profile with all its contexts writes them down one by one, and they are added where
 * there is room.
 *
 * A context is known by its handle. Those that the profile has already, the roots, have their
 * numbers; the first that is written has the next handle, and so on. The same context may be
 * written many times, under many handles: its weights add up, as by profile_add_node().
 */
#ifndef HCCT_PROFILE_CONTEXTS_H
#define HCCT_PROFILE_CONTEXTS_H

#include <stdbool.h>
#include <stdio.h>

#include "common/profile/profile.h"

struct profile_context {
    uint32_t parent; /* a handle */
    uint32_t location;
    uint64_t count, error;
};

/* Adds n contexts to a profile that has no more than its roots. False: so many are not there, or
 * one has a parent or a location that does not exist. */
bool profile_contexts_add(struct profile *profile, FILE *in, uint64_t n);

#endif
