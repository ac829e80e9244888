/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * timeline.h - how much was going on when: weights by cell, of the last minute, hour and weeks, and
 * the marks of programs.
 */
#ifndef HCCT_TIMELINE_H
#define HCCT_TIMELINE_H

#include "daemon/answers/query.h"

/* GET /v1/timeline: JSON. Cells that are not there have no weight. */
enum query_status timeline_write(const struct query *query, FILE *out, struct query_error *error);

#endif
