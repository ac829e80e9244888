/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * chance_crowd_test.c - functions that only some of many short processes have, and numbers of
 * events that are sampled with a probability of their own: the 95 % interval of each holds the
 * truth.
 */
#include "tests/report/chance_trial.h"

#include <string.h>

#include "common/profile/chance.h"
#include "common/tree/draws.h"
#include "common/tree/scatter.h"
#include "preload/sample/points.h"

/* Processes of one kind have two functions of their own, one after the other. */
struct kind {
    int count;
    double mean_ns, first; /* the part of a life that the first function takes */
    bool forked;
};
#define KINDS     2
#define FUNCTIONS (2 * KINDS)

struct kinds {
    const char *name;
    uint64_t rate;
    struct kind kind[KINDS];
    bool by_class; /* nothing is known of single functions */
    double widest;
};

struct crowd {
    struct draws draws;
    uint64_t weight, of[FUNCTIONS], walks;
    struct scatter_sums sums;
    struct scatter_effects effects;
    double truth[FUNCTIONS], total;
};

static void live_as(const struct kind *kind, uint32_t first, uint64_t rate, struct crowd *crowd) {
    const struct sampling_plan plan = {
        .coarse_ns = SECOND / rate, .fine_ns = SECOND / rate, .length_ns = SAMPLING_ENDLESS};
    struct scatter *scatter = scatter_new(false);
    struct scatter_thread *thread = scatter_thread_new(scatter);
    double ns = kind->mean_ns * (0.5 + uniform());
    bool awaits = kind->forked, attached = false;
    struct points points;
    scatter_push(thread, 0x500, 100);
    points_begin(&points, &plan, 0, &seed);
    while (points_next(&points) < (uint64_t)ns) {
        uint32_t function = first + ((double)points_next(&points) >= kind->first * ns);
        uint64_t weight = points_reach(&points, &plan, points_next(&points), &seed);
        if (awaits)
            weight = attach(weight, &attached);
        if (weight == 0)
            continue;
        scatter_push(thread, 0x1000 + function, 1 + function);
        scatter_credit(
            thread, &(struct scatter_sample){.weight = weight,
                                             .chance = weight,
                                             .step = plan.fine_ns,
                                             .attached = awaits && attached ? WIRE_ATTACH_NS : 0});
        scatter_pop(thread, 1);
        draws_add(&crowd->draws, weight, 0);
        crowd->weight += weight;
        crowd->of[function] += weight;
        crowd->walks++;
        awaits = false;
    }
    scatter_finish(scatter);
    struct scatter_effects effects = scatter_effects(scatter, false);
    scatter_effects_add(&crowd->effects, &effects);
    scatter_effects_free(&effects);
    scatter_sum(scatter, false, &crowd->sums);
    scatter_free(scatter);
    crowd->truth[first] += kind->first * ns;
    crowd->truth[first + 1] += (1 - kind->first) * ns;
    crowd->total += ns;
}

static struct chance chance_of_crowd(const struct crowd *crowd) {
    struct profile *profile = profile_new();
    struct profile_process process = {.exe = "/app",
                                      .command = "app",
                                      .collector = "walks",
                                      .total = crowd->weight,
                                      .walks = crowd->walks,
                                      .drawn = crowd->draws.weight,
                                      .drawn_squares = crowd->draws.squares,
                                      .varied_total = crowd->sums.total};
    memcpy(process.varied, crowd->sums.varied, sizeof process.varied);
    memcpy(process.independent, crowd->sums.independent, sizeof process.independent);
    profile->unit = profile_string(profile, "nanoseconds");
    profile->type = profile_string(profile, "cpu");
    profile_add_process(profile, &process);
    const struct chance chance = chance_of(profile);
    profile_free(profile);
    return chance;
}

static float effect_in_crowd(const struct crowd *crowd, uint32_t function) {
    for (size_t i = 0; i < crowd->effects.n; i++)
        if (!crowd->effects.effect[i].at_work && crowd->effects.effect[i].frame == 1 + function)
            return scatter_effect_of(&crowd->effects, &crowd->effects.effect[i]);
    return 0;
}

