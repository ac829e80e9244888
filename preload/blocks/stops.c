/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * stops.c - gaps that are cut.
 */
#include "preload/blocks/stops.h"

#include "common/wire/wire.h"

void stops_draw(struct stops *stops, uint32_t doubled, bool asks) {
    uint64_t mean = wire_blocks_mean(doubled), gap = course_gap(mean, &stops->course.random);
    uint64_t most = stops_apart(doubled);
    stops->doubled = (uint8_t)doubled;
    stops->is_point = !asks || gap <= most;
    stops->course.left = stops->is_point ? gap : most;
}

bool stops_hit(struct stops *stops, uint64_t rest) {
    return stops->is_point || (rest > 0 && course_gap(wire_blocks_mean(stops->doubled),
                                                      &stops->course.random) <= rest);
}
