/*
 * trace_known.h - the modules, names and frames that a trace has defined, as ids of this program.
 *
 * Checks all definitions. One thread.
 */
#ifndef HCCT_TRACE_KNOWN_H
#define HCCT_TRACE_KNOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/trace/trace_format.h"

struct trace_ids {
    uint32_t *id; /* by number; 0 is not one */
    uint32_t n;   /* the number after the last */
    size_t room;
};

struct trace_known {
    struct trace_ids modules, names, frames; /* code/module.h, jit_names.h, frame.h */
};

bool trace_known_start(struct trace_known *known); /* false: no memory */
void trace_known_end(struct trace_known *known);

/* Takes a MODULE, NAME or FRAME record of n words, of which the first may be read in any case.
 * NULL, or what is wrong with it. */
const char *trace_known_take(struct trace_known *known, enum trace_kind kind, const uint32_t *words,
                             size_t n);

#endif
