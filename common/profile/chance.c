/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * chance.c - from the samples that a profile tells of to intervals.
 *
 * Samples of weights w are worth (sum of w)^2 / (sum of w^2) samples of one weight, were they
 * independent (Kish). They are not where successive ones see the same: the design effect, which is
 * what contexts varied by to what independent samples would have, says what they are worth then.
 */
#include "common/profile/chance.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "common/base/few_samples.h"

#define Z_95 CHANCE_Z

const double chance_shares[CHANCE_SHARES] = {0.5, 0.25, 0.1, 0.05, 0.025, 0.01, 0.005, 0.001};

/* The effective sample size, 0: it is not known, or nothing was left to chance. */
struct size {
    enum chance_kind kind;
    double samples;
};

/* Of `draws`, which are samples or bursts. */
static double draws_of_one_weight(const struct profile_process *process, uint64_t draws) {
    double drawn = (double)process->drawn;
    return process->drawn_squares > 0 ? drawn * drawn / (double)process->drawn_squares
                                      : (double)draws;
}

static struct size sample_size_of_calls(const struct profile_process *process) {
    double every = (double)process->every;
    if (process->burst_period_ns > 0)
        return (struct size){process->bursts > 0 ? CHANCE_SAMPLED : CHANCE_UNKNOWN,
                             draws_of_one_weight(process, process->bursts)};
    if (process->every <= 1)
        return (struct size){CHANCE_EXACT, 0};
    if (strcmp(process->credit, "new") == 0) /* how many edges one sample credits is not known */
        return (struct size){CHANCE_UNKNOWN, 0};
    return (struct size){CHANCE_SAMPLED, (double)process->total / every};
}

static struct size sample_size_of(const struct profile *profile, uint32_t process, uint64_t total) {
    const struct profile_process *it = &profile->processes[process];
    struct size size = {CHANCE_UNKNOWN, 0};
    if (profile_of_calls(profile) || strcmp(it->collector, "calls") == 0)
        return sample_size_of_calls(it);
    if (profile_of_faults(profile))
        return size; /* where each was is not a matter of chance alone */
    if (it->walks > 0 && it->drawn > 0 && it->drawn_squares == 0 &&
        (profile_of_blocks(profile) || profile_of_locks(profile)))
        size.samples = INFINITY; /* all there was was sampled: large blocks alone */
    else if (it->walks > 0)
        size.samples = draws_of_one_weight(it, it->walks);
    else if (profile->period > 0)
        size.samples = (double)total / (double)profile->period;
    if (size.samples > 0)
        size.kind = CHANCE_SAMPLED;
    return size;
}

/* Where the profile does not tell: of bursts each is taken for one sample. */
static double effect_by_bursts(const struct profile_process *process) {
    if (process->burst_period_ns == 0 || process->bursts == 0 || process->walks <= process->bursts)
        return 1;
    return (double)process->walks / (double)process->bursts;
}

/* A class of which nothing is known is like the heavier one beside it, but gains nothing. */
static void find_effects(const struct profile_process *process, double effect[SHARE_CLASSES]) {
    double last = 1;
    for (int i = 0; i < SHARE_CLASSES; i++)
        if (process->independent[i] > 0) {
            last = (double)process->varied[i] / (double)process->independent[i];
            break;
        } else if (i + 1 == SHARE_CLASSES) {
            last = effect_by_bursts(process);
        }
    for (int i = 0; i < SHARE_CLASSES; i++) {
        bool known = process->independent[i] > 0;
        if (known)
            last = (double)process->varied[i] / (double)process->independent[i];
        effect[i] = fmax(known ? last : fmax(last, 1), FEW_LEAST_EFFECT);
    }
}

static void note_children(struct chance *chance, const struct profile_process *process) {
    chance->forked += (double)process->forked;
    chance->children += (double)process->children;
    chance->attach = fmax(chance->attach, (double)process->attach_ns);
}

/* Of samples of CPU time as a whole, by the clock of the process. Of a part of it the clock was not
 * read at the moments at which that begins and ends. */
static void note_missing(struct chance *chance, const struct profile *profile, uint32_t process,
                         uint64_t total) {
    const struct profile_process *it = &profile->processes[process];
    if (strcmp(profile->type, "cpu") != 0 || strcmp(profile->unit, "nanoseconds") != 0 ||
        strcmp(it->collector, "walks") != 0 || strcmp(it->clock, "cpu") != 0 || it->cpu_ns == 0 ||
        profile->window_ns != 0 || total != it->total)
        return;
    uint64_t own_lost = profile_lost(profile, it) - profile_lost_elsewhere(profile, it);
    chance->missing += (double)it->cpu_ns - (double)total - (double)it->unasked_ns -
                       (double)it->no_room_ns - (double)own_lost;
}

/* A wait begins a little before the agent reads the clock, and ends a little after that. */
#define WAIT_BLURRED_NS 1000

static double blurred(const struct profile *profile, const struct profile_process *process) {
    bool waits = profile_of_locks(profile) && strcmp(profile->unit, "nanoseconds") == 0;
    return waits ? WAIT_BLURRED_NS * (double)process->walks : 0;
}

