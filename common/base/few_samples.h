/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * few_samples.h - what samples are believed to tell of their own scatter, where they are few or
 * alike.
 */
#ifndef HCCT_FEW_SAMPLES_H
#define HCCT_FEW_SAMPLES_H

/* So many samples that may have been there, and were not, make an interval of few samples right
 * (doc/sampling.md). */
#define FEW_UNSEEN 1.5

/* Successive samples that see the same vary by no less than this part of what independent ones
 * vary by. */
#define FEW_LEAST_EFFECT 0.002

#endif
