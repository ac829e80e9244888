/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * adapt.h - which bursts of calls are left out, as what they would tell is known well enough.
 *
 * Bursts are put into classes by where in the program they begin. The bursts of a class, one after
 * the other as they come, are divided into groups of m, without gaps. In each group one is drawn,
 * all with the same probability, and seen: so each is seen with probability 1/m, and counts m times
 * as much as it would. That is the law of periods (period.h), with bursts of a class for lengths of
 * time, and its expectation is right for the same reason, if m depends on nothing but the past and
 * the class on nothing but where the burst begins.
 *
 * m follows from the error that is asked for. What leaving out adds to the variance of the
 * estimates is m (m - 1) times the variance within the class, by which bursts of the class that
 * follow each other differ. A group may add a part of what is left between the variance that is
 * asked for, which grows with the square of what was counted, and that which all bursts so far
 * have.
 *
 * (Stratified two-phase sampling: Neyman 1938. Leaving out by what is known: Zhuang, Serrano, Cain,
 * Choi, PLDI 2006, there with a bias, as what is left out counts for nothing.)
 */
#ifndef HCCT_CALLS_ADAPT_H
#define HCCT_CALLS_ADAPT_H

#include <stdint.h>

#define ADAPT_CLASSES 128u
#define ADAPT_PARTS   32u /* of what a burst has seen: calls by a hash of site and function */

struct adapt_law {
    uint32_t error_ppm; /* of the estimates, with 95 % of certainty */
    uint64_t most;      /* of m */
};

struct adapt_class {
    uint32_t seen;               /* bursts */
    uint32_t last[ADAPT_PARTS];  /* what the last one has seen */
    uint64_t variance;           /* of a burst */
    uint64_t largest;            /* sum of squares of a burst */
    uint64_t size, place, drawn; /* the group under way: m, bursts so far, which is seen */
    unsigned __int128 spread;    /* what it adds to that of all */
};

/* Of a thread, zeroed at first. */
struct adapt {
    uint64_t total[ADAPT_PARTS]; /* estimates of all that there was */
    uint32_t last[ADAPT_PARTS];  /* of any class */
    uint32_t seen;               /* bursts after the first one */
    uint64_t variance;           /* of a burst, whatever its class */
    unsigned __int128 spread;    /* the variance of `total` */
    struct adapt_class of[ADAPT_CLASSES];
};

/* A burst of the class `key` is due, which would count `each` times. Gives for how many of the
 * class it stands, if it is to be seen; 0: it is to be left out. `random`: of draw_word(). Any
 * context. */
uint64_t adapt_draw(struct adapt *adapt, const struct adapt_law *law, uint64_t key, uint64_t each,
                    uint64_t *random);

/* A burst was seen: of the class `key`, where adapt_draw() gave `size`; or a program's first, of no
 * class, where that is 0. */
void adapt_seen(struct adapt *adapt, uint64_t key, uint64_t each, uint64_t size,
                const uint32_t calls[ADAPT_PARTS]);

#endif
