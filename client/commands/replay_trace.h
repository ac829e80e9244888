/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * replay_trace.h - a trace's events applied to trees of any summary.
 */
#ifndef HCCT_REPLAY_H
#define HCCT_REPLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "common/assemble/assemble.h"
#include "common/trace/trace_reader.h"
#include "common/tree/mcct.h"

/* What came out: one part for each process, in the order in which they began. */
struct replayed {
    struct assemble_part *parts; /* strings are the reader's; frames are ids (code/frame.h) */
    uint32_t n;
    uint64_t since_ns, duration_ns; /* of all of them together */
    uint64_t period;
    enum trace_read end; /* END, CUT or FAILED: trace_reader_error() */
};

/* Reads the trace to its end, or to where it is cut. False: no memory, complained; `replayed` is to
 * be freed either way. */
bool replay_trace(struct trace_reader *reader, const struct mcct_params *params,
                  struct replayed *replayed);
void replayed_free(struct replayed *replayed);

#endif
