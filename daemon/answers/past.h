/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * past.h - which part of the past a query is about, and where that is: in memory, as windows, or in
 * files, as hours (history.h).
 */
#ifndef HCCT_PAST_H
#define HCCT_PAST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "common/profile/profile.h"
#include "daemon/history/history.h"
#include "daemon/answers/query.h"
#include "daemon/ingest/windows.h"
#include "daemon/render/render_protocol.h"

struct past {
    const struct query *query;
    const struct subwindows_part *window; /* of what is in memory; NULL: all, since the start */
    struct subwindows_part part;
    struct history_cell *cells; /* files whose profiles are to be added */
    size_t n;
};

/* False: it is no part of the past, and `error` has the sentence that says so. */
bool past_find(const struct query *query, struct past *past, struct query_error *error);
void past_free(struct past *past);

/* Is the query about a part of the time, and not all since the start? */
bool past_is_asked(const struct query *query);

/* Nothing of it is in files. */
bool past_is_empty(const struct past *past);
/* The opposite, of a query that no process may answer. */
bool past_has(const struct query *query);

/* The profile with those of the files; takes `profile` over. NULL: they can't be added up, and
 * `error` has the sentence. Gets memory by memory.h. */
struct profile *past_add(const struct past *past, struct profile *profile,
                         struct query_error *error);

/* Or what a renderer is to add to the profile (history_order_add()), which gets these files: they
 * have the logs now, too. False: there are more than have room. Gets memory by memory.h. */
bool past_order(const struct past *past, FILE *out, struct render_files *files);

#endif
