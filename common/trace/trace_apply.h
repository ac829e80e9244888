/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * trace_apply.h - tokens applied to a tree, as fast as they can be read.
 */
#ifndef HCCT_TRACE_APPLY_H
#define HCCT_TRACE_APPLY_H

#include <stddef.h>
#include <stdint.h>

#include "common/tree/mcct.h"

/* Applies the n tokens of a record that a trace_reader handed out; frames in the tree are the
 * trace's numbers. */
void trace_apply(struct mcct_cursor *cursor, const uint32_t *tokens, size_t n);

#endif
