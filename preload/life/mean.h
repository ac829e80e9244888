/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * mean.h - a mean that follows what is measured, with nothing kept but itself.
 */
#ifndef HCCT_MEAN_H
#define HCCT_MEAN_H

#include <stdint.h>

/* The mean `known` (0: nothing is known yet) after one more measurement, of which one part in
 * `parts` is learned. Any context. */
static inline uint64_t mean_after(uint64_t known, uint64_t measured, uint64_t parts) {
    return known == 0 ? measured : known - known / parts + measured / parts;
}

#endif
