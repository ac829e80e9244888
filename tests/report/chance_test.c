/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * chance_test.c - 95 % intervals hold the truth in 90 to 99 of 100 runs: simulated programs whose
 * times are known, the agent's points, the daemon's sums, the intervals of the reports. Nothing
 * here depends on time or luck: the seeds are fixed.
 */
#include "tests/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/profile/chance.h"
#include "common/profile/diff.h"
#include "common/tree/draws.h"
#include "common/tree/saturating.h"
#include "common/tree/scatter.h"
#include "common/wire/wire.h"
#include "preload/sample/draw.h"
#include "preload/sample/points.h"
#include "preload/sample/ticker.h"

#define RUNS   100
#define SECOND 1000000000ull
#define MS     1000000ull

static uint64_t seed;

/* preload/sample/ticker.c's */
uint64_t ticker_resolution(void) {
    return 4 * MS;
}

static double uniform(void) {
    return (double)(draw_word(&seed) >> 11) / (double)(1ull << 53);
}

/* ---- programs ---- */

/* main calls one of four functions after the other, each for a phase; in each phase it calls one of
 * three, each for a shorter phase. */
#define OUTER 4
#define INNER 3
#define ALL   (OUTER + INNER)

static const double outer_share[OUTER] = {0.5, 0.3, 0.15, 0.05};
static const double inner_share[INNER] = {0.6, 0.3, 0.1};

struct phases {
    double mean_ns;
    bool equal; /* all of one length, else exponential */
    const double *share;
    int n, now;
    double end_ns;
};

static void next_phase(struct phases *phases) {
    double word = uniform();
    int i = 0;
    for (; i + 1 < phases->n && word >= phases->share[i]; i++)
        word -= phases->share[i];
    phases->now = i;
    phases->end_ns += phases->equal ? phases->mean_ns : -phases->mean_ns * log(1 - uniform());
}

struct program {
    double now_ns;
    struct phases outer, inner;
    double truth[ALL]; /* time in each function of both kinds */
};

static void go_on(struct program *program, double until_ns) {
    while (program->now_ns < until_ns) {
        double end = fmin(until_ns, fmin(program->outer.end_ns, program->inner.end_ns));
        program->truth[program->outer.now] += end - program->now_ns;
        program->truth[OUTER + program->inner.now] += end - program->now_ns;
        program->now_ns = end;
        if (program->outer.end_ns <= end)
            next_phase(&program->outer);
        if (program->inner.end_ns <= end)
            next_phase(&program->inner);
    }
}

/* ---- profilers ---- */

struct how {
    const char *name;
    double outer_ns, inner_ns; /* mean lengths of phases */
    uint64_t rate;
    bool equal;                    /* phases of one length, else exponential */
    uint64_t length_ns, period_ns; /* of bursts */
    double seconds;
    int threads;   /* 0: one */
    double dear;   /* samples in the first function stand for so many steps, by roulette */
    bool sleeps;   /* for a third of the time, in the last function: that is measured, not drawn */
    double widest; /* intervals to those that would be right; 0: 1.7 */
};

/* What the daemon and the profile know of a run. */
struct seen {
    struct scatter *scatter;
    struct draws draws;
    uint64_t weight, of[ALL], walks, bursts;
};

static void take(struct seen *seen, struct scatter_thread *thread, const struct program *program,
                 uint64_t weight, uint64_t step, bool same_burst) {
    scatter_pop(thread, 2);
    scatter_push(thread, 0x1000 + (uint64_t)program->outer.now, 1 + (uint32_t)program->outer.now);
    scatter_push(thread, 0x2000 + (uint64_t)program->inner.now,
                 1 + OUTER + (uint32_t)program->inner.now);
    scatter_credit(thread,
                   &(struct scatter_sample){
                       .weight = weight, .chance = weight, .step = step, .same_burst = same_burst});
    draws_add(&seen->draws, weight, 0);
    seen->weight += weight;
    seen->of[program->outer.now] += weight;
    seen->of[OUTER + program->inner.now] += weight;
    seen->walks++;
}

