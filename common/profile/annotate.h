/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * annotate.h - the lines of a function, with what each weighs.
 */
#ifndef HCCT_ANNOTATE_H
#define HCCT_ANNOTATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/profile/profile.h"

/* What a line calls. */
struct annotate_callee {
    const char *name;
    uint64_t weight;
};

/* Weights are certain; the true ones are larger by `more` at most: what contexts that are not kept
 * may have of them. */
struct annotate_line {
    uint32_t line; /* 0: not known, as where only the routine was recorded */
    uint64_t self;
    uint64_t inclusive; /* with all that is called from there; recursion counts once */
    uint64_t more;      /* of the inclusive weight */
    uint64_t hidden;    /* of the inclusive weight, what stands in PROFILE_PRUNED frames */
    struct annotate_callee *callees; /* heaviest first */
    uint32_t n_callees, room_callees;
};

/* One function of the source: its copies, inlined or not, are one. */
struct annotate_function {
    const char *name;
    const char *file; /* "" when not known */
    uint64_t self, inclusive, more, hidden;
    struct annotate_line *lines; /* by number */
    uint32_t n_lines, room_lines;
};

struct annotation {
    const struct profile *profile;
    uint64_t total;                      /* N */
    uint64_t unknown;                    /* by so much a self weight can be larger */
    struct annotate_function *functions; /* heaviest first */
    uint32_t n_functions, room_functions;
};

/* What the names of functions are compared with: the whole name or the name without parameters, or
 * with `is_regex` a POSIX extended expression that has passed filter_check. The profile must have
 * its symbols, and outlive the annotation: strings are its own. */
void annotation_make(struct annotation *annotation, const struct profile *profile,
                     const char *pattern, bool is_regex);
void annotation_free(struct annotation *annotation);

#endif
