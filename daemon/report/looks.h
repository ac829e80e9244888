/*
 * looks.h - effective sample sizes, and the intervals of chance that follow from them.
 */
#ifndef HCCT_LOOKS_H
#define HCCT_LOOKS_H

#include "daemon/report/profile.h"

enum looks_kind {
    LOOKS_SAMPLED, /* now and then */
    LOOKS_EXACT,   /* nothing was left to chance */
    LOOKS_UNKNOWN, /* the profile does not tell */
};

/* The effective sample size: so many independent samples of one weight say as much. Samples of one
 * burst see much the same, so a burst is one sample; where weights differ (a walk after ticks that
 * were skipped, bursts of other lengths) there are fewer (Kish). A profile of another tool has as
 * many as it says, else its weight by its period. *looks is 0 unless sampled. `total` is the weight
 * of the process. */
enum looks_kind looks_of_process(const struct profile *profile, uint32_t process, uint64_t total,
                                 double *looks);

/* The effective sample size of two parts together, which weigh differently a sample: a third of the
 * weight that rests on three samples makes the whole as uncertain as they are. 0 looks: nothing was
 * left to chance in that part. */
double looks_pool(uint64_t weight, double looks, uint64_t more_weight, double more_looks);

/* That of all processes of the profile; 0: nothing was left to chance, or nothing is known of it.
 */
double looks_of_all(const struct profile *profile);

/* Half of the 95 % interval (Wilson's) of what weighs `weight` in the process, in the unit of the
 * profile; `process` 0: in all together. 0: nothing was left to chance, or nothing is known of it.
 * Adds up the samples of all processes each time: for many weights, samples_half_width. */
double chance_half_width(const struct profile *profile, uint32_t process, uint64_t weight);

/* The same for a share of so many samples: in [0, 1]. */
double samples_half_width(double share, double samples);

#endif
