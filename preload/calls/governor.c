/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * governor.c - the law: see governor.h.
 */
#include "preload/calls/governor.h"

#include <stdbool.h>

#include "common/wire/burst.h"
#include "common/wire/wire.h"
#include "preload/calls/period.h"
#include "preload/life/mean.h"

#define PPM 1000000u
#define HORIZON_NS                                                                                 \
    2000000000u      /* of the program's time: what was spent too much is made good within it */
#define LEAST_PART 8 /* of the budget, whatever was spent */
#define SAVED_PART 4 /* more than the budget by so little, whatever is left */
#define LATEST     8 /* a burst counts as one of so many */

static uint64_t part(uint64_t amount, uint64_t of, uint64_t whole) {
    unsigned __int128 parts = (unsigned __int128)amount * of / (whole > 0 ? whole : 1);
    return parts < UINT64_MAX ? (uint64_t)parts : UINT64_MAX;
}

uint64_t governor_price(uint64_t price_ns, uint64_t cost_ns) {
    if (price_ns == 0)
        return cost_ns > 0 ? cost_ns : 1;
    return mean_after(price_ns, cost_ns, LATEST);
}

/* What may be spent from now on, in parts per million. */
static uint64_t allowed(uint32_t budget_ppm, const struct governor_sums *sums) {
    uint64_t may = part(sums->program_ns, budget_ppm, PPM);
    uint64_t spent = sums->cost_ns + sums->reading_ns;
    uint64_t least = budget_ppm / LEAST_PART, most = budget_ppm + budget_ppm / SAVED_PART;
    if (spent <= may) {
        uint64_t more = part(may - spent, PPM, HORIZON_NS);
        return more < most - budget_ppm ? budget_ppm + more : most;
    }
    uint64_t less = part(spent - may, PPM, HORIZON_NS);
    return less < budget_ppm - least ? budget_ppm - less : least;
}

/* With hcctd's part. */
static uint64_t price_of_all(uint64_t price_ns, uint64_t length_ns,
                             const struct governor_sums *sums) {
    if (price_ns == 0) /* not known: as much as the program's own time in it */
        return length_ns;
    return price_ns + part(price_ns, sums->reading_ns, sums->cost_ns);
}

uint64_t governor_times(uint32_t budget_ppm, uint64_t length_ns, uint64_t least, uint64_t price_ns,
                        const struct governor_sums *sums) {
    uint64_t most = period_times(length_ns, BURST_PERIOD_MAX_NS);
    uint64_t price = price_of_all(price_ns, length_ns, sums);
    uint64_t rate = allowed(budget_ppm, sums);
    uint64_t times = part(part(price, (uint64_t)PPM * PERIOD_ONE, rate), 1, length_ns);
    return times < least ? least : times < most ? times : most;
}
