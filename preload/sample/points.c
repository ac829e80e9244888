/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * points.c - two courses of steps, and what of them is due.
 */
#include "preload/sample/points.h"

#include "preload/sample/draw.h"
#include "preload/sample/ticker.h"

#define NAPS         4  /* early ticks in a block: the next blocks have one point each */
#define WARM_UP      16 /* periods */
#define MOST_AT_ONCE 64 /* steps, or periods: what is further behind is credited as it passed */

static bool is_endless(const struct points *points) {
    return points->next_ns == SAMPLING_ENDLESS;
}

/* Steps as long as the kernel's tick are drawn one by one: setting a timer costs little beside
 * them. For others that is decided when a pair of blocks is over: where it is decided within a
 * block, short steps live longer. */
static uint32_t block(struct points *points, const struct sampling_plan *plan) {
    if (interval_is_over(&points->steps)) {
        points->naps = points->early >= NAPS || (points->naps && points->early > 0);
        points->early = 0;
    }
    bool single = points->single || points->naps || plan->fine_ns >= ticker_resolution();
    return single ? 1 : POINTS_BLOCK;
}

static uint64_t begin(struct interval_course *course, uint64_t mean_ns, uint32_t in_block,
                      uint64_t *random) {
    uint64_t words[INTERVAL_WORDS];
    for (int i = 0; i < INTERVAL_WORDS; i++)
        words[i] = draw_word(random);
    return interval_begin(course, mean_ns, in_block, words);
}

static void begin_steps(struct points *points, const struct sampling_plan *plan, uint64_t since,
                        uint64_t *random) {
    points->early = 0;
    points->due_ns = since + begin(&points->steps, plan->fine_ns, block(points, plan), random);
}

/* A burst begins at `points->next_ns`, or goes on there. */
static void begin_burst(struct points *points, const struct sampling_plan *plan, uint64_t since,
                        uint64_t *random) {
    bool touches = points->next_ns < points->end_ns;
    if (!touches)
        begin_steps(points, plan, since, random);
    points->end_ns = (touches ? points->end_ns : points->next_ns) + plan->length_ns;
    points->next_ns += interval_next(&points->bursts, 1, draw_word(random));
    points->begun++;
}

void points_begin(struct points *points, const struct sampling_plan *plan, uint64_t since,
                  uint64_t *random) {
    *points = (struct points){.end_ns = SAMPLING_ENDLESS, .next_ns = SAMPLING_ENDLESS};
    if (plan_is_endless(plan)) {
        begin_steps(points, plan, since, random);
        return;
    }
    /* times from `before` on, until then on another clock: a burst may still go on then, and where
     * bursts touch, one that began long before */
    uint64_t before = plan->length_ns;
    if (2 * plan->length_ns > plan->coarse_ns)
        before += WARM_UP * plan->coarse_ns;
    points->end_ns = 0;
    points->next_ns = begin(&points->bursts, plan->coarse_ns, 1, random);
    while (points->next_ns <= before)
        begin_burst(points, plan, before, random);
    points->begun = points_in_burst(points) && points->end_ns > before;
    points->next_ns = points->next_ns - before + since;
    points->due_ns = points->begun ? points->due_ns - before + since : 0;
    points->end_ns = points->begun ? points->end_ns - before + since : 0;
}

static void skip(struct points *points, uint64_t ns) {
    points->due_ns += ns;
    if (is_endless(points))
        return;
    points->end_ns += ns;
    points->next_ns += ns;
}

uint64_t points_reach(struct points *points, const struct sampling_plan *plan, uint64_t limit,
                      uint64_t *random) {
    uint64_t mean = plan_is_endless(plan) ? plan->fine_ns : plan->coarse_ns;
    uint64_t far = MOST_AT_ONCE * mean, next = points_next(points), skipped = 0, sum = 0;
    if (limit >= next && limit - next > far) {
        skipped = limit - next - far;
        skip(points, skipped);
    }
    while (points_next(points) <= limit) {
        if (!points_in_burst(points)) {
            begin_burst(points, plan, points->next_ns, random);
            continue;
        }
        sum += points->steps.step_ns;
        points->due_ns += interval_next(&points->steps, block(points, plan), draw_word(random));
    }
    if (!plan_is_endless(plan))
        sum = (uint64_t)((unsigned __int128)sum * plan->coarse_ns / plan->length_ns);
    return sum + skipped;
}

void points_early(struct points *points) {
    points->early++;
}

void points_draw_single(struct points *points, bool single) {
    points->single = single;
}

void points_put_off(struct points *points, uint64_t ns) {
    skip(points, ns);
}
