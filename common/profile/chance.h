/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * chance.h - the 95 % intervals of shares that were sampled.
 *
 * All that is shown of chance comes from here: chance_half_width() of what was left to chance in
 * the processes that were added up. doc/sampling.md derives it.
 */
#ifndef HCCT_CHANCE_H
#define HCCT_CHANCE_H

#include "common/base/share_class.h"
#include "common/profile/profile.h"

/* Design effect: the variance of a share by what it would be, were samples independent. Where they
 * are, as each event is drawn by itself (drawn_alone), that of a weight by what it would be, were
 * the function's samples drawn as all others: there a weight varies by its own samples alone,
 * whatever the total varies by. */

enum chance_kind {
    CHANCE_SAMPLED, /* now and then */
    CHANCE_EXACT,   /* nothing was left to chance */
    CHANCE_UNKNOWN, /* the profile does not tell */
};

/* Of one process or of several, whose samples are independent. Begins as CHANCE_NONE. */
struct chance {
    enum chance_kind kind; /* one that is unknown makes all unknown; exact ones add no chance */
    double total;
    double squares; /* of weights of samples, were they independent; 0: nothing is known */
    double scatter[SHARE_CLASSES]; /* the same as they are, by class of share */
    double of_total;               /* the variance of `total`, where that is known of all ... */
    bool total_known;              /* ... that was sampled */
    bool drawn_alone;              /* each sample was drawn by itself, as events are */
    double lone;                   /* the greatest weight that was drawn by itself */
    double forked, children;       /* processes: made by fork, and of these, attached */
    double attach;                 /* what the first sample of such a child weighs */
    double blurred; /* what was measured may have been measured wrong by so much in all */
    double lost;    /* what weighs so much is known to be lost, and is not in `total` */
    double missing; /* CPU time that the kernel has counted, and that neither `total` nor what is
                     * known to be lost has; less than 0 where these have more */
};

#define CHANCE_NONE                                                                                \
    { .kind = CHANCE_EXACT, .total_known = true }

/* Adds process number `process` of the profile, which weighs `total`. */
void chance_add(struct chance *chance, const struct profile *profile, uint32_t process,
                uint64_t total);
/* All processes of the profile. */
struct chance chance_of(const struct profile *profile);

#define CHANCE_Z       1.96 /* standard deviations, for 95 % */
#define CHANCE_TYPICAL 0.1  /* share of a context, where what samples are worth is one number */

/* So many independent samples of one weight say as much of a share of `share`, 0: nothing was left
 * to chance, or nothing is known of it. */
double chance_samples(const struct chance *chance, double share);

/* Half of the 95 % interval of a share, in [0, 1]; 0 as above: Wilson's, and what was lost, or left
 * out, as all of it may belong to that context, or none. `effect`: as is known of this function
 * (profile_location), 0: as of others that have such a share. */
double chance_half_width(const struct chance *chance, double share, float effect);

/* What one independent sample stands for of a function that has such a share and effect. */
double chance_step(const struct chance *chance, double share, float effect);

/* Half of the 95 % interval of a weight, in the unit of the profile; 0 as above. What the total is
 * off by (not where each event is drawn by itself), or was measured wrong by, the weight is off by,
 * too, by its share; what was lost or left out may all be its. */
double chance_weight_half_width(const struct chance *chance, double weight, float effect);

/* Half of the 95 % interval of the total, in the unit of the profile; 0: as above. Where the
 * profile does not tell it is that of samples that come independently. What is known to be lost, or
 * missing, is in the interval. */
double chance_total_half_width(const struct chance *chance);
/* The same where it is worth a word: 0 where nothing is known of it, or it is below a thousandth.
 */
double chance_total_shown(const struct chance *chance);
/* CPU time that no sample stands for, by more than chance makes of it, in ns: threads that could
 * not be sampled, or a hcctd that got no processor to take what they sent. 0: none is known. */
double chance_left_out(const struct chance *chance);
/* What was lost or left out, as a share of that and of `total`; 0: none is known to be. */
double chance_unseen_share(const struct chance *chance);
/* The variance of the total, of what was not left out. */
double chance_total_variance(const struct chance *chance);

/* Shares for which the interval is given, where it is given for some only. */
#define CHANCE_SHARES 8
extern const double chance_shares[CHANCE_SHARES];

#endif
