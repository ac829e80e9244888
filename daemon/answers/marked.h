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

/* The same of these as a profile has them (mark_lines.h), of the part of the past that is asked
 * for; free() gives it back. NULL: no memory. */
char *marked_lines(const struct query *query);

/* A member "marks": those of the processes that are asked for, oldest first. */
void marked_put(struct json_out *json, const struct query *query);

#endif
