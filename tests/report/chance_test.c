/*
 * chance_test.c - 95 % intervals hold the truth in 90 to 100 of 100 runs of simulated programs:
 * uniform sampling, bursts, weights that differ, measured sleeps.
 */
#include "tests/check.h"

#include <math.h>

#include "daemon/ingest/draws.h"
#include "daemon/report/looks.h"

#define RUNS   100
#define SECOND 1000000000ull
#define SLEEP  50         /* steps */
#define STEP   1000000ull /* ns between samples */

static uint64_t seed;

static double uniform(void) {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (double)(seed >> 11) / (double)(1ull << 53);
}

/* A program: phases of random length, of which some are of the function that is asked for. */
struct program {
    double phase_ns, share; /* mean length; part of the phases */
    double at, end;         /* the phase of now */
    bool ours;
};

static bool is_ours(struct program *program, double now) {
    while (now >= program->end) {
        program->at = program->end;
        program->end += -program->phase_ns * log(1 - uniform());
        program->ours = uniform() < program->share;
    }
    return program->ours;
}

struct seen {
    struct draws draws;
    uint64_t weight, ours, walks, bursts;
};

static void take(struct seen *seen, uint64_t weight, uint64_t most, bool ours) {
    draws_add(&seen->draws, weight, most);
    seen->weight += weight;
    seen->ours += ours ? weight : 0;
    seen->walks++;
}

struct how {
    const char *name;
    double phase_ns, share;
    double skipped;                /* part of half of the samples; the others of it weigh 1/p */
    uint64_t length_ns, period_ns; /* of bursts */
    bool sleeps;                   /* half of the time it sleeps, in sleeps of 50 steps: measured */
};

/* In bursts: every step, and what passed since the last burst is spread over them. */
static void run_bursts(const struct how *how, struct program *program, struct seen *seen) {
    double now = 0, last = 0;

    while (now < 20.0 * SECOND) {
        uint64_t n = how->length_ns / STEP;

        now += (double)(how->period_ns - how->length_ns) * (0.5 + uniform());
        for (uint64_t i = 0; i < n; i++, now += STEP)
            take(seen, (uint64_t)((now + (double)((n - i) * STEP) - last) / (double)(n - i)), 0,
                 is_ours(program, now)),
                last = i + 1 == n
                           ? now + STEP
                           : last + (now + (double)((n - i) * STEP) - last) / (double)(n - i);
        seen->bursts++;
    }
}

/* Half of the samples may be skipped; those that are not weigh more for it. */
static void run_uniform(const struct how *how, struct program *program, struct seen *seen) {
    uint64_t steps = 0;

    for (double now = 0; now < 20.0 * SECOND; now += STEP * (0.5 + uniform())) {
        bool ours = is_ours(program, now);
        double p = 1 - (uniform() < 0.5 ? how->skipped : 0);

        if (p == 1 || uniform() < p)
            take(seen, (uint64_t)(STEP / p), 0, ours);
        if (how->sleeps && ++steps % SLEEP == 0)
            take(seen, SLEEP * STEP - STEP / 2 + (uint64_t)(uniform() * STEP), STEP, false);
    }
}

static bool holds(const struct how *how, bool kish) {
    struct program program = {.phase_ns = how->phase_ns, .share = how->share};
    struct seen seen = {.walks = 0};
    struct profile *profile = profile_new();

    if (how->length_ns > 0)
        run_bursts(how, &program, &seen);
    else
        run_uniform(how, &program, &seen);
    profile->unit = profile_string(profile, "nanoseconds");
    profile->type = profile_string(profile, "cpu");
    profile_add_process(profile,
                        &(struct profile_process){.exe = "/app",
                                                  .command = "app",
                                                  .collector = "walks",
                                                  .total = seen.weight,
                                                  .walks = seen.walks,
                                                  .bursts = seen.bursts,
                                                  .burst_length_ns = how->length_ns,
                                                  .burst_period_ns = how->period_ns,
                                                  .drawn = kish ? seen.draws.weight : 0,
                                                  .drawn_squares = kish ? seen.draws.squares : 0});
    double half = chance_half_width(profile, 1, seen.ours);
    double truth = how->share * (how->sleeps ? 0.5 : 1) * (double)seen.weight;

    CHECK(fabs(chance_half_width(profile, 0, seen.ours) - half) < 1e-6 * half);
    profile_free(profile);
    return fabs((double)seen.ours - truth) <= half;
}

static unsigned count(const struct how *how, bool kish) {
    unsigned held = 0;

    seed = 1234567;
    for (int run = 0; run < RUNS; run++)
        held += holds(how, kish);
    printf("%s: %u of %d\n", how->name, held, RUNS);
    return held;
}

/* A part that rests on few samples makes the whole as uncertain as it is. */
static void test_pool(void) {
    CHECK(fabs(looks_pool(100, 100, 50, 50) - 150) < 1e-9);
    CHECK(fabs(looks_pool(0, 0, 60, 3) - 3) < 1e-9);
    CHECK(fabs(looks_pool(100, 0, 100, 25) - 100) < 1e-9); /* half of it is exact */
    CHECK(looks_pool(100, 0, 100, 0) == 0);
    CHECK(looks_pool(120, 120, 60, 3) < 27.1 && looks_pool(120, 120, 60, 3) > 24);
}

int main(void) {
    test_pool();
    static const struct how hows[] = {
        {.name = "uniform, short phases", .phase_ns = 1e5, .share = 0.3},
        {.name = "uniform, rare", .phase_ns = 1e5, .share = 0.005},
        {.name = "skipped", .phase_ns = 1e5, .share = 0.3, .skipped = 0.98},
        {.name = "bursts",
         .phase_ns = 1e7,
         .share = 0.3,
         .length_ns = 10 * STEP,
         .period_ns = 100 * STEP},
        {.name = "bursts, rare",
         .phase_ns = 1e7,
         .share = 0.02,
         .length_ns = 10 * STEP,
         .period_ns = 100 * STEP},
        {.name = "sleeps", .phase_ns = 1e5, .share = 0.4, .sleeps = true},
    };

    for (size_t i = 0; i < sizeof(hows) / sizeof(*hows); i++)
        CHECK(count(&hows[i], true) >= 90);
    CHECK(count(&hows[2], false) < 90); /* without the weights they do not */
    return check_report();
}
