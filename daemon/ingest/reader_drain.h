/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * reader_drain.h - what the files of the reader share: a drain, and its way into the tree, the
 * trace beside it and the current sub-window. For reader.c and reader_calls.c alone; the drain's
 * thread.
 */
#ifndef HCCT_READER_DRAIN_H
#define HCCT_READER_DRAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "common/tree/batch.h"
#include "common/wire/compiler.h"
#include "daemon/ingest/reader.h"

#define READER_SLICE_PART                                                                          \
    16 /* of a ring: so much is read before it is given back to its writer                         \
        */

/* What a drain works on. */
struct drain {
    struct reader *reader;
    struct wire_slot *slot;
    uint64_t end;      /* of what is published */
    uint64_t consumed; /* and what the writer may write over */
    struct addresses *map;
    struct reader_effect *effect;
    struct mcct_batch *batch; /* through which calls go, NULL: through the cursor */
    struct mcct_batch_level *level;
    bool direct; /* calls are to go through the cursor */
};

/* ---- the tree, and the trace beside it ---- */

static inline void end_batch(struct drain *d) {
    mcct_batch_end(d->batch, d->level);
    d->batch = NULL;
}

/* Batches begin and end as trace_apply() will have it with the trace: from the first call of a
 * record on, until something comes that is not of calls, or the record's end. Where nobody keeps a
 * trace they go on from drain to drain. */
static inline void follow_record(struct drain *d) {
    if (hcct_likely(!trace_record_begins(&d->reader->trace)))
        return;
    end_batch(d);
    d->direct = false;
}

static inline void leave_batch(struct drain *d) {
    if (trace_is_kept(&d->reader->trace))
        end_batch(d);
    else
        mcct_batch_wait(d->batch, d->level);
}

static inline void go_direct(struct drain *d) {
    end_batch(d);
    d->direct = true;
}

/* Sub-windows get what the tree gets, one by one. */
static inline void begin_batch(struct drain *d) {
    if (d->reader->subwindows == NULL)
        d->batch = mcct_batch_begin(&d->reader->cursor, &d->level);
    d->direct = d->batch == NULL;
}

static inline bool pop_in_tree(struct drain *d, uint64_t n) {
    uint64_t popped;
    follow_record(d);
    if (d->batch != NULL)
        d->level = mcct_batch_pop(d->batch, d->level, n, &popped);
    else
        popped = mcct_pop(&d->reader->cursor, n);
    trace_pop(&d->reader->trace, popped);
    return popped == n;
}

static inline void call_frame(struct drain *d, uint32_t frame) {
    follow_record(d);
    if (hcct_unlikely(d->batch == NULL && !d->direct))
        begin_batch(d);
    if (d->batch != NULL)
        d->level = mcct_batch_call(d->batch, d->level, frame);
    else
        mcct_call(&d->reader->cursor, frame);
    trace_call(&d->reader->trace, frame);
}

static inline void push_in_tree(struct drain *d, uint32_t frame) {
    follow_record(d);
    if (d->batch != NULL)
        d->level = mcct_batch_push(d->batch, d->level, frame);
    else
        mcct_push(&d->reader->cursor, frame);
    trace_push(&d->reader->trace, frame);
}

static inline void credit_in_tree(struct drain *d, uint64_t weight) {
    follow_record(d);
    if (weight != 1)
        go_direct(d);
    else if (d->batch == NULL && !d->direct)
        begin_batch(d);
    if (d->batch != NULL)
        d->level = mcct_batch_credit(d->batch, d->level);
    else
        mcct_credit(&d->reader->cursor, weight);
    trace_credit(&d->reader->trace, weight);
}

/* ---- the same, and in the current sub-window ---- */

/* Sealing a sub-window has closed our cursor; a thread that does nothing has none in the new
 * one. */
static inline void enter_subwindow(struct reader *reader) {
    if (reader->subwindows == NULL || reader->subwindow_cursor.tree != NULL)
        return;
    struct mcct *subwindow = subwindows_tree(reader->subwindows);
    if (subwindow != NULL)
        mcct_cursor_open_at(subwindow, &reader->subwindow_cursor, &reader->cursor);
}

static inline bool in_subwindow(const struct reader *reader) {
    return reader->subwindow_cursor.tree != NULL;
}

static inline bool pop_frames(struct drain *d, uint64_t n) {
    if (hcct_unlikely(d->reader->heap != NULL))
        return heap_pop(d->reader->heap, &d->reader->heap_cursor, n) == n;
    scatter_pop(d->reader->samples, n);
    if (in_subwindow(d->reader))
        mcct_pop(&d->reader->subwindow_cursor, n);
    return pop_in_tree(d, n);
}

static inline void push_frame(struct drain *d, uint32_t frame) {
    if (hcct_unlikely(d->reader->heap != NULL)) {
        heap_push(d->reader->heap, &d->reader->heap_cursor, frame);
        return;
    }
    if (in_subwindow(d->reader))
        mcct_push(&d->reader->subwindow_cursor, frame);
    push_in_tree(d, frame);
}

/* ---- calls (reader_calls.c) ---- */

/* As many calls as follow each other: what programs send at their full speed. The ring is read in
 * place, up to its end. True: there was one. */
bool reader_calls(struct drain *d);

/* The call that `word`, which was just read, tells of, and those that follow it. */
void reader_call(struct drain *d, uint64_t word);

/* From here on each call stands for `each`. A burst is drawn by itself, with all that was seen in
 * it. */
void reader_begin_burst(struct drain *d, uint64_t each);
void reader_end_burst(struct reader *reader);

#endif
