/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * trace_definitions.h - the modules, names and frames that a trace has defined, as ids of this
 * program.
 *
 * Checks all definitions. One thread.
 */
#ifndef HCCT_TRACE_DEFINITIONS_H
#define HCCT_TRACE_DEFINITIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/code/frame.h"
#include "common/trace/trace_format.h"

struct trace_ids {
    uint32_t *id; /* by number; 0 is not one */
    uint32_t n;   /* the number after the last */
    size_t room;
};

struct trace_definitions {
    struct trace_ids modules, names, frames; /* code/module.h, jit_names.h, frame.h */
    struct frame_key *key;                   /* by_user: what frames stand for, by number */
    size_t key_room;
    bool by_user;
};

/* By user: a frame has an id when it is asked for (trace_definitions_frame), of a user; else as
 * soon as it is defined, of the program's own user. False: no memory. */
bool trace_definitions_start(struct trace_definitions *defined, bool by_user);
void trace_definitions_end(struct trace_definitions *defined);

/* Takes a MODULE, NAME or FRAME record of n words, of which the first may be read in any case.
 * NULL, or what is wrong with it. */
const char *trace_definitions_take(struct trace_definitions *defined, enum trace_kind kind,
                                   const uint32_t *words, size_t n);

/* By user: that user's id of a frame, by its number; defined->frames.n says how many there are. */
uint32_t trace_definitions_frame(const struct trace_definitions *defined, uint32_t number,
                                 struct frame_user *user);

#endif
