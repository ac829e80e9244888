/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * marked.h - marks (ingest/marks.h) in queries and answers.
 */
#ifndef HCCT_MARKED_H
#define HCCT_MARKED_H

#include "common/base/json_out.h"
#include "daemon/answers/query.h"

/* Where a range is given by names of marks, it is that of their moments from then on: the last
 * that lie so to each other. Call after the last query_set(). QUERY_OK, or there are none. */
enum query_status marked_resolve(struct query *query, struct query_error *error);

/* A member "marks": those of the processes that are asked for, oldest first. */
void marked_put(struct json_out *json, const struct query *query);

#endif
