/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * stream.h - what a thread has sent of one metric: a slot of the session, and where the daemon's
 * cursor stands in that metric's tree.
 *
 * The walk and its memo are one for all metrics of a thread (thread.h). A walk for one of them
 * changes what is shown, so it shortens what each of them has in common with that.
 */
#ifndef HCCT_STREAM_H
#define HCCT_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "common/wire/wire.h"
#include "preload/labels/thread.h"
#include "preload/sample/unwind_types.h"

struct stream {
    struct wire_slot *slot;        /* NULL: none claimed yet */
    uint64_t head;                 /* position in the ring */
    uint32_t map_seen;             /* modules_generation() that the daemon knows for it */
    uint32_t sent_frames;          /* frames below the daemon's cursor, without the mark */
    uint32_t common_frames;        /* of these, the outermost ones that are shown */
    uint32_t sent_mark;            /* outermost pseudo-frame, 0: none */
    struct unwind_frame sent_leaf; /* below the daemon's cursor, as thread->leaf */
    struct labels_sent labels;     /* what its contexts begin with */
    bool whole;                    /* the last sample was sent, and the cursor is at it */
    bool missed_slot;              /* counted once */
};

#endif