static uint64_t stands_for(const struct how *how, const struct program *program, uint64_t weight) {
    bool dear = how->dear > 0 && program->outer.now == 0;
    return dear ? draw_roulette(draw_word(&seed), weight, (uint64_t)(how->dear * (double)weight))
                : weight;
}

#define SLEEP_STEPS 50
#define AWAKE_STEPS 100

/* A sleep that has no chance but at its ends. */
static void sleep_on(struct seen *seen, struct scatter_thread *thread, struct program *program,
                     uint64_t step) {
    double slept = SLEEP_STEPS * (double)step;
    uint64_t weight = (uint64_t)(slept + (uniform() - 0.5) * (double)step);
    scatter_pop(thread, 2);
    scatter_push(thread, 0x1000 + OUTER - 1, OUTER);
    scatter_push(thread, 0x2000 + INNER - 1, OUTER + INNER);
    scatter_credit(thread,
                   &(struct scatter_sample){.weight = weight, .chance = step, .step = step});
    draws_add(&seen->draws, weight, step);
    program->truth[OUTER - 1] += slept;
    program->truth[ALL - 1] += slept;
    seen->of[OUTER - 1] += weight;
    seen->of[ALL - 1] += weight;
    seen->weight += weight;
    seen->walks++;
}

static int threads_of(const struct how *how) {
    return how->threads > 0 ? how->threads : 1;
}

static void run_thread(const struct how *how, struct program *program, struct seen *seen) {
    const struct sampling_plan plan = {
        .coarse_ns = how->length_ns > 0 ? how->period_ns : SECOND / how->rate,
        .fine_ns = SECOND / how->rate,
        .length_ns = how->length_ns > 0 ? how->length_ns : SAMPLING_ENDLESS};
    struct scatter_thread *thread = scatter_thread_new(seen->scatter);
    uint64_t end = (uint64_t)(how->seconds * (double)SECOND / threads_of(how));
    struct points points;
    uint32_t burst = 0;
    scatter_push(thread, 0x500, 100);
    scatter_push(thread, 1, 101);
    scatter_push(thread, 1, 101);
    points_begin(&points, &plan, 0, &seed);
    while (points_next(&points) < end) {
        uint64_t at = points_next(&points);
        uint64_t weight = points_reach(&points, &plan, at, &seed);
        go_on(program, (double)at);
        if (weight > 0 && (weight = stands_for(how, program, weight)) > 0) {
            take(seen, thread, program, weight, plan.fine_ns,
                 how->length_ns > 0 && points.begun == burst);
            burst = points.begun;
            if (how->sleeps && seen->walks % AWAKE_STEPS == 0)
                sleep_on(seen, thread, program, plan.fine_ns);
        }
    }
    go_on(program, (double)end);
    seen->bursts += points.begun;
    scatter_thread_free(thread);
}

/* Of the functions of the first kind, which are the contexts of the profile. */
static struct profile *profile_of_run(const struct how *how, const struct seen *seen,
                                      const float effect[ALL]) {
    static const char *const names[OUTER] = {"half", "third", "sixth", "rest"};
    struct profile *profile = profile_new();
    struct scatter_sums sums = {.total = 0};
    struct profile_process process = {.exe = "/app",
                                      .command = "app",
                                      .collector = "walks",
                                      .total = seen->weight,
                                      .walks = seen->walks,
                                      .bursts = seen->bursts,
                                      .burst_length_ns = how->length_ns,
                                      .burst_period_ns = how->period_ns,
                                      .drawn = seen->draws.weight,
                                      .drawn_squares = seen->draws.squares};
    scatter_sum(seen->scatter, how->length_ns > 0, &sums);
    memcpy(process.varied, sums.varied, sizeof sums.varied);
    memcpy(process.independent, sums.independent, sizeof sums.independent);
    process.varied_total = sums.total;
    profile->unit = profile_string(profile, "nanoseconds");
    profile->type = profile_string(profile, "cpu");
    uint32_t root = profile_root(profile, profile_add_process(profile, &process));
    for (int i = 0; i < OUTER; i++) {
        uint32_t place = profile_add_pseudo(profile, names[i]);
        profile_add_node(profile, root, place, seen->of[i], 0);
        profile_set_effects(profile, place, effect[i], effect[i]);
    }
    return profile;
}

