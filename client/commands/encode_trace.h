/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * encode_trace.h - a trace's calls executed again by threads that keep their context as a number.
 *
 * Each process has a call graph that grows with its calls, and encodings that follow it
 * (encode/adaptive.h). One call in so many is a sample: its context is decoded, and compared with
 * the path that the trace itself tells.
 */
#ifndef HCCT_ENCODE_TRACE_H
#define HCCT_ENCODE_TRACE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "common/encode/adaptive.h"
#include "common/trace/trace_reader.h"

struct encode_options {
    unsigned id_bits;
    uint64_t every; /* one call in so many is a sample, and one return */
};

/* What came out for a process. */
struct encoded {
    const char *command; /* the reader's */
    uint32_t pid, threads;
    uint32_t functions, edges;                      /* all */
    uint32_t encoded, newer, circles, out_of_range; /* edges, by the last encoding */
    uint64_t max_id;                                /* the largest of all encodings */
    uint64_t calls[CONTEXT_STEPS];                  /* by what they did */
    uint64_t leaf;           /* of those that did something, calls of functions that call nothing */
    uint64_t unseen;         /* of all calls, those that were found by what they called in turn */
    uint64_t samples, wrong; /* contexts that were decoded; not the path of the trace */
    uint64_t kept, kept_wrong;    /* the same of contexts that were decoded at the end, by
                                   * the encoding of their time */
    uint64_t path_sum, stack_sum; /* over samples: calls; entries of the stack */
    uint32_t path_max, stack_max;
    uint32_t encodings;   /* made while the program ran */
    uint64_t encoding_ns; /* what they took: CPU time, contexts translated */
};

struct encoded_trace {
    struct encoded *process; /* those with calls, in the order in which they ended */
    uint32_t n, room;
    enum trace_read end; /* END, CUT or FAILED: trace_reader_error() */
    const char *refused; /* NULL, or why the rest was not read */
};

static inline uint64_t encoded_calls(const struct encoded *e) {
    uint64_t sum = 0;
    for (unsigned i = 0; i < CONTEXT_STEPS; i++)
        sum += e->calls[i];
    return sum;
}

/* Without memory the program ends (memory.h). */
void encode_trace(struct trace_reader *reader, const struct encode_options *options,
                  struct encoded_trace *trace);
void encoded_trace_free(struct encoded_trace *trace);

/* For people, or as JSON (hcct-encode(1)). False with errno set when writing failed. */
bool encoded_write_text(FILE *out, const struct encoded_trace *trace);
bool encoded_write_json(FILE *out, const struct encoded_trace *trace);

#endif
