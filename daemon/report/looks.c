/*
 * looks.c - how many samples a profile has, and what they are worth.
 */
#include "daemon/report/looks.h"

#include <math.h>
#include <string.h>

#define Z_95 1.96

static enum looks_kind of_calls(const struct profile_process *process, double *looks) {
    if (process->burst_period_ns > 0) {
        *looks = (double)process->bursts;
        return process->bursts > 0 ? LOOKS_SAMPLED : LOOKS_UNKNOWN;
    }
    if (process->every <= 1)
        return LOOKS_EXACT;
    if (strcmp(process->credit, "new") == 0) /* how many edges one sample credits is not told */
        return LOOKS_UNKNOWN;
    *looks = (double)process->total / (double)process->every;
    return LOOKS_SAMPLED;
}

/* Where the weights of bursts differ, so do those of their samples: each burst spreads its own
 * evenly. So what differing weights cost is the same for both. */
static double of_walks(const struct profile_process *process) {
    double walks = (double)process->walks, drawn = (double)process->drawn;
    double kish =
        process->drawn_squares > 0 ? drawn * drawn / (double)process->drawn_squares : walks;

    if (process->burst_period_ns == 0 || process->bursts == 0 || process->bursts >= process->walks)
        return kish;
    return (double)process->bursts * (kish < walks ? kish / walks : 1);
}

enum looks_kind looks_of_process(const struct profile *profile, uint32_t process, uint64_t total,
                                 double *looks) {
    const struct profile_process *it = &profile->processes[process];

    *looks = 0;
    if (profile_of_calls(profile) || strcmp(it->collector, "calls") == 0)
        return of_calls(it, looks);
    if (it->walks > 0)
        *looks = of_walks(it);
    else if (profile->period > 0)
        *looks = (double)total / (double)profile->period;
    return *looks > 0 ? LOOKS_SAMPLED : LOOKS_UNKNOWN;
}

double samples_half_width(double share, double samples) {
    double z2 = Z_95 * Z_95;

    if (!(samples > 0))
        return 0;
    return Z_95 * sqrt(share * (1 - share) / samples + z2 / (4 * samples * samples)) /
           (1 + z2 / samples);
}

/* The variance of a part's weight, to that of one sample of weight 1. */
static double variance(uint64_t weight, double looks) {
    return looks > 0 ? (double)weight * (double)weight / looks : 0;
}

double looks_pool(uint64_t weight, double looks, uint64_t more_weight, double more_looks) {
    double sum = (double)weight + (double)more_weight;
    double both = variance(weight, looks) + variance(more_weight, more_looks);

    return both > 0 ? sum * sum / both : looks + more_looks;
}

/* What one process weighs, and its samples; of all where `process` is 0. */
static uint64_t weigh(const struct profile *profile, uint32_t process, double *samples) {
    uint64_t total = 0;

    *samples = 0;
    for (uint32_t i = 1; i < profile->n_processes; i++) {
        uint64_t weight = profile->processes[i].total;
        double looks;

        if (process != 0 && process != i)
            continue;
        looks_of_process(profile, i, weight, &looks);
        *samples = looks_pool(total, *samples, weight, looks);
        total += weight;
    }
    return total;
}

double looks_of_all(const struct profile *profile) {
    double samples;

    weigh(profile, 0, &samples);
    return samples;
}

double chance_half_width(const struct profile *profile, uint32_t process, uint64_t weight) {
    double samples;
    uint64_t total = weigh(profile, process, &samples);

    if (weight > total || total == 0)
        return 0;
    return (double)total * samples_half_width((double)weight / (double)total, samples);
}
