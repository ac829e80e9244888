/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * thinning.c - a course that begins anew where the mean is another one.
 */
#include "preload/sample/thinning.h"

#include "preload/sample/draw.h"

uint64_t thinning_pass(struct thinning *thinning, uint64_t weight, uint64_t *random) {
    uint64_t sum = 0;
    while (weight >= thinning->until_ns) {
        weight -= thinning->until_ns;
        sum += thinning->course.step_ns;
        thinning->until_ns = interval_next(&thinning->course, 1, draw_word(random));
    }
    thinning->until_ns -= weight;
    return sum;
}

uint64_t thinning_weight(struct thinning *thinning, uint64_t weight, uint64_t mean_ns,
                         uint64_t *random) {
    if (weight >= mean_ns)
        return weight;
    if (thinning->course.mean_ns != mean_ns) {
        const uint64_t drawn[INTERVAL_WORDS] = {draw_word(random), draw_word(random)};
        thinning->until_ns = interval_begin(&thinning->course, mean_ns, 1, drawn);
    }
    return thinning_pass(thinning, weight, random);
}