void chance_add(struct chance *chance, const struct profile *profile, uint32_t process,
                uint64_t total) {
    struct size size = sample_size_of(profile, process, total);
    double effect[SHARE_CLASSES];
    note_children(chance, &profile->processes[process]);
    note_missing(chance, profile, process, total);
    if (!profile_of_calls(profile))
        chance->lost += (double)profile_lost(profile, &profile->processes[process]);
    if (total == 0)
        return;
    chance->total += (double)total;
    chance->blurred += blurred(profile, &profile->processes[process]);
    chance->drawn_alone = profile_of_blocks(profile) || profile_of_locks(profile);
    if (size.kind == CHANCE_UNKNOWN || chance->kind == CHANCE_UNKNOWN)
        chance->kind = CHANCE_UNKNOWN;
    else if (size.kind == CHANCE_SAMPLED)
        chance->kind = CHANCE_SAMPLED;
    if (!(size.samples > 0))
        return;
    const struct profile_process *it = &profile->processes[process];
    double squares = (double)total * (double)total / size.samples;
    /* both sums of the file are in one unit, of which the weight is so many */
    double unit = it->drawn > 0 ? (double)total / (double)it->drawn : 0;
    chance->total_known &= (it->varied_total > 0 || squares == 0) && unit > 0;
    chance->of_total += (double)it->varied_total * unit * unit;
    chance->squares += squares;
    chance->lone = fmax(chance->lone, (double)it->lone_ns);
    find_effects(it, effect);
    for (int i = 0; i < SHARE_CLASSES; i++)
        chance->scatter[i] += effect[i] * squares;
}

struct chance chance_of(const struct profile *profile) {
    struct chance chance = CHANCE_NONE;

    for (uint32_t i = 1; i < profile->n_processes; i++)
        chance_add(&chance, profile, i, profile->processes[i].total);
    return chance;
}

/* Between the middles of two classes: evenly by the logarithms. */
static double scatter_at(const struct chance *chance, double share) {
    double part = share < 0.5 ? share : 1 - share;
    int i = 0;
    while (i < SHARE_CLASSES && part < share_class_middle(i))
        i++;
    if (i == 0 || i == SHARE_CLASSES)
        return chance->scatter[i == 0 ? 0 : SHARE_CLASSES - 1];
    double above = share_class_middle(i - 1), below = share_class_middle(i);
    double way = log(above / part) / log(above / below);
    return exp((1 - way) * log(chance->scatter[i - 1]) + way * log(chance->scatter[i]));
}

double chance_step(const struct chance *chance, double share, float effect) {
    if (!(chance->squares > 0))
        return 0;
    double scatter = effect > 0 ? fmax((double)effect, FEW_LEAST_EFFECT) * chance->squares
                                : scatter_at(chance, share);
    return scatter / chance->total;
}

double chance_samples(const struct chance *chance, double share) {
    double step = chance_step(chance, share, 0);
    return step > 0 ? chance->total / step : 0;
}

/* Wilson's. */
static double half_width_by_chance(const struct chance *chance, double share, float effect) {
    double step = chance_step(chance, share, effect), z2 = Z_95 * Z_95;
    if (!(step > 0))
        return 0;
    double samples = chance->total / step;
    return Z_95 * sqrt(share * (1 - share) / samples + z2 / (4 * samples * samples)) /
           (1 + z2 / samples);
}

/* Of few draws the squares of those that were taken say too little: there may have been others,
 * which none was taken of. */
static double unseen_variance(const struct chance *chance) {
    double lone = chance->lone;
    if (chance->forked > chance->children)
        lone = fmax(lone, chance->attach);
    return FEW_UNSEEN * lone * lone;
}

double chance_total_variance(const struct chance *chance) {
    return (chance->total_known ? chance->of_total : chance->squares) + unseen_variance(chance);
}

double chance_total_half_width(const struct chance *chance) {
    double by_chance = Z_95 * sqrt(chance_total_variance(chance));
    return chance->lost + chance->blurred + fmax(by_chance, chance->missing);
}

#define LEAST_SHOWN 0.001

double chance_total_shown(const struct chance *chance) {
    double half = chance_total_half_width(chance);
    bool known = chance->total_known || chance->lost > 0 || chance_left_out(chance) > 0;
    return known && half > LEAST_SHOWN * chance->total ? half : 0;
}

#define BEYOND_CHANCE 1.5 /* times the interval: more is left to chance once in 300 times */
#define LEAST_MISSING 0.03

double chance_left_out(const struct chance *chance) {
    double half = Z_95 * sqrt(chance_total_variance(chance));
    bool is_much = chance->missing > BEYOND_CHANCE * half &&
                   chance->missing > LEAST_MISSING * (chance->total + chance->missing);
    return is_much ? chance->missing : 0;
}

/* ---- what is in no context may belong to any ---- */

static double unseen(const struct chance *chance) {
    return chance->lost + chance_left_out(chance);
}

static bool is_sampled(const struct chance *chance) {
    return chance->squares > 0 ||
           (chance->kind == CHANCE_SAMPLED && chance->total > 0 && chance->lost > 0);
}

double chance_unseen_share(const struct chance *chance) {
    double ns = unseen(chance);
    return ns > 0 ? ns / (chance->total + ns) : 0;
}

/* Of all there was a share of s is between s less a part of s, and that and the part. */
double chance_half_width(const struct chance *chance, double share, float effect) {
    if (!is_sampled(chance))
        return 0;
    return half_width_by_chance(chance, share, effect) +
           chance_unseen_share(chance) * fmax(share, 1 - share);
}

static double of_share_and_total(const struct chance *chance, double share, float effect) {
    double of_share = share < 1 ? chance->total * half_width_by_chance(chance, share, effect) : 0;
    double of_total = Z_95 * share * sqrt(chance_total_variance(chance));
    return sqrt(of_share * of_share + of_total * of_total);
}

/* Of events what is known of a function has room for what was not met. */
double chance_weight_half_width(const struct chance *chance, double weight, float effect) {
    double share = weight / chance->total;
    if (!is_sampled(chance) || !(share > 0))
        return 0;
    double by_chance = chance->drawn_alone && effect > 0
                           ? Z_95 * sqrt(chance_step(chance, share, effect) * weight)
                           : of_share_and_total(chance, share, effect);
    return by_chance + share * chance->blurred + unseen(chance);
}
