/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * trace_tokens.h - what is in a run of tokens, counted and checked.
 */
#ifndef HCCT_TRACE_TOKENS_H
#define HCCT_TRACE_TOKENS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/trace/trace_format.h"

/* Adds the n tokens to the totals. False: one has no verb, names a frame that is not below
 * `frames`, or is cut off; then `totals` holds what came before. */
bool trace_tokens_count(const uint32_t *tokens, size_t n, uint32_t frames,
                        struct trace_totals *totals);

void trace_totals_add(struct trace_totals *totals, const struct trace_totals *more);
uint64_t trace_totals_events(const struct trace_totals *totals);

#endif