static void find_effects(const struct how *how, const struct scatter *scatter, float effect[ALL]) {
    struct scatter_effects effects = scatter_effects(scatter, how->length_ns > 0);
    for (size_t i = 0; i < effects.n; i++)
        if (!effects.effect[i].at_work && effects.effect[i].frame <= ALL)
            effect[effects.effect[i].frame - 1] = scatter_effect_of(&effects, &effects.effect[i]);
    scatter_effects_free(&effects);
}

/* Times, true and seen. */
struct outcome {
    double truth[ALL], seen[ALL], total, weight;
    float effect[ALL];
};

static struct profile *run(const struct how *how, struct outcome *outcome) {
    struct seen seen = {.scatter = scatter_new(false)};
    *outcome = (struct outcome){.total = 0};
    for (int i = 0; i < threads_of(how); i++) {
        struct program program = {.outer = {how->outer_ns, how->equal, outer_share, OUTER, 0, 0},
                                  .inner = {how->inner_ns, how->equal, inner_share, INNER, 0, 0}};
        /* what a thread does first is as likely as what it does later */
        next_phase(&program.outer);
        next_phase(&program.inner);
        program.outer.end_ns *= uniform();
        program.inner.end_ns *= uniform();
        run_thread(how, &program, &seen);
        for (int k = 0; k < ALL; k++) {
            outcome->truth[k] += program.truth[k];
            outcome->total += k < OUTER ? program.truth[k] : 0;
        }
    }
    find_effects(how, seen.scatter, outcome->effect);
    struct profile *profile = profile_of_run(how, &seen, outcome->effect);
    outcome->weight = (double)seen.weight;
    for (int k = 0; k < ALL; k++)
        outcome->seen[k] = (double)seen.of[k];
    scatter_free(seen.scatter);
    return profile;
}

/* ---- processes and threads that are short ---- */

struct lives {
    const char *name;
    uint64_t rate;
    uint64_t length_ns, period_ns; /* of bursts */
    int count;
    double mean_ns;   /* they take between a half and one and a half of it */
    double parent_ns; /* what one process that forks them takes, in all */
    bool forked;      /* children of fork, which attach by a coin; else they are programs */
    bool threads;     /* else they are threads of the parent */
    bool copies;      /* the first sample of each comes as a copy of the stack */
    double widest;    /* intervals to those that would be right */
};

struct family {
    struct seen seen;
    struct scatter_sums sums;
    uint64_t forked, children;
};

/* As preload/sample/sampling.c has it. */
static uint64_t attach(uint64_t weight, bool *attached) {
    *attached = weight < WIRE_ATTACH_NS;
    return *attached ? draw_roulette(draw_word(&seed), weight, WIRE_ATTACH_NS) : weight;
}

