/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * chance_test.c - 95 % intervals hold the truth in 90 to 99 of 100 runs: simulated programs whose
 * times are known, the agent's points, the daemon's sums, the intervals of the reports.
 */
#include "tests/report/chance_trial.h"

#include <string.h>

#include "common/profile/chance.h"
#include "common/profile/diff.h"
#include "common/tree/draws.h"
#include "common/tree/saturating.h"
#include "common/tree/scatter.h"
#include "preload/sample/points.h"

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

/* ---- trials ---- */

static void check_how(const struct how *how) {
    struct count count = {.n = ALL + 1}; /* and the total */

    trial_begin();
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

/* Profiles of different rates in one. */
static void check_merged(const struct how *some, const struct how *others) {
    struct count count = {.n = OUTER};
    trial_begin();
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
    trial_begin();
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

/* Without what is known of the samples, as in files of earlier versions: a burst is one sample. */
static void check_unknown(const struct how *how) {
    struct outcome o;
    struct profile *profile = run(how, &o);
    memset(profile->processes[1].varied, 0, sizeof profile->processes[1].varied);
    memset(profile->processes[1].independent, 0, sizeof profile->processes[1].independent);
    const struct chance chance = chance_of(profile);
    CHECK(fabs(chance_samples(&chance, 0.5) - (double)profile->processes[1].bursts) <
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

/* ---- events ---- */

/* What the self weight of the first of two functions varies by, each of which has twelve events of
 * 16 KiB, when one that is drawn by now may weigh `rarest`. */
static double varied_by(uint64_t rarest) {
    struct scatter *scatter = scatter_new(true);
    struct scatter_thread *thread = scatter_thread_new(scatter);
    double found = 0;
    for (uint32_t function = 1; function <= 2; function++) {
        scatter_push(thread, 0x1000 * function, function);
        for (int i = 0; i < 12; i++)
            scatter_credit(thread, &(struct scatter_sample){
                                       .weight = 16384, .chance = 16384, .rarest = rarest});
        scatter_pop(thread, 1);
    }
    scatter_thread_free(thread);
    struct scatter_effects effects = scatter_effects(scatter, false);
    for (size_t i = 0; i < effects.n; i++)
        if (effects.effect[i].frame == 1 && effects.effect[i].at_work)
            found = effects.effect[i].beside;
    scatter_effects_free(&effects);
    scatter_free(scatter);
    return found;
}

/* Where events have become rarer none of a function may have been met since. */
static void test_rarest(void) {
    double usual = varied_by(16384), rare = varied_by(1u << 19);
    CHECK(usual > 0 && varied_by(0) == usual);
    CHECK(fabs(rare - usual - 1.5 * (0x1p38 - 0x1p28)) < 1);
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
    static const struct how slow = {"", OUTER_INNER(1, 0.1), 100, .seconds = 5},
                            fast = {"", OUTER_INNER(1, 0.1), 1000, .seconds = 5},
                            bursts = {"", OUTER_INNER(0.1, 0.05), 5000, BURSTS(2, 20),
                                      .seconds = 5};

    for (size_t i = 0; i < sizeof hows / sizeof *hows; i++)
        check_how(&hows[i]);
    check_merged(&slow, &fast);
    check_merged(&fast, &bursts);
    check_diff(&slow, &fast);
    check_diff(&bursts, &bursts);
    check_unknown(&bursts);
    test_beyond();
    test_rarest();
    return check_report();
}
