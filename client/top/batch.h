/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * batch.h - the rows as plain text, once or again and again.
 */
#ifndef HCCT_TOP_BATCH_H
#define HCCT_TOP_BATCH_H

#include "client/top/client.h"
#include "client/top/shape.h"

/* Writes to stdout, `iterations` times (0: until the end of the world), request->delay apart.
 * `width`: columns to fit into, 0: any. Returns an exit status; complained unless HCCT_EXIT_OK. */
int top_batch(const struct top_source *source, const struct top_request *request,
              enum top_shape shape, unsigned iterations, unsigned width);

#endif