/* One thread that takes `ns`; the weight of its samples. */
static void live(const struct lives *how, struct family *family, struct scatter *scatter, double ns,
                 bool forked) {
    const struct sampling_plan plan = {
        .coarse_ns = how->length_ns > 0 ? how->period_ns : SECOND / how->rate,
        .fine_ns = SECOND / how->rate,
        .length_ns = how->length_ns > 0 ? how->length_ns : SAMPLING_ENDLESS};
    struct scatter_thread *thread = scatter_thread_new(scatter);
    bool awaits = forked, attached = false, first = true;
    struct points points;
    uint32_t burst = 0;
    scatter_push(thread, 0x500, 100);
    points_begin(&points, &plan, 0, &seed);
    while (points_next(&points) < (uint64_t)ns) {
        uint64_t weight = points_reach(&points, &plan, points_next(&points), &seed);
        if (weight > 0 && awaits)
            weight = attach(weight, &attached);
        if (weight == 0)
            continue;
        const struct scatter_sample sample = {.weight = weight,
                                              .chance = weight,
                                              .step = plan.fine_ns,
                                              .attached = awaits && attached ? WIRE_ATTACH_NS : 0,
                                              .same_burst =
                                                  how->length_ns > 0 && points.begun == burst};
        if (first && how->copies)
            scatter_skip(thread, &sample);
        else
            scatter_credit(thread, &sample);
        draws_add(&family->seen.draws, weight, 0);
        family->seen.weight += weight;
        family->seen.walks++;
        family->children += awaits;
        awaits = first = false;
        burst = points.begun;
    }
    if (how->threads)
        scatter_thread_free(thread);
}

static void end_process(const struct lives *how, struct family *family, struct scatter *scatter) {
    scatter_sum(scatter, how->length_ns > 0, &family->sums);
    scatter_free(scatter);
}

/* The time that all of it takes. */
static double live_all(const struct lives *how, struct family *family) {
    struct scatter *parent = scatter_new(false);
    double total = how->parent_ns;
    live(how, family, parent, how->parent_ns, false);
    for (int i = 0; i < how->count; i++) {
        struct scatter *scatter = how->threads ? parent : scatter_new(false);
        double ns = how->mean_ns * (0.5 + uniform());
        live(how, family, scatter, ns, how->forked);
        total += ns;
        family->forked += how->forked;
        if (!how->threads)
            end_process(how, family, scatter);
    }
    end_process(how, family, parent);
    return total;
}

/* ---- functions of short processes ---- */

/* Processes of one kind have two functions of their own, one after the other. */
struct kind {
    int count;
    double mean_ns, first; /* the part of a life that the first function takes */
    bool forked;
};
#define KINDS 2

struct kinds {
    const char *name;
    uint64_t rate;
    struct kind kind[KINDS];
    bool by_class; /* nothing is known of single functions */
    double widest;
};

