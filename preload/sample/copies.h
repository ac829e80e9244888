/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * copies.h - raw stack samples (emit_raw_stack.h), so far apart that each finds room.
 *
 * A copy takes up to most of a ring, which the daemon empties a few milliseconds later. Of samples
 * that come more often, those are taken that points of an interval course (interval.h) fall on, the
 * points lying on the sum of the samples' weights. Each taken one stands for the step of its point,
 * so every moment counts as much as it would if there were room for all.
 *
 * On the thread itself, inside the session.
 */
#ifndef HCCT_COPIES_H
#define HCCT_COPIES_H

#include <stdint.h>

#include "common/wire/wire.h"
#include "preload/sample/thinning.h"

#define WALK_WORDS WIRE_RING_WORDS(WIRE_SLOT_BYTES) /* of the rings that walks are sent through */

struct copies {
    struct thinning points; /* its mean is 0: no copies were sent of late */
    uint64_t quiet_ns;      /* weight of samples since the last copy */
};

/* What a sample that should weigh `weight` is to weigh; 0: it is not to be taken. `random` is the
 * state of the thread's draws. */
uint64_t copies_weight(struct copies *copies, uint64_t weight, uint64_t *random);
/* A walk was made, which took `words` of the ring as a copy; 0: it was none. COPIES_NO_ROOM: it
 * would have been one, but the daemon gets less of the processor than it should. */
void copies_walked(struct copies *copies, uint32_t words, uint64_t *random);
#define COPIES_NO_ROOM UINT32_MAX

#endif
