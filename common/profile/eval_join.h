/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * eval_join.h - the contexts of two profiles in one tree, so that they can be compared.
 *
 * Two profiles are of different runs, maybe of different hosts: contexts are the same when their
 * paths are, frame by frame, in terms that do not depend on where anything was mapped:
 *
 *   by site      a frame is (call site in the caller, entry of the routine); a module is known by
 *                its build-id, else by the last part of its path
 *   by function  a frame is the name of a function; inlined functions are frames of their own
 *
 * A profile spreads a context that calls others over its call sites (main@s1 > f, main@s2 > g) and
 * has its self weight beside them (main). Here it is one node, as in the trees of the articles.
 *
 * Pure: no file, no output; not for two threads at a time. Out of memory ends the program.
 */
#ifndef HCCT_EVAL_JOIN_H
#define HCCT_EVAL_JOIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/intern.h"
#include "common/profile/profile.h"

enum { EVAL_EXACT, EVAL_APPROX, EVAL_SIDES };

/* A routine or a call site; strings are those of the join. */
struct eval_place {
    const char *module; /* build-id or last part of the path; "" by function */
    const char *name;   /* of the function, for people and where there is no address */
    uint64_t address;   /* 0: the name tells it */
    bool is_site;
    bool seen[EVAL_SIDES]; /* it is in that profile, where only what both have is compared */
    bool begins; /* threads begin here in the profile whose frames begin later (eval_join) */
};

/* A context, or the root of an executable. */
struct eval_context {
    uint32_t parent;  /* 0: it is a root, and no context */
    uint32_t site;    /* place in the parent, 0: not known */
    uint32_t routine; /* place; of a root, the executable */
    bool in[EVAL_SIDES];
    uint64_t count[EVAL_SIDES]; /* self weight: count - error <= true <= count */
    uint64_t error[EVAL_SIDES];
};

/* What was compared of one profile. */
struct eval_side {
    uint64_t total;     /* N */
    uint64_t pruned;    /* of N, what stands in no context: in "[~]" */
    uint64_t contexts;  /* nodes of the tree that the collector kept; 0: not known */
    uint64_t monitored; /* of these, with a counter; 0: not known */
    uint64_t bytes;     /* that they took; 0: not known */
    const char *exe;    /* the executable, or that of the heaviest process */
    uint32_t n_exes;    /* how many */
};

struct eval_join {
    struct eval_context *contexts; /* parents before children; entry 0 is none */
    uint32_t n_contexts;
    struct eval_place *places; /* entry 0 is none */
    uint32_t n_places;
    struct eval_side side[EVAL_SIDES];
    enum profile_by by;
    bool outer_skipped; /* frames outside the other profile's first ones were left out */
    /* private */
    struct profile *names; /* owns all strings */
    uint32_t context_room, place_room;
    struct intern by_place, by_path;
    struct eval_entries *entries; /* entries of routines, to find those of call sites */
};

/* Who found the contexts: "calls", "walks", or "" when no collector of ours did. */
const char *eval_collector(const struct profile *profile);

/* Joins profile[EVAL_EXACT] and profile[EVAL_APPROX], by PROFILE_BY_SITE or PROFILE_BY_FUNCTION.
 * With `exe` (path or last part, else NULL), of the processes of that executable; otherwise of the
 * executables that both have, or of the only one that each has. The frames of instrumented calls
 * begin at main or a thread's function, those of walks outside of it: by function, when one profile
 * is of calls and the other of walks, functions that only one of them has are passed over (those
 * that do not report their calls, those that were inlined and have no frame), what they weigh goes
 * to their callers, and the latter's frames are left out down to the first function at which the
 * former's begin. False: they can't be compared, and `error` has a sentence that says why; the join
 * is empty. The profiles are not needed any longer after it. */
bool eval_join(struct eval_join *join, const struct profile *const profile[EVAL_SIDES],
               enum profile_by by, const char *exe, char *error, size_t error_bytes);
void eval_join_free(struct eval_join *join); /* one that is all zero is allowed */

/* "main > f > g" of a context; the caller frees it. */
char *eval_path(const struct eval_join *join, uint32_t context);

#endif
