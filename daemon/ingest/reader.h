/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * reader.h - one ring's words applied to a tree, and to the sub-windows beside it.
 *
 * Trusts nothing: a ring whose positions or words can't be is closed for good, and said to be.
 */
#ifndef HCCT_READER_H
#define HCCT_READER_H

#include <stdbool.h>
#include <stdint.h>

#include "common/trace/trace_writer.h"
#include "common/tree/burst_sums.h"
#include "common/tree/draws.h"
#include "common/tree/mcct.h"
#include "common/tree/scatter.h"
#include "common/tree/subwindows.h"
#include "common/wire/wire.h"
#include "daemon/ingest/addresses.h"
#include "daemon/ingest/context_root.h"
#include "daemon/ingest/heap.h"
#include "daemon/ingest/raw_sample.h"

struct reader {
    uint64_t size; /* words of the ring */
    uint64_t at;   /* words read, ever */
    bool open;     /* the cursor is in the tree */
    bool broken;
    uint32_t generation;       /* of the module log, by which the stream is to be read (MAP) */
    uint64_t code;             /* from where on CALL events have their addresses (CODE) */
    uint64_t each;             /* what a call counts (BURST); 0: none has begun, each counts once */
    uint64_t burst_calls;      /* of the burst under way */
    struct burst_sums *bursts; /* where those that are over go, NULL: nowhere */
    struct mcct_cursor cursor;
    struct context_root root; /* what all contexts begin with. Its thread is given before the first
                               * word, labels come with words */
    uint64_t found_ns;        /* when the thread was first seen; 0: not yet */
    struct subwindows *subwindows; /* get what the tree gets, NULL: there are none. Given once */
    struct mcct_cursor
        subwindow_cursor; /* in the current sub-window; its tree is NULL: not yet there */
    struct heap *heap; /* of sampled blocks: learns where they are allocated, in place of the tree
                        * and the sub-windows; NULL: they are not sampled. Given once */
    struct heap_cursor heap_cursor;
    uint64_t block;               /* that is credited next (BLOCK); 0: none */
    struct trace_process *keeper; /* keeps what is applied, NULL: nobody */
    struct trace_thread trace;
    struct scatter *scatter;          /* learns of samples, NULL: they are of calls. Given once */
    struct scatter_thread *samples;   /* of this thread, in it */
    struct raw_sample_list *deferred; /* where raw stack samples go; NULL: they are refused */
    uint64_t step;                    /* the mean of what samples weigh, ns; 0: not known */
    uint64_t measured_above; /* CREDIT of more ns was measured, not drawn (draws.h); 0: none is */
    uint64_t events_mean;    /* between samples of events, of allocations as they are drawn now
                              * (BLOCK); 0: of something else. Given once */
    uint64_t rarest;         /* what a block may weigh that is drawn now; 0: of something else */
    bool numbers;            /* events that weigh one each */
    unsigned draws_shift;    /* by which weights are too small for draws.h */
    uint64_t moved_ns;       /* when words came last, as reader_rest() has the time */
    uint64_t repeat_max; /* frames that REPEAT may push in one drain, 0: no limit. A word can ask
                          * for thousands; other processes wait meanwhile */
};

/* What the words of one drain did beside the tree. */
struct reader_effect {
    uint64_t words;   /* read */
    uint64_t credits; /* CREDIT, CALL and RAW_STACK events */
    bool map_changed; /* a MAP event came: modules are to be read again */
    bool undrained;   /* repeat_max was reached: there is more to read */
    uint64_t repeats; /* frames pushed by REPEAT */
    bool copies;      /* raw stack samples came, whether there was room for them or not */
    uint64_t refused; /* raw stack samples that there is no room for, and what they weigh */
    uint64_t refused_weight;
    uint64_t
        discarded; /* calls in the ring of a reader that is closed, which a thread may wait for */
    struct draws draws; /* of CREDIT and RAW_STACK */
    uint64_t greatest;  /* of these, the largest number of events that one stands for */
};

/* The position up to which words have been published; RING_BROKEN (ring.h), and the reader is
 * closed for good, when it can't be. */
uint64_t reader_end(struct reader *reader, struct wire_slot *slot);

/* Applies what is published in the slot before position `end` (reader_end, asked before `map` was
 * brought up to date: then the modules of all that code are in it); stops early at a MAP event,
 * with effect->map_changed, so that the caller can bring `map` up to date and call again, and with
 * effect->undrained. A raw stack sample takes the ranges of `map` along. */
void reader_drain(struct reader *reader, struct wire_slot *slot, uint64_t end, struct mcct *tree,
                  struct addresses *map, struct reader_effect *effect);

/* After each drain, with the time on any clock: when no words have come for a while, what was
 * gathered for the tree (batch.h) goes there, and its memory is others'. */
void reader_rest(struct reader *reader, const struct reader_effect *effect, uint64_t now_ns);

/* The slot's thread need not wait for room any more. */
void reader_wake(struct wire_slot *slot);

/* The thread is gone: its cursors leave the trees. */
void reader_close(struct reader *reader);

#endif
