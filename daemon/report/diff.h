/*
 * diff.h - two profiles compared, context by context, with all that is known of their errors.
 *
 * Contexts are the same when their paths are, frame by frame, by names (profile_group): what runs
 * on another host, or was built anew, has other addresses. Processes are paired by the last part of
 * their executable's path.
 *
 * Of each context two things are known in either profile, and are kept apart:
 *
 *   certain bounds   count - error <= what was counted <= count + more. `error` is the summary's;
 *                    `more` is for contexts that the profile does not keep.
 *   sampling         where looks were taken now and then, what was counted is an estimate of what
 *                    there was. `interval` is half of the 95 % interval of after - before. It says
 *                    nothing of how runs of one program differ among themselves.
 *
 * A change is `beyond` its error when no values within the certain bounds are nearer to each other
 * than the interval. At most one in twenty contexts that did not change is beyond by chance. Where
 * no interval is known (DIFF_UNKNOWN) only the certain bounds are held against it.
 *
 * Pure but for the writers' output; not for two threads at a time. Out of memory ends the program.
 */
#ifndef HCCT_DIFF_H
#define HCCT_DIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "daemon/report/format.h"
#include "daemon/report/profile.h"

enum { DIFF_BEFORE, DIFF_AFTER, DIFF_SIDES };

/* What a context weighs in both, in the unit of the profile. Where totals are made equal, `before`
 * and its errors are multiplied by diff.scale already. */
struct diff_weight {
    uint64_t before, after;             /* counts */
    uint64_t before_error, after_error; /* by so much a count may be too high */
    uint64_t before_more, after_more;   /* ... and too low */
    double interval; /* half width of the 95 % sampling interval of after - before; 0: exact, or
                      * nothing is known of the looks (diff.sampling tells which) */
    bool beyond;     /* the change is more than bounds and interval allow */
};

/* What is known of the looks that both profiles were made of. */
enum diff_sampling {
    DIFF_SAMPLED, /* intervals are known */
    DIFF_EXACT,   /* both counted all there was */
    DIFF_UNKNOWN, /* one of them does not tell how often it looked */
};

/* One of the two profiles, as it was given. */
struct diff_side {
    const char *name; /* of the file, "" when it has none */
    uint64_t total;   /* N */
    double looks;     /* that know nothing of each other; 0: exact, or not known */
    uint64_t unseen;  /* certain bound on what any context that was not kept has */
    const char *exe;  /* last part of the path; of several executables the heaviest */
    uint32_t n_exes;
};

/* What is set side by side. */
enum diff_mode {
    DIFF_AUTO,     /* absolute when both counted all there was, else shares: CPU time of the same
                    * work differs by some per cent from run to run, shares hardly do */
    DIFF_SHARES,   /* before is scaled to the total of after */
    DIFF_ABSOLUTE, /* weights as they are */
};

struct diff_options {
    enum profile_by by;
    enum diff_mode mode;
    const char *name[DIFF_SIDES]; /* of the files, for people; NULL: none */
};

/* Nodes are those of `profile`; its roots and "[~]" frames have weights too. */
struct diff {
    struct profile *profile; /* union of both forests; its counts and errors are those of `after` */
    struct diff_weight *self, *inclusive; /* by node of profile; entry 0 is none */
    struct diff_weight total;             /* N of both, before scaled; never beyond */
    uint64_t before_total, after_total;   /* as given, not scaled */
    double scale;                         /* what weights of `before` were multiplied by */
    enum diff_mode mode;                  /* shares or absolute */
    enum diff_sampling sampling;
    enum profile_by by;
    struct diff_side side[DIFF_SIDES];
    uint64_t compared;      /* contexts with own weight, "[~]" not counted ... */
    uint64_t beyond;        /* ... of these, changed beyond their error */
    struct diff_join *join; /* private */
};

/* Compares two profiles as read. False: they can't be compared, and `error` has a sentence that
 * says why; nothing is to be freed. Neither profile is needed any longer after it. */
bool diff_make(struct diff *diff, const struct profile *before, const struct profile *after,
               const struct diff_options *options, char *error, size_t error_bytes);
void diff_free(struct diff *diff); /* one that is all zero is allowed */

/* "sampled", "exact" or "unknown", for files. */
const char *diff_sampling_word(const struct diff *diff);

/* after - before */
double diff_change(const struct diff_weight *weight);
/* By so much the change may be off towards 0: bounds and interval together. */
double diff_allowed(const struct diff_weight *weight);

/* One function (site, line, module: what contexts are told apart by), in all its contexts. */
struct diff_function {
    uint32_t location;
    struct diff_weight self, inclusive; /* inclusive: recursion is counted once */
};

/* All that have weight, "[~]" not counted: those beyond their error first, then by how much the own
 * weight changed; those without own weight last. free() gives them back. */
struct diff_function *diff_functions(const struct diff *diff, uint32_t *n);

/* The contexts with own weight in one of them, "[~]" not counted, in the same order: nodes of
 * diff->profile. free() gives them back. */
uint32_t *diff_contexts(const struct diff *diff, uint32_t *n);

/* Writes it for people, or as JSON (format "hcct-diff", documented in hcct(1)); false with errno
 * set when writing failed. `all`: also what did not change beyond its error. */
bool diff_write_text(FILE *out, const struct diff *diff, const struct format_options *options,
                     bool all);
bool diff_write_json(FILE *out, const struct diff *diff);

#endif
