/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * http_render.h - the answer to a query that a renderer writes (renderer.h).
 */
#ifndef HCCT_HTTP_RENDER_H
#define HCCT_HTTP_RENDER_H

#include "daemon/answers/query.h"

/* Waits until few enough of this user's are rendered, has the answer rendered, and waits for it,
 * while others are served. In a job of the asking user (http_jobs.h), whose client is at the other
 * end of `client`. QUERY_OK: *file is the caller's, and has *bytes. */
enum query_status http_render(const struct query *query, int client, int *file, size_t *bytes,
                              struct query_error *error);

#endif
