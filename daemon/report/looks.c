/*
 * looks.c - how often a process was looked at.
 */
#include "daemon/report/looks.h"

#include <string.h>

static enum looks_kind of_calls(const struct profile_process *process, double *looks) {
    if (process->burst_period_ns > 0) {
        *looks = (double)process->bursts;
        return process->bursts > 0 ? LOOKS_SAMPLED : LOOKS_UNKNOWN;
    }
    if (process->every <= 1)
        return LOOKS_EXACT;
    if (strcmp(process->credit, "new") == 0) /* how many edges one look credits is not told */
        return LOOKS_UNKNOWN;
    *looks = (double)process->total / (double)process->every;
    return LOOKS_SAMPLED;
}

enum looks_kind looks_of_process(const struct profile *profile, uint32_t process, uint64_t total,
                                 double *looks) {
    const struct profile_process *it = &profile->processes[process];

    *looks = 0;
    if (profile_of_calls(profile) || strcmp(it->collector, "calls") == 0)
        return of_calls(it, looks);
    if (it->burst_period_ns > 0 && it->bursts > 0 && it->bursts < it->walks)
        *looks = (double)it->bursts;
    else if (it->walks > 0)
        *looks = (double)it->walks;
    else if (profile->period > 0)
        *looks = (double)total / (double)profile->period;
    return *looks > 0 ? LOOKS_SAMPLED : LOOKS_UNKNOWN;
}