struct crowd {
    struct seen seen;
    struct scatter_sums sums;
    struct scatter_effects effects;
    double truth[2 * KINDS], total;
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
        draws_add(&crowd->seen.draws, weight, 0);
        crowd->seen.weight += weight;
        crowd->seen.of[function] += weight;
        crowd->seen.walks++;
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
                                      .total = crowd->seen.weight,
                                      .walks = crowd->seen.walks,
                                      .drawn = crowd->seen.draws.weight,
                                      .drawn_squares = crowd->seen.draws.squares,
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

static double half_width_of(const struct lives *how, const struct family *family) {
    struct profile *profile = profile_new();
    struct profile_process process = {.exe = "/app",
                                      .command = "app",
                                      .collector = "walks",
                                      .total = family->seen.weight,
                                      .walks = family->seen.walks,
                                      .burst_length_ns = how->length_ns,
                                      .burst_period_ns = how->period_ns,
                                      .drawn = family->seen.draws.weight,
                                      .drawn_squares = family->seen.draws.squares,
                                      .varied_total = family->sums.total,
                                      .forked = family->forked,
                                      .children = family->children,
                                      .attach_ns = WIRE_ATTACH_NS,
                                      .attached_ns = family->sums.attached,
                                      .lone_ns = family->sums.lone};
    profile->unit = profile_string(profile, "nanoseconds");
    profile->type = profile_string(profile, "cpu");
    profile_add_process(profile, &process);
    const struct chance chance = chance_of(profile);
    double half = chance_total_half_width(&chance);
    CHECK(family->seen.weight == 0 || chance.total_known);
    profile_free(profile);
    return half;
}

/* ---- how often intervals hold the truth, and how wide they are ---- */

struct count {
    int n, held[ALL + 1];
    double squares[ALL + 1], half[ALL + 1];
};

static void note(struct count *count, int k, double off, double half) {
    count->held[k] += fabs(off) <= half;
    count->squares[k] += off * off / RUNS;
    count->half[k] += half / RUNS;
}

/* 95 of 100 hold it. That a function has 85 by chance is a case of one in 10,000; one more often
 * than that says that intervals are too narrow, and so does their mean. */
static void judge(const char *name, const struct count *count, double widest) {
    int sum = 0;
    printf("%-32s", name);
    for (int k = 0; k < count->n; k++)
        printf(" %3d (%.2f)", count->held[k], count->half[k] / (1.96 * sqrt(count->squares[k])));
    printf("\n");
    for (int k = 0; k < count->n; k++) {
        CHECK(count->held[k] >= 85);
        CHECK(count->half[k] < widest * 1.96 * sqrt(count->squares[k]));
        sum += count->held[k];
    }
    CHECK(sum >= 91 * count->n);
}

static void check_how(const struct how *how) {
    struct count count = {.n = ALL + 1}; /* and the total */

    seed = 20240229;
    for (int i = 0; i < RUNS; i++) {
        struct outcome o;
        struct profile *profile = run(how, &o);
        const struct chance chance = chance_of(profile);
        for (int k = 0; k < ALL; k++) {
            double share = o.seen[k] / o.weight;
            note(&count, k, share - o.truth[k] / o.total,
                 chance_half_width(&chance, share, o.effect[k]));
        }
        note(&count, ALL, o.weight - o.total, chance_total_half_width(&chance));
        profile_free(profile);
    }
    judge(how->name, &count, how->widest > 0 ? how->widest : 1.7);
}

#define LIVES_RUNS 400

/* As judge() has it, of more runs. The weight of all is right on average: that it is off by four
 * times what the mean of so many runs varies by is a case of one in 10,000. */
static void check_lives(const struct lives *how) {
    double sum = 0, squares = 0, halves = 0;
    int held = 0;
    seed = 20240229;
    for (int i = 0; i < LIVES_RUNS; i++) {
        struct family family = {.forked = 0};
        double off = -live_all(how, &family);
        double half = half_width_of(how, &family);
        off += (double)family.seen.weight;
        held += fabs(off) <= half;
        sum += off;
        squares += off * off;
        halves += half;
    }
    double deviation = sqrt(squares / LIVES_RUNS), mean = sum / LIVES_RUNS;
    double wide = halves / LIVES_RUNS / (1.96 * deviation);
    printf("%-40s %5.1f of 100 (%.2f), off by %.2f ms of %.2f\n", how->name,
           100.0 * held / LIVES_RUNS, wide, mean / 1e6, deviation / 1e6);
    CHECK(held >= 0.90 * LIVES_RUNS);
    CHECK(wide < how->widest);
    CHECK(fabs(mean) < 4 * deviation / sqrt(LIVES_RUNS));
}

/* Profiles of different rates in one. */
static void check_merged(const struct how *some, const struct how *others) {
    struct count count = {.n = OUTER};
    seed = 20240229;
    for (int i = 0; i < RUNS; i++) {
        struct outcome a, b;
        struct profile *first = run(some, &a), *second = run(others, &b);
        struct chance chance = CHANCE_NONE;
        chance_add(&chance, first, 1, (uint64_t)a.weight);
        chance_add(&chance, second, 1, (uint64_t)b.weight);
        for (int k = 0; k < OUTER; k++) {
            double share = (a.seen[k] + b.seen[k]) / (a.weight + b.weight);
            note(&count, k, share - (a.truth[k] + b.truth[k]) / (a.total + b.total),
                 chance_half_width(&chance, share, fmaxf(a.effect[k], b.effect[k])));
        }
        profile_free(first);
        profile_free(second);
    }
    judge("merged", &count, 1.7);
}

/* What hcct diff says of one function's time before and after. */
static void check_diff(const struct how *before, const struct how *after) {
    struct count count = {.n = OUTER};
    const struct diff_options options = {.by = PROFILE_BY_FUNCTION, .mode = DIFF_ABSOLUTE};
    seed = 20240229;
    for (int i = 0; i < RUNS; i++) {
        struct outcome a, b;
        struct profile *first = run(before, &a), *second = run(after, &b);
        struct diff diff;
        char error[200];
        CHECK(diff_make(&diff, first, second, &options, error, sizeof error));
        for (uint32_t node = 1, k = 0; node < diff.profile->n_nodes && k < OUTER; node++)
            if (diff.profile->nodes[node].parent != 0) {
                const struct diff_weight *w = &diff.self[node];
                for (k = 0; k < OUTER && (uint64_t)b.seen[k] != w->after;)
                    k++;
                if (k < OUTER)
                    note(&count, (int)k, diff_change(w) - (b.truth[k] - a.truth[k]), w->interval);
                k = 0;
            }
        diff_free(&diff);
        profile_free(first);
        profile_free(second);
    }
    judge("diff", &count, 1.8);
}

/* Functions that are in one kind of short process only. */
static void check_kinds(const struct kinds *how) {
    struct count count = {.n = 2 * KINDS};
    seed = 20240229;
    for (int i = 0; i < RUNS; i++) {
        struct crowd crowd = {.total = 0};
        for (uint32_t k = 0; k < KINDS; k++)
            for (int n = 0; n < how->kind[k].count; n++)
                live_as(&how->kind[k], 2 * k, how->rate, &crowd);
        const struct chance chance = chance_of_crowd(&crowd);
        for (uint32_t k = 0; k < 2 * KINDS; k++) {
            double share = (double)crowd.seen.of[k] / (double)crowd.seen.weight;
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
    seed = 20240229;
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
                draws_add(&crowd.seen.draws, weight << DRAWS_UNIT_SHIFT, 0);
                crowd.seen.weight += weight;
                crowd.seen.of[k] += weight;
                crowd.seen.walks++;
            }
            scatter_pop(thread, 1);
        }
        scatter_finish(scatter);
        crowd.effects = scatter_effects(scatter, false);
        crowd.sums.total = crowd.seen.draws.squares;
        const struct chance chance = chance_of_crowd(&crowd);
        for (uint32_t k = 0; k < SIZES; k++)
            note(&count, (int)k, (double)crowd.seen.of[k] - blocks[k],
                 chance_weight_half_width(&chance, (double)crowd.seen.of[k],
                                          effect_in_crowd(&crowd, k)));
        note(&count, SIZES, (double)crowd.seen.weight - crowd.total,
             chance_total_half_width(&chance));
        scatter_effects_free(&crowd.effects);
        scatter_free(scatter);
    }
    judge("numbers of blocks", &count, 20);
}