/* Functions that are in one kind of short process only. */
static void check_kinds(const struct kinds *how) {
    struct count count = {.n = FUNCTIONS};
    trial_begin();
    for (int i = 0; i < RUNS; i++) {
        struct crowd crowd = {.total = 0};
        for (uint32_t k = 0; k < KINDS; k++)
            for (int n = 0; n < how->kind[k].count; n++)
                live_as(&how->kind[k], 2 * k, how->rate, &crowd);
        const struct chance chance = chance_of_crowd(&crowd);
        for (uint32_t k = 0; k < FUNCTIONS; k++) {
            double share = (double)crowd.of[k] / (double)crowd.weight;
            note(&count, (int)k, share - crowd.truth[k] / crowd.total,
                 chance_half_width(&chance, share, how->by_class ? 0 : effect_in_crowd(&crowd, k)));
        }
        scatter_effects_free(&crowd.effects);
    }
    judge(how->name, &count, how->widest);
}

/* ---- numbers of sampled events ---- */

/* Blocks of some sizes, each of which is sampled by a probability of its own. */
#define SIZES 3

static void check_numbers(void) {
    static const double size[SIZES] = {40, 1000, 100000}, blocks[SIZES] = {4e6, 3e5, 4e3};
    const double mean = 512 << 10;
    struct count count = {.n = SIZES + 1}; /* and the total */
    trial_begin();
    for (int i = 0; i < RUNS; i++) {
        struct crowd crowd = {.total = 0};
        struct scatter *scatter = scatter_new(true);
        struct scatter_thread *thread = scatter_thread_new(scatter);
        for (uint32_t k = 0; k < SIZES; k++) {
            double p = 1 - exp(-size[k] / mean), at = 0;
            uint64_t weight = (uint64_t)(1 / p + 0.5);
            crowd.total += blocks[k];
            scatter_push(thread, 0x1000 + k, 1 + k);
            for (;;) { /* to the next one that is sampled */
                at += ceil(log(1 - uniform()) / log(1 - p));
                if (at > blocks[k])
                    break;
                scatter_credit(thread,
                               &(struct scatter_sample){.weight = weight, .chance = weight});
                draws_add(&crowd.draws, weight << DRAWS_UNIT_SHIFT, 0);
                crowd.weight += weight;
                crowd.of[k] += weight;
                crowd.walks++;
            }
            scatter_pop(thread, 1);
        }
        scatter_finish(scatter);
        crowd.effects = scatter_effects(scatter, false);
        crowd.sums.total = crowd.draws.squares;
        const struct chance chance = chance_of_crowd(&crowd);
        for (uint32_t k = 0; k < SIZES; k++)
            note(
                &count, (int)k, (double)crowd.of[k] - blocks[k],
                chance_weight_half_width(&chance, (double)crowd.of[k], effect_in_crowd(&crowd, k)));
        note(&count, SIZES, (double)crowd.weight - crowd.total, chance_total_half_width(&chance));
        scatter_effects_free(&crowd.effects);
        scatter_free(scatter);
    }
    judge("numbers of blocks", &count, 20);
}

#define KIND(number, ms, part, is_forked)                                                          \
    { .count = number, .mean_ns = (ms)*1e6, .first = part, .forked = is_forked }

int main(void) {
    static const struct kinds kinds[] = {
        {"forked 4 ms, programs 6 ms",
         1000,
         {KIND(300, 4, 0.4, true), KIND(300, 6, 0.3, false)},
         .widest = 2},
        {"forked 4 ms, programs 60 ms",
         1000,
         {KIND(300, 4, 0.4, true), KIND(30, 60, 0.3, false)},
         .widest = 2},
        {"programs 0.5 ms, 60 ms",
         1000,
         {KIND(1000, 0.5, 0.4, false), KIND(20, 60, 0.3, false)},
         .widest = 2},
        {"forked 20 ms, 2 ms",
         250,
         {KIND(100, 20, 0.5, true), KIND(500, 2, 0.8, true)},
         .widest = 2},
        {"forked 4 ms, programs 6, classes",
         1000,
         {KIND(300, 4, 0.4, true), KIND(300, 6, 0.3, false)},
         true,
         .widest = 5},
    };

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        check_kinds(&kinds[i]);
    check_numbers();
    return check_report();
}
