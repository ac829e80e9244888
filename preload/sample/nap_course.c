/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * nap_course.c - means that follow the last series of naps, and chances that follow from them.
 */
#include "preload/sample/nap_course.h"

#include "preload/sample/draw.h"

#define SHORT_PART     4     /* a short stretch is at most one part in so many of a step */
#define LONG_PART      2     /* a long one is more than this part */
#define RUNS_MOST      2     /* a thread naps that runs for one part in so many of the time ... */
#define RUNS_OVER      4     /* ... and no more if it is idle for less than this part */
#define MEAN_LEAST     10000 /* a timer takes so long to come */
#define BEFORE_NS      10000000   /* a thread had so much without samples before */
#define FORGET_NS      1000000000 /* what the agent took since then is half forgotten */
#define SAMPLES_JUDGED 64         /* as many as if so many had weighed the same before */
#define TICKS_JUDGED   8          /* fewer say nothing */
#define LONG_MOST      3          /* one part of all ticks in so many */
#define SAMPLES_KEPT   512        /* then half of what was is forgotten */
#define VARY_MOST      3          /* times the variance of as many samples that weigh the same */
#define NEEDED_MOST    30000      /* naps */
#define CHANCE_PART    16         /* no chance is less than one in so many */

/* A mean of the last NAP_SERIES, after `naps` that have `sum`. */
static uint64_t learn(uint64_t mean, uint64_t sum, uint32_t naps) {
    if (naps >= NAP_SERIES)
        return sum / naps;
    return (mean * (NAP_SERIES - naps) + sum) / NAP_SERIES;
}

void nap_course_read(struct nap_course *course, uint64_t cpu_ns, uint64_t time) {
    if (course->naps == 0)
        return;
    uint64_t worked = cpu_ns - course->read_ns;
    uint64_t in_naps = worked > course->ran_time ? worked - course->ran_time : 0;
    if (course->read_ns != 0) {
        course->mean_ns = learn(course->mean_ns, worked, course->naps);
        course->mean_time = learn(course->mean_time, time - course->read_time, course->naps);
        course->nap_ns = learn(course->nap_ns, in_naps, course->naps);
    }
    course->read_ns = cpu_ns;
    course->read_time = time;
    course->ran_time = 0;
    course->naps = 0;
}

void nap_course_sampled(struct nap_course *course, uint64_t weight_ns) {
    uint64_t us = weight_ns / 1000;
    course->weights_us += us;
    course->squares_us += us * us;
}

void nap_course_tick(struct nap_course *course, bool is_long) {
    course->ticks++;
    course->long_ticks += is_long;
}

static bool most_is_in_few(const struct nap_course *course, uint64_t step_us) {
    uint64_t least = SAMPLES_JUDGED * step_us;
    uint64_t weights = course->weights_us > least ? course->weights_us : least;
    return course->squares_us > VARY_MOST * step_us * weights ||
           (course->ticks >= TICKS_JUDGED && course->long_ticks > course->ticks / LONG_MOST);
}

static void forget(struct nap_course *course) {
    course->weights_us /= 2;
    course->squares_us /= 2;
    course->ticks /= 2;
    course->long_ticks /= 2;
    course->needed /= 2;
}

bool nap_course_varies(struct nap_course *course, uint64_t step_ns) {
    uint64_t step_us = step_ns / 1000;
    if (most_is_in_few(course, step_us)) {
        uint32_t before = course->needed > NAP_SERIES ? course->needed : NAP_SERIES;
        course->needed = before < NEEDED_MOST ? 4 * before : before;
        course->weights_us = course->squares_us = course->ticks = course->long_ticks = 0;
        return true;
    }
    if (course->weights_us > SAMPLES_KEPT * step_us)
        forget(course);
    return false;
}

bool nap_course_pays(const struct nap_course *course, uint64_t step_ns) {
    return course->mean_ns != 0 && course->mean_ns <= step_ns / SHORT_PART &&
           course->mean_ns <= course->mean_time / RUNS_MOST;
}

bool nap_course_is_over(const struct nap_course *course, uint64_t step_ns) {
    return course->mean_ns > step_ns / LONG_PART ||
           course->mean_ns > course->mean_time - course->mean_time / RUNS_OVER;
}

void nap_course_begin(struct nap_course *course, uint64_t cpu_ns) {
    course->on = true;
    course->since_ns = cpu_ns - BEFORE_NS;
    course->own_ns = 0;
    course->own_share = 0;
}

/* It has to follow slowly: where it followed what a thread does just now, what comes behind that
 * would weigh more. */
void nap_course_spread(struct nap_course *course, uint64_t cpu_ns) {
    uint64_t all = cpu_ns - course->since_ns, own = course->own_ns;
    if (own > all / 2)
        own = all / 2;
    course->own_share = (uint32_t)(own * NAP_CERTAIN / (all - own));
    if (all > FORGET_NS) {
        course->since_ns += all / 2;
        course->own_ns = own / 2;
    }
}

static uint32_t chance_of(const struct nap_course *course, uint64_t rest_ns) {
    uint64_t mean = course->mean_ns > MEAN_LEAST ? course->mean_ns : MEAN_LEAST;
    if (rest_ns <= mean)
        return NAP_CERTAIN;
    if (rest_ns >= CHANCE_PART * mean)
        return NAP_CERTAIN / CHANCE_PART;
    return (uint32_t)(mean * NAP_CERTAIN / rest_ns);
}

static uint32_t draw(uint32_t chance, uint32_t wins, uint64_t *random) {
    return chance == NAP_CERTAIN || draw_below(draw_word(random), NAP_CERTAIN) < chance ? wins : 0;
}

uint32_t nap_course_draw_known(const struct nap_course *course, uint64_t rest_ns,
                               uint64_t *random) {
    uint32_t chance = chance_of(course, rest_ns);
    return draw(chance, chance, random);
}

uint32_t nap_course_draw(const struct nap_course *course, uint64_t next_ns, uint64_t *random) {
    uint64_t now = course->read_ns + course->ran_time + course->naps * course->nap_ns;
    return nap_course_draw_known(course, next_ns > now ? next_ns - now : 0, random);
}

uint32_t nap_course_draw_on(const struct nap_course *course, uint64_t rest_ns, uint64_t *random) {
    uint32_t further = chance_of(course, rest_ns);
    uint32_t both = (uint32_t)((uint64_t)course->chance * further / NAP_CERTAIN);
    if (both < NAP_CERTAIN / CHANCE_PART)
        return course->chance;
    return draw(further, both, random);
}
