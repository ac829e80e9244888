/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * head.h - the lines above the rows: who, how much, how precise it is, what it costs.
 *
 * Pure.
 */
#ifndef HCCT_TOP_HEAD_H
#define HCCT_TOP_HEAD_H

#include "client/top/kinds.h"
#include "client/top/model.h"
#include "client/top/text.h"

/* "server (pid 812, 4 threads), profiled for 2 h 05 min" */
void top_head_who(struct top_line *line, const struct top_model *model);
/* N and its interval, samples, how many are whole, what was lost, what the agent costs.
 * `per_second`: samples lately, < 0: not known, so that the average stands there. `kinds`: of which
 * `kind` is shown; NULL: not known. */
void top_head_total(struct top_line *line, const struct top_model *model, double per_second,
                    const struct top_kinds *kinds, const char *kind);
/* What is left to chance, the bounds, and what keeps them. */
void top_head_error(struct top_line *line, const struct top_model *model);
/* The recent weights; `what` names them: "the last 60s", "since the mark". */
void top_head_recent(struct top_line *line, const struct top_model *model, const char *what);

/* How its contexts are rewritten. */
void top_head_steps(struct top_line *line, const struct top_steps *steps);

#endif
