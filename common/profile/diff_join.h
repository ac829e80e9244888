/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * diff_join.h - the contexts of two profiles in one forest.
 *
 * Frames are the same by names: (module, function), with the line or the address beside where
 * contexts are grouped by them. A module's name is the last part of its path without what stands
 * behind ".so", so that a library of another version is the same; the executable of a process is
 * the same module as that of the process it is paired with. Where one of the profiles knows no
 * modules at all, functions alone tell frames apart.
 *
 * Processes of one executable are one. When both profiles have but one executable, these two are
 * paired whatever they are called.
 */
#ifndef HCCT_DIFF_JOIN_H
#define HCCT_DIFF_JOIN_H

#include "common/profile/chance.h"
#include "common/profile/context_effects.h"
#include "common/profile/diff.h"

/* What a profile says of a context. */
struct diff_tally {
    uint64_t count, error;
};

/* What a profile says of all processes of one executable. */
struct diff_group {
    const char *exe; /* its own name, of the union's strings; NULL: it has none of these */
    uint64_t total;  /* what their contexts weigh */
    struct chance chance;
    uint64_t lost;   /* what weighs so much was lost, and is in no context */
    uint64_t capped; /* each process may have so much more or less of any context */
};

/* count - error <= what is true <= count + more; as in the profile, not scaled. */
struct diff_bounds {
    uint64_t count, error, more;
    float effect; /* of its samples (chance.h), 0: not known */
};

/* What stands in "[~]" frames, and below them, of one side. */
struct diff_hidden {
    uint64_t all;   /* everything */
    uint64_t own;   /* of "[~]" frames themselves: not even the function is known */
    uint64_t *leaf; /* by location: what has this function, in contexts that are not known */
};

struct diff_join {
    struct profile *profile;              /* owned by the struct diff that it is made for */
    struct diff_tally *tally[DIFF_SIDES]; /* by node */
    struct effects *effect[DIFF_SIDES];   /* by location: of functions, as that side knows them */
    struct diff_group *group[DIFF_SIDES]; /* by process of `profile` */
    struct diff_group all[DIFF_SIDES];
    bool *is_hidden; /* by node: a "[~]", or below one */
    struct diff_hidden hidden[DIFF_SIDES];
    /* by node; diff_bounds.c's, not diff_join()'s, as are is_hidden and hidden */
    struct diff_bounds *own[DIFF_SIDES], *below[DIFF_SIDES];
};

struct diff_join *diff_join(const struct profile *const from[DIFF_SIDES], enum profile_by by);
void diff_join_free(struct diff_join *join); /* NULL is allowed; not the profile */

/* Fills in what is known of each context: own, below, hidden. */
void diff_find_bounds(struct diff_join *join);

#endif
