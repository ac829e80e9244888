/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * copies.c - how much time the largest copy of late needs until there is room for the next one.
 *
 * That is a power of two times FULL_NS / 8, and only grows until the copies have ended: a course
 * that began anew with each size would not be a course.
 */
#include "preload/sample/copies.h"

#include "preload/sample/draw.h"

#define FULL_NS                                                                                    \
    8000000      /* in which the daemon surely empties a ring, unless it gets no processor         \
                  */
#define ENDED 16 /* walks in a row that were no copies: it has the tables now */

static uint64_t spacing(uint32_t words) {
    uint64_t spacing = FULL_NS / 8;
    while (spacing < FULL_NS && words * (uint64_t)FULL_NS > spacing * WALK_WORDS)
        spacing *= 2;
    return spacing;
}

void copies_walked(struct copies *copies, uint32_t words, uint64_t *random) {
    uint64_t mean = copies->course.mean_ns;
    if (words == 0) {
        if (mean != 0 && ++copies->others == ENDED)
            *copies = (struct copies){0};
        return;
    }
    copies->others = 0;
    if (spacing(words) > mean) {
        const uint64_t drawn[INTERVAL_WORDS] = {draw_word(random), draw_word(random)};
        copies->until_ns = interval_begin(&copies->course, spacing(words), 1, drawn);
    }
}

uint64_t copies_weight(struct copies *copies, uint64_t weight, uint64_t *random) {
    uint64_t sum = 0;
    if (weight >= copies->course.mean_ns)
        return weight;
    while (weight >= copies->until_ns) {
        weight -= copies->until_ns;
        sum += copies->course.step_ns;
        copies->until_ns = interval_next(&copies->course, 1, draw_word(random));
    }
    copies->until_ns -= weight;
    return sum;
}
