/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * diff.h - two profiles compared, context by context, with all that is known of their errors.
 *
 * Contexts are the same when their paths are, frame by frame, by names (profile_group): what runs
 * on another host, or was built anew, has other addresses. Processes are paired by the last part of
 * their executable's path.
 *
 * Of each context two things are known in either profile, and are kept apart:
 *
 *   certain bounds   count - error <= what was counted <= count + more. Counts are certain, so that
 *                    `error` is only more than 0 where numbers were capped; `more` stands in "[~]"
 *                    frames of the context's callers.
 *   sampling         where samples were taken now and then, what was counted is an estimate of what
 *                    there was. `interval` is half of the 95 % interval of after - before. It says
 *                    nothing of how runs of one program differ among themselves.
 *
 * What was lost of the samples is in no context. It may belong to any: the certain bounds have room
 * for that, and weights of before are scaled so that as much seems lost on both sides
 * (diff_loss.c).
 *
 * A change is `beyond` its error when no values within the certain bounds are nearer to each other
 * than the interval, made so wide that in 95 of 100 comparisons no context that did not change is
 * beyond it by chance. Where no interval is known (DIFF_UNKNOWN) only the certain bounds are held
 * against it.
 *
 * Pure but for the writers' output; not for two threads at a time. Out of memory ends the program.
 */
#ifndef HCCT_DIFF_H
#define HCCT_DIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/profile/profile.h"

enum { DIFF_BEFORE, DIFF_AFTER, DIFF_SIDES };

/* What a context weighs in both, in the unit of the profile. Where totals are made equal, `before`
 * and its errors are multiplied by diff.scale already. */
struct diff_weight {
    uint64_t before, after;             /* counts */
    uint64_t before_error, after_error; /* by so much a count may be too high */
    uint64_t before_more, after_more;   /* ... and too low */
    double interval; /* half width of the 95 % sampling interval of after - before; 0: exact, or
                      * nothing is known of the samples (diff.sampling tells which) */
    double margin;   /* bounds, and the interval for as many contexts as are compared */
    bool beyond;     /* the change is more than the margin */
};

/* What is known of the samples that both profiles were made of. */
enum diff_sampling {
    DIFF_SAMPLED, /* intervals are known */
    DIFF_EXACT,   /* both counted all there was */
    DIFF_UNKNOWN, /* one of them does not tell how many it has */
};

/* One of the two profiles, as it was given. */
struct diff_side {
    const char *name;  /* of the file, "" when it has none */
    uint64_t total;    /* N */
    uint64_t lost;     /* weight of what was lost, which is in no context and not in N */
    double samples;    /* effective sample size of a share of a tenth; 0: exact, or not known */
    const char *title; /* what was recorded (profile.h), "" when it is not known */
    const char *exe;   /* what its process is called; of several the heaviest */
    uint32_t n_exes;
};

/* What is set side by side. */
enum diff_mode {
    DIFF_AUTO,     /* one of the following, by what most functions tell (diff.why) */
    DIFF_SHARES,   /* before is scaled to the total of after */
    DIFF_ABSOLUTE, /* weights as they are: the same work was done */
    DIFF_SCALED,   /* before is scaled by the factor that most functions have in common: more of the
                    * same work was done, or less */
};

/* Why this mode was taken. */
enum diff_why {
    DIFF_ASKED,     /* it was asked for */
    DIFF_AS_LONG,   /* scaled: both are parts of the past, and before is scaled to the time of after
                     */
    DIFF_COUNTED,   /* absolute: both counted all there was */
    DIFF_SAME_WORK, /* absolute: most functions weigh the same */
    DIFF_MAYBE_SAME, /* absolute: most functions weigh the same, or by chance only seem to */
    DIFF_LOST,       /* so much was lost that the same work looks like other work. Absolute
                      * where most functions weigh the same, else shares */
    DIFF_TOO_FEW,    /* absolute: too few functions to tell a longer run from a slower one */
    DIFF_OTHER_WORK, /* scaled: most functions weigh more, or less, by one factor */
    DIFF_NO_FACTOR,  /* shares: they have no factor in common */
};

