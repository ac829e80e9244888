/*
 * looks.h - how often a process was looked at, for the sampling interval of what was seen.
 */
#ifndef HCCT_LOOKS_H
#define HCCT_LOOKS_H

#include "daemon/report/profile.h"

enum looks_kind {
    LOOKS_SAMPLED, /* now and then */
    LOOKS_EXACT,   /* nothing was left to chance */
    LOOKS_UNKNOWN, /* the profile does not tell */
};

/* Looks that know nothing of each other: walks, or counted calls. Those of one burst see much the
 * same, so a burst is one look. A profile of another tool has as many as it says, else its weight
 * by its period. *looks is 0 unless sampled. `total` is the weight of the process. */
enum looks_kind looks_of_process(const struct profile *profile, uint32_t process, uint64_t total,
                                 double *looks);

#endif