/* Without what is known of the samples, as in files of earlier versions: a burst is one sample. */
static void check_unknown(const struct how *how) {
    struct outcome o;
    struct profile *profile = run(how, &o);
    memset(profile->processes[1].varied, 0, sizeof profile->processes[1].varied);
    memset(profile->processes[1].independent, 0, sizeof profile->processes[1].independent);
    const struct chance chance = chance_of(profile);
    CHECK(fabs(chance_samples(&chance, 0.5, 0) - (double)profile->processes[1].bursts) <
          0.1 * (double)profile->processes[1].bursts);
    CHECK(chance_half_width(&chance, 0.5, 0) > 2 * chance_half_width(&chance, 0.5, o.effect[0]));
    profile_free(profile);
}

#define OUTER_INNER(outer_ms, inner_ms) .outer_ns = (outer_ms)*1e6, .inner_ns = (inner_ms)*1e6
#define BURSTS(length_ms, period_ms)    .length_ns = (length_ms)*MS, .period_ns = (period_ms)*MS

/* An agent may send weights whose squares are beyond all counts: as much as can be, not nothing. */
static void test_beyond(void) {
    CHECK_UINT(whole_saturating(2e28), UINT64_MAX);
    CHECK_UINT(whole_saturating(0x1p64), UINT64_MAX);
    CHECK_UINT(whole_saturating(0x1p63), 1ull << 63);
    CHECK_UINT(whole_saturating(NAN), UINT64_MAX);
    CHECK_UINT(whole_saturating(1.6), 1);
    CHECK_UINT(whole_saturating(-1), 0);
}

