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

#include "common/code/frame.h"
#include "common/trace/trace_format.h"

struct trace_ids {
    uint32_t *id; /* by number; 0 is not one */
    uint32_t n;   /* the number after the last */
    size_t room;
};

struct trace_known {
    struct trace_ids modules, names, frames; /* code/module.h, jit_names.h, frame.h */
    struct frame_key *key;                   /* by_user: what frames stand for, by number */
    size_t key_room;
    bool by_user;
};

/* By user: a frame has an id when it is asked for (trace_known_frame), of a user; else as soon as
 * it is defined, of the program's own user. False: no memory. */
bool trace_known_start(struct trace_known *known, bool by_user);
void trace_known_end(struct trace_known *known);

/* Takes a MODULE, NAME or FRAME record of n words, of which the first may be read in any case.
 * NULL, or what is wrong with it. */
const char *trace_known_take(struct trace_known *known, enum trace_kind kind, const uint32_t *words,
                             size_t n);

/* By user: that user's id of a frame, by its number; known->frames.n says how many there are. */
uint32_t trace_known_frame(const struct trace_known *known, uint32_t number,
                           struct frame_user *user);

#endif
