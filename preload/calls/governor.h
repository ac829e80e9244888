/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * governor.h - how far bursts of calls are apart where profiling has a budget.
 *
 * The budget is a share of the program's own CPU time. What profiling has cost is measured as it
 * runs: reports of calls, ticks (walks, and the texts that change places), and what hcctd takes to
 * read what was sent. From what bursts have cost of late follows how far apart they are to be; what
 * was spent too much, or was left, is made good within some seconds. All of that is the past when a
 * period begins, as period.h wants it.
 */
#ifndef HCCT_CALLS_GOVERNOR_H
#define HCCT_CALLS_GOVERNOR_H

#include <stdint.h>

/* What a process has had and spent, of CPU time. */
struct governor_sums {
    uint64_t program_ns; /* the program's own */
    uint64_t cost_ns;    /* of profiling, in its threads */
    uint64_t reading_ns; /* of profiling, in hcctd */
};

/* The mean period to come, in lengths of a burst, in parts of PERIOD_ONE; at least `least`.
 * `price_ns`: what a burst costs in its thread, 0: none has ended yet. Pure. */
uint64_t governor_times(uint32_t budget_ppm, uint64_t length_ns, uint64_t least, uint64_t price_ns,
                        const struct governor_sums *sums);

/* What bursts cost, of late, where one more has cost `cost_ns`. */
uint64_t governor_price(uint64_t price_ns, uint64_t cost_ns);

#endif
