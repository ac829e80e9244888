/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * diff_mode.c - was the same work done? Then weights are compared as they are, else shares.
 *
 * Where one function became slower, all others weigh what they weighed before: but their shares
 * fall. Where a program ran longer, all weigh more, by one factor. So the factor is sought that
 * most functions have in common: 1, where at least half of their weight agrees with it within its
 * chance and TOLERANCE (runs of one program differ by so much), and these together do, too: where
 * samples are few, each function for itself agrees with nearly any factor. Else one near the
 * weighted median of their ratios, where half agrees with that. So that one heavy function does not
 * decide alone, each counts for at most HEAVIEST.
 */
#include <math.h>
#include <stdlib.h>

#include "common/base/memory.h"
#include "common/profile/diff_judge.h"

#define Z_95             1.96
#define TOLERANCE        0.03
#define HEAVIEST         0.1 /* of all weight */
#define MOST             0.5
#define LEAST            0.001 /* share of a function that is asked */
#define ROUNDS           8
#define LEAST_FUNCTIONS  3
#define MEDIAN_DEVIATION 1.2533 /* of a median, where that of a mean is 1 */

struct voice {
    struct diff_bounds side[DIFF_SIDES];
    double vote, ratio;
};

struct voices {
    struct voice *voice;
    uint32_t n;
    double votes;
};

static int compare_ratios(const void *a, const void *b) {
    const struct voice *x = a, *y = b;

    return x->ratio < y->ratio ? -1 : x->ratio > y->ratio;
}

/* Self weights by function, also of contexts that are not kept. */
static void add_weights(const struct diff *diff, struct voice *voice) {
    const struct profile *profile = diff->profile;

    for (uint32_t i = 1; i < profile->n_nodes; i++) {
        uint32_t location = profile->nodes[i].location;

        if (profile->nodes[i].parent == 0 || profile_is_pruned(profile, location))
            continue;
        for (int side = 0; side < DIFF_SIDES; side++) {
            voice[location].side[side].count += diff->join->own[side][i].count;
            voice[location].side[side].effect = diff->join->own[side][i].effect;
        }
    }
}

static struct voices collect(const struct diff *diff) {
    uint32_t n = diff->profile->n_locations;
    struct voices voices = {.voice = memory_new(n, sizeof(struct voice), "functions")};

    add_weights(diff, voices.voice);
    for (uint32_t i = 1; i < n; i++) {
        struct voice voice = voices.voice[i];
        double before = (double)voice.side[DIFF_BEFORE].count;
        double after = (double)voice.side[DIFF_AFTER].count;
        double share =
            (before / (double)diff->before_total + after / (double)diff->after_total) / 2;

        if (share < LEAST)
            continue;
        voice.vote = share < HEAVIEST ? share : HEAVIEST;
        voice.ratio = before > 0 ? after / before : INFINITY;
        voices.votes += voice.vote;
        voices.voice[voices.n++] = voice;
    }
    qsort(voices.voice, voices.n, sizeof(*voices.voice), compare_ratios);
    return voices;
}

/* Of a ratio of weights that are such parts of both totals. */
static double samples_deviation(const struct diff *diff, double before, double after) {
    before *= diff->side[DIFF_BEFORE].samples;
    after *= diff->side[DIFF_AFTER].samples;
    if (diff->sampling != DIFF_SAMPLED)
        return 0;
    return sqrt((before > 0 ? 1 / before : 0) + (after > 0 ? 1 / after : 0));
}

/* Those whose weights agree with a scale. */
struct agreed {
    uint32_t n;
    double votes;     /* part of all */
    double ratio;     /* of their weights together */
    double deviation; /* of the ratio, as a part of it, by chance */
};

static bool agrees(const struct diff *diff, const struct voice *voice) {
    double before = diff->scale * (double)voice->side[DIFF_BEFORE].count;
    double after = (double)voice->side[DIFF_AFTER].count;
    double allowed =
        Z_95 * diff_deviation(diff, 0, voice->side) + TOLERANCE * (after > before ? after : before);

    return fabs(after - before) <= allowed;
}

static struct agreed who_agrees(struct diff *diff, const struct voices *voices, double scale) {
    struct agreed agreed = {.n = 0};
    double before = 0, after = 0;

    diff->scale = scale;
    for (uint32_t i = 0; i < voices->n; i++) {
        const struct voice *voice = &voices->voice[i];

        if (!agrees(diff, voice))
            continue;
        agreed.n++;
        agreed.votes += voice->vote / voices->votes;
        before += (double)voice->side[DIFF_BEFORE].count;
        after += (double)voice->side[DIFF_AFTER].count;
    }
    diff->scale = 1;
    agreed.ratio = before > 0 ? after / before : scale;
    agreed.deviation = samples_deviation(diff, before / (double)diff->before_total,
                                         after / (double)diff->after_total);
    return agreed;
}

static double median_ratio(const struct voices *voices) {
    double sum = 0;
    uint32_t i = 0;

    while (i + 1 < voices->n && sum + voices->voice[i].vote < voices->votes / 2)
        sum += voices->voice[i++].vote;
    return voices->voice[i].ratio;
}

/* The median is drawn towards what became slower; those who agree with it tell better. Two that
 * agree may have met by chance. */
static void take_scale(struct diff *diff, const struct voices *voices) {
    double ratio = median_ratio(voices);
    struct agreed agreed = {.n = 0};

    diff->mode = DIFF_SHARES;
    diff->why = DIFF_NO_FACTOR;
    for (int round = 0; round < ROUNDS && ratio > 0 && isfinite(ratio); round++) {
        agreed = who_agrees(diff, voices, ratio);
        ratio = agreed.ratio;
    }
    if (agreed.votes <= MOST || agreed.n < LEAST_FUNCTIONS)
        return;
    diff->mode = DIFF_SCALED;
    diff->why = DIFF_OTHER_WORK;
    diff->agree = agreed.votes;
    diff->scale = ratio;
    diff->scale_deviation = ratio * MEDIAN_DEVIATION * samples_deviation(diff, 1, 1);
}

static bool is_same_work(const struct agreed *agreed) {
    double larger = agreed->ratio > 1 ? agreed->ratio : 1;
    double allowed = larger * (TOLERANCE + Z_95 * agreed->deviation);

    return agreed->votes >= MOST && fabs(agreed->ratio - 1) <= allowed;
}

static void listen(struct diff *diff) {
    struct voices voices = collect(diff);

    diff->mode = DIFF_ABSOLUTE;
    diff->why = DIFF_TOO_FEW;
    if (voices.n >= LEAST_FUNCTIONS) {
        struct agreed agreed = who_agrees(diff, &voices, 1);

        diff->agree = agreed.votes;
        diff->why = DIFF_SAME_WORK;
        if (!is_same_work(&agreed))
            take_scale(diff, &voices);
    }
    free(voices.voice);
}

void diff_choose_mode(struct diff *diff) {
    diff->scale = 1;
    diff->why = DIFF_ASKED;
    if (diff->mode == DIFF_AUTO && diff->sampling == DIFF_EXACT) {
        diff->mode = DIFF_ABSOLUTE;
        diff->why = DIFF_COUNTED;
    }
    if (diff->mode == DIFF_AUTO)
        listen(diff);
    if (diff->mode == DIFF_SHARES)
        diff->scale = (double)diff->after_total / (double)diff->before_total;
}
