/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * stops.h - where a thread's bytes come to a point (events/course.h), when R changes meanwhile.
 *
 * The law has no memory. So R may be another one from anywhere on that does not depend on where the
 * next point is; and where there was none for R bytes, what is left to it may be drawn anew. That
 * is done where R may have become smaller: a thread that allocates little would come to a point
 * that was drawn by a large R long after that.
 *
 * Of one thread. Pure, but for what is in the struct.
 */
#ifndef HCCT_BLOCKS_STOPS_H
#define HCCT_BLOCKS_STOPS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/wire/wire.h"
#include "preload/events/course.h"

/* `course.left` is up to the next stop, which is a point or none. */
struct stops {
    struct course course;
    uint8_t doubled; /* the R by which it was drawn */
    bool is_point;
    uint16_t beside; /* so many bytes does the clock have for each block, beside its own */
};

#define STOPS_FAR 8u

/* Bytes from one stop to the next, more or less: R, which was doubled so many times, or 4 MiB. */
static inline uint64_t stops_apart(uint32_t doubled) {
    return wire_blocks_mean(doubled < STOPS_FAR ? doubled : STOPS_FAR);
}

/* The next stop, by WIRE_BLOCKS_MEAN doubled so many times. `asks`: there is a stop after so many
 * bytes, too, if no point comes before that. */
void stops_draw(struct stops *stops, uint32_t doubled, bool asks);

/* At the end of `left`, which was so much before the end of a block: does the block have a point?
 * It is asked by one R from its beginning to its end; the next stop is to be drawn after that. */
bool stops_hit(struct stops *stops, uint64_t rest);

#endif