int main(void) {
    static const struct how hows[] = {
        {"100/s, 0.1 ms", OUTER_INNER(0.1, 0.05), 100, .seconds = 5},
        {"100/s, 1 ms", OUTER_INNER(1, 0.1), 100, .seconds = 5},
        {"100/s, 5 ms", OUTER_INNER(5, 0.1), 100, .seconds = 5},
        {"100/s, 50 ms", OUTER_INNER(50, 5), 100, .seconds = 5},
        {"250/s, 0.1 ms", OUTER_INNER(0.1, 0.05), 250, .seconds = 5},
        {"250/s, 1 ms", OUTER_INNER(1, 0.1), 250, .seconds = 5},
        {"250/s, 5 ms", OUTER_INNER(5, 1), 250, .seconds = 5},
        {"250/s, 50 ms", OUTER_INNER(50, 5), 250, .seconds = 5},
        {"1,000/s, 0.1 ms", OUTER_INNER(0.1, 0.05), 1000, .seconds = 5},
        {"1,000/s, 1 ms", OUTER_INNER(1, 0.1), 1000, .seconds = 5},
        {"1,000/s, equal of 1 ms", OUTER_INNER(1, 0.1), 1000, true, .seconds = 5, .widest = 2.5},
        {"1,000/s, 5 ms", OUTER_INNER(5, 0.1), 1000, .seconds = 5},
        {"1,000/s, 50 ms", OUTER_INNER(50, 5), 1000, .seconds = 5},
        {"1,000/s, equal of 50 ms", OUTER_INNER(50, 5), 1000, true, .seconds = 5},
        {"1,000/s, 5 ms, threads", OUTER_INNER(5, 1), 1000, .seconds = 5, .threads = 16},
        {"1,000/s, 1 ms, dear", OUTER_INNER(1, 0.1), 1000, .seconds = 5, .dear = 8},
        {"1,000/s, 5 ms, dear", OUTER_INNER(5, 0.1), 1000, .seconds = 5, .dear = 8, .widest = 2.2},
        {"1,000/s, 1 ms, sleeps", OUTER_INNER(1, 0.1), 1000, .seconds = 5, .sleeps = true,
         .widest = 2.3},
        {"bursts, 0.1 ms", OUTER_INNER(0.1, 0.05), 5000, BURSTS(2, 20), .seconds = 10},
        {"bursts, 1 ms", OUTER_INNER(1, 0.1), 5000, BURSTS(2, 20), .seconds = 10},
        {"bursts, 5 ms", OUTER_INNER(5, 1), 5000, BURSTS(2, 20), .seconds = 10},
        {"bursts, equal of 5 ms", OUTER_INNER(5, 0.1), 5000, true, BURSTS(2, 20), .seconds = 10},
        {"bursts, 50 ms", OUTER_INNER(50, 5), 5000, BURSTS(2, 20), .seconds = 10},
        {"bursts, 5 ms, threads", OUTER_INNER(5, 1), 5000, BURSTS(2, 20), .seconds = 10,
         .threads = 16},
        {"bursts, 1 ms, dear", OUTER_INNER(1, 0.1), 5000, BURSTS(2, 20), .seconds = 10, .dear = 4},
        {"long bursts, 5 ms", OUTER_INNER(5, 1), 1000, BURSTS(10, 100), .seconds = 30},
    };
#define LIVES(number, mean_ms, all_ms)                                                             \
    .count = number, .mean_ns = (mean_ms)*1e6, .parent_ns = (all_ms)*1e6
    static const struct lives lives[] = {
        {"1,000/s, 1 child of 50 ms", 1000, LIVES(1, 50, 480), .forked = true, .widest = 2},
        {"1,000/s, 1 child of 0.5 ms", 1000, LIVES(1, 0.5, 480), .forked = true, .widest = 20},
        {"1,000/s, 500 children of 0.25 ms", 1000, LIVES(500, 0.25, 30), .forked = true,
         .widest = 2},
        {"1,000/s, 80 children of 0.5 ms", 1000, LIVES(80, 0.5, 30), .forked = true, .widest = 2},
        {"1,000/s, 20 children of 15 ms", 1000, LIVES(20, 15, 30), .forked = true, .widest = 2},
        {"1,000/s, 5 children of 100 ms", 1000, LIVES(5, 100, 30), .forked = true, .widest = 2},
        {"1,000/s, 20 of 15 ms, copies", 1000, LIVES(20, 15, 30), .forked = true, .copies = true,
         .widest = 2},
        {"250/s, 20 children of 15 ms", 250, LIVES(20, 15, 30), .forked = true, .widest = 2},
        {"100/s, 20 children of 15 ms", 100, LIVES(20, 15, 30), .forked = true, .widest = 2},
        {"100/s, 100 children of 2 ms", 100, LIVES(100, 2, 30), .forked = true, .widest = 2},
        {"bursts, 20 children of 15 ms", 5000, BURSTS(2, 20), LIVES(20, 15, 30), .forked = true,
         .widest = 2},
        {"bursts, 100 children of 2 ms", 5000, BURSTS(2, 20), LIVES(100, 2, 30), .forked = true,
         .widest = 2},
        {"1,000/s, 500 programs of 0.2 ms", 1000, LIVES(500, 0.2, 30), .widest = 2},
        {"1,000/s, 100 programs of 1 ms", 1000, LIVES(100, 1, 30), .widest = 2.6},
        {"1,000/s, 100 programs of 5 ms", 1000, LIVES(100, 5, 30), .widest = 2},
        {"100/s, 500 programs of 1 ms, copies", 100, LIVES(500, 1, 30), .copies = true,
         .widest = 2},
        {"bursts, 300 programs of 2 ms", 5000, BURSTS(2, 20), LIVES(300, 2, 30), .widest = 2},
        {"bursts, 50 programs of 50 ms", 5000, BURSTS(2, 20), LIVES(50, 50, 30), .widest = 2},
        {"100/s, 4,000 threads of 1 ms", 100, LIVES(4000, 1, 30), .threads = true, .widest = 2},
        {"1,000/s, 200 threads of 0.3 ms", 1000, LIVES(200, 0.3, 30), .threads = true, .widest = 2},
        {"1,000/s, 50 threads of 20 ms", 1000, LIVES(50, 20, 30), .threads = true, .widest = 2},
    };
#define KIND(number, ms, part, is_forked)                                                          \
    { .count = number, .mean_ns = (ms)*1e6, .first = part, .forked = is_forked }
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
    static const struct how slow = {"", OUTER_INNER(1, 0.1), 100, .seconds = 5},
                            fast = {"", OUTER_INNER(1, 0.1), 1000, .seconds = 5},
                            bursts = {"", OUTER_INNER(0.1, 0.05), 5000, BURSTS(2, 20),
                                      .seconds = 5};

    for (size_t i = 0; i < sizeof hows / sizeof *hows; i++)
        check_how(&hows[i]);
    for (size_t i = 0; i < sizeof lives / sizeof *lives; i++)
        check_lives(&lives[i]);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        check_kinds(&kinds[i]);
    check_numbers();
    check_merged(&slow, &fast);
    check_merged(&fast, &bursts);
    check_diff(&slow, &fast);
    check_diff(&bursts, &bursts);
    check_unknown(&bursts);
    test_beyond();
    return check_report();
}