/* What a part of the past and all that is kept beside it are called, where these are compared. */
#define DIFF_THE_REST  "the rest"
#define DIFF_THE_RANGE "the range"

struct diff_options {
    enum profile_by by;
    enum diff_mode mode;
    const char *name[DIFF_SIDES]; /* of the files, for people; NULL: none */
};

/* Nodes are those of `profile`; its roots and "[~]" frames have weights too. */
struct diff {
    struct profile *profile; /* union of both forests; its counts and errors are those of `after` */
    struct diff_weight *self, *inclusive; /* by node of profile; entry 0 is none */
    struct diff_weight total;             /* N of both and what was lost, not scaled */
    uint64_t before_total, after_total;   /* N alone */
    double as_long;         /* of parts of the past: the time of after, in times that of
                             * before; 0 of others */
    double scale;           /* what weights of `before` were multiplied by */
    double scale_deviation; /* its standard deviation, 0 where it was not estimated */
    double quantile;        /* of the margins, in standard deviations */
    enum diff_mode mode;    /* never DIFF_AUTO */
    enum diff_why why;
    double common; /* DIFF_MAYBE_SAME: the factor that these functions have in common */
    double agree;  /* share of the functions' weight that agrees with the scale; 0: not asked */
    enum diff_sampling sampling;
    enum profile_by by;
    struct diff_side side[DIFF_SIDES];
    uint64_t compared;      /* contexts with self weight, "[~]" not counted ... */
    uint64_t beyond;        /* ... of these, changed beyond their error */
    struct diff_join *join; /* private */
};

/* Compares two profiles as read. False: they can't be compared, and `error` has a sentence that
 * says why; nothing is to be freed. Neither profile is needed any longer after it. */
bool diff_make(struct diff *diff, const struct profile *before, const struct profile *after,
               const struct diff_options *options, char *error, size_t error_bytes);
void diff_free(struct diff *diff); /* one that is all zero is allowed */

/* By how much the share of the totals changed, in points of per cent. Of weights of `before` that
 * are scaled. */
double diff_share_change(const struct diff *diff, const struct diff_weight *weight);

/* "absolute", "shares" or "scaled", for files. */
const char *diff_mode_word(const struct diff *diff);
/* The reason for it, for files. */
const char *diff_why_word(const struct diff *diff);

/* What rose by more than `fraction` of what it was, whatever is true within its bounds and by
 * chance. */
struct diff_rise {
    uint32_t n;      /* so many functions (or contexts); the total is not counted */
    bool total;      /* the total did. Only judged where weights are compared as they are */
    char worst[256]; /* name of the one that rose by most of all, where n > 0 ... */
    struct diff_weight weight; /* ... its weight ... */
    bool inclusive;            /* ... which is this one, not self */
    char blamed[256];          /* whose self weight rose most, be it by chance; empty: none did */
    struct diff_weight blame;
};
void diff_find_rises(const struct diff *diff, double fraction, bool contexts,
                     struct diff_rise *rise);

/* "sampled", "exact" or "unknown", for files. */
const char *diff_sampling_word(const struct diff *diff);

/* after - before */
double diff_change(const struct diff_weight *weight);
/* By so much the change may be off towards 0: bounds and interval together. */
double diff_allowed(const struct diff_weight *weight);

/* One function (site, line, module: what contexts are grouped by), in all its contexts. */
struct diff_function {
    uint32_t location;
    struct diff_weight self, inclusive; /* inclusive: recursion is counted once */
};

/* All that have weight, "[~]" not counted: those beyond their error first, then by how much the own
 * weight changed; those without self weight last. free() gives them back. */
struct diff_function *diff_functions(const struct diff *diff, uint32_t *n);

/* The contexts with self weight in one of them, "[~]" not counted, in the same order: nodes of
 * diff->profile. free() gives them back. */
uint32_t *diff_contexts(const struct diff *diff, uint32_t *n);

#endif
