/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * merge_metrics.h - profiles of several metrics added up by metric.
 *
 * Each metric that any of them has is added up over those that have it; the sums become one file,
 * as hcct record writes it, in the order of the first profile.
 */
#ifndef HCCT_MERGE_METRICS_H
#define HCCT_MERGE_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "client/view.h"
#include "common/profile/profile.h"

struct merge_input {
    const char *name;
    char *data; /* of a file, NULL: hcctd's answer, which has one metric */
    size_t bytes;
    struct profile *profile; /* the metric that was asked for, else the first one in it */
};

/* Frees what they have. */
void merge_inputs_free(struct merge_input *inputs, size_t n);

/* Where a file has the first one's metric beside others, that one is its profile from now on.
 * False: complained. */
bool merge_inputs_align(struct merge_input *inputs, size_t n);

/* Has one of them several metrics? */
bool merge_metrics_are_several(const struct merge_input *inputs, size_t n);

/* Writes the sums of all metrics to `out`, a file of pprof. Names of metrics that some of the
 * inputs lack are said. False: complained, or, with errno set, writing failed and *failed is true.
 */
bool merge_metrics_write(const struct merge_input *inputs, size_t n, const struct view *view,
                         double phi, FILE *out, bool *failed);

#endif
