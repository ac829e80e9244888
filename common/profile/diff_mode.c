/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * diff_mode.c - was the same work done? Then weights are compared as they are, else shares. Parts
 * of the past are compared by time.
 *
 * Where one function became slower, all others weigh what they weighed before: but their shares
 * fall. Where a program ran longer, all weigh more, by one factor. So the factor is sought that
 * most functions have in common: 1, where at least half of their weight agrees with it within its
 * chance and TOLERANCE (runs of one program differ by so much), and these together do, too: where
 * samples are few, each function for itself agrees with nearly any factor. Else one near the
 * weighted median of their ratios, where half agrees with that. So that one heavy function does not
 * decide alone, each counts for at most HEAVIEST, and what half of the weight says counts only
 * where half of the functions agree, each for one: those that either side does not have are not
 * asked.
 *
 * Together they tell a factor better than each for itself. One beyond TOLERANCE that chance allows
 * for is said: it is not known then whether the same work was done.
 *
 * What was lost on either side is allowed for by a factor of its own (diff_loss.c), from which all
 * others are counted. Where more than TOLERANCE was lost it may hide other work, or look like it.
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
    uint32_t on_both; /* of these, what both sides have */
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
            voice[location].side[side].effect = diff->join->effect[side][location].self;
        }
    }
}

static bool is_on_both(const struct voice *voice) {
    return voice->side[DIFF_BEFORE].count > 0 && voice->side[DIFF_AFTER].count > 0;
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
        voices.on_both += is_on_both(&voice);
        voices.voice[voices.n++] = voice;
    }
    qsort(voices.voice, voices.n, sizeof *voices.voice, compare_ratios);
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
    uint32_t on_both; /* of these, what both sides have */
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
        agreed.on_both += is_on_both(voice);
        agreed.votes += voice->vote / voices->votes;
        before += (double)voice->side[DIFF_BEFORE].count;
        after += (double)voice->side[DIFF_AFTER].count;
    }
    diff->scale = diff_loss_scale(diff);
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

/* By weight and by number. */
static bool are_most(const struct agreed *agreed, const struct voices *voices) {
    return agreed->votes >= MOST && 2 * agreed->on_both >= voices->on_both;
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
    if (!are_most(&agreed, voices) || agreed.votes == MOST || agreed.n < LEAST_FUNCTIONS)
        return;
    diff->mode = DIFF_SCALED;
    diff->why = DIFF_OTHER_WORK;
    diff->agree = agreed.votes;
    diff->scale = ratio;
    diff->scale_deviation = ratio * MEDIAN_DEVIATION * samples_deviation(diff, 1, 1);
}

/* `chance`: standard deviations that are allowed for. */
static bool is_factor(const struct agreed *agreed, double factor, double chance) {
    double larger = agreed->ratio > factor ? agreed->ratio : factor;
    double allowed = larger * (TOLERANCE + chance * agreed->deviation);
    return fabs(agreed->ratio - factor) <= allowed;
}

static void listen_to(struct diff *diff, const struct voices *voices) {
    double as_lost = diff->scale;
    struct agreed agreed = who_agrees(diff, voices, as_lost);
    diff->agree = agreed.votes;
    diff->common = agreed.ratio / as_lost;
    diff->why = is_factor(&agreed, as_lost, 0) ? DIFF_SAME_WORK : DIFF_MAYBE_SAME;
    if (!are_most(&agreed, voices) || !is_factor(&agreed, as_lost, Z_95))
        take_scale(diff, voices);
}

static bool was_much_lost(const struct diff *diff) {
    return diff_lost_share(diff, DIFF_BEFORE) > TOLERANCE ||
           diff_lost_share(diff, DIFF_AFTER) > TOLERANCE;
}

static void listen(struct diff *diff) {
    struct voices voices = collect(diff);
    diff->mode = DIFF_ABSOLUTE;
    diff->why = DIFF_TOO_FEW;
    if (voices.n >= LEAST_FUNCTIONS)
        listen_to(diff, &voices);
    if (was_much_lost(diff)) {
        diff->mode = diff->mode == DIFF_ABSOLUTE ? DIFF_ABSOLUTE : DIFF_SHARES;
        diff->why = DIFF_LOST;
        diff->scale_deviation = 0;
    }
    free(voices.voice);
}

static bool has_counted_all(const struct diff *diff) {
    return diff->sampling == DIFF_EXACT && !was_much_lost(diff);
}

/* What the machine did in some time is asked there, whatever work that was. */
static void take_time(struct diff *diff) {
    diff->mode = DIFF_SCALED;
    diff->why = DIFF_AS_LONG;
    diff->scale *= diff->as_long;
}

void diff_choose_mode(struct diff *diff) {
    diff->scale = diff_loss_scale(diff);
    diff->why = DIFF_ASKED;
    if (diff->mode == DIFF_AUTO && diff->as_long > 0)
        take_time(diff);
    if (diff->mode == DIFF_AUTO && has_counted_all(diff)) {
        diff->mode = DIFF_ABSOLUTE;
        diff->why = DIFF_COUNTED;
    }
    if (diff->mode == DIFF_AUTO)
        listen(diff);
    if (diff->mode == DIFF_SHARES)
        diff->scale = (double)diff->after_total / (double)diff->before_total;
}
