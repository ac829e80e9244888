/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * metrics.h - GET /metrics: the daemon's own health and that of its live processes, in the text
 * format of Prometheus.
 */
#ifndef HCCT_METRICS_H
#define HCCT_METRICS_H

#include "daemon/answers/query.h"

/* Live processes one by one (of those that the query may see), finished ones as sums: so there are
 * never more series than programs run. Thread-safe. */
enum query_status metrics_write(const struct query *query, FILE *out, struct query_error *error);

#endif
