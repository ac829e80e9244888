# SPDX-License-Identifier: LGPL-3.0-or-later
"""A thread that naps is sampled in few of the stretches between its naps (preload/sample/nap_course.h),
and each part of them has its share all the same: parts of short stretches, stretches that are
seldom and long, and what follows a sleep that ends at a tick of the kernel."""

import math

from support import check, finish, folded, record, report, scratch, target

SECONDS = 4
KINDS = ["short", "seldom", "woken"]
RATES = [1000, 4000]
# one part of 64 us and the next differ by what comes some microseconds late
LATE_POINTS = 2


def measure(kind, rate):
    """True microseconds and weights seen of each function, samples in them, and the process. Before the naps
    the program learns how fast it is, by one of the functions."""
    path = scratch("stretches.pb.gz")
    result = record([target("stretches"), kind, str(SECONDS)], path, "--rate", str(rate))
    check(result.status == 0, f"{kind} at {rate} a second: ended with status {result.status}")
    true = {name: int(us) for name, us in (line.split() for line in result.out.decode().splitlines())}
    seen = dict.fromkeys(true, 0)
    for frames, weight in folded(path):
        for name in [name for name in frames if name in seen and "learn_turns" not in frames][-1:]:
            seen[name] += weight
    return true, seen, report(path)["processes"][0]


for kind in KINDS:
    for rate in RATES:
        true, seen, process = measure(kind, rate)
        worked, credited = sum(true.values()), sum(seen.values())
        samples = process["walks"] * credited / process["total"]
        for name, us in true.items():
            share, is_true = 100 * seen[name] / max(credited, 1), 100 * us / worked
            # some weigh more than others: as if there were two thirds of them
            chance = 100 * math.sqrt(us / worked * (1 - us / worked) * 1.5 / max(samples, 1))
            check(abs(share - is_true) <= LATE_POINTS + 4 * chance,
                  f"{kind} at {rate} a second: {share:.1f} % in {name}, {is_true:.1f} % is true, chance {chance:.1f}")
finish()
