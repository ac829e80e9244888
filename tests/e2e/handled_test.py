# SPDX-License-Identifier: LGPL-3.0-or-later
"""Handlers of the program that interrupt calls which are made with the agent's signal blocked
(preload/wrap/handler_entry.h): what they work is theirs, and the program sees nothing of it."""

import math

from support import Daemon, check, finish, folded, record, report, run, scratch, target

SECONDS = 3
KINDS = [("pause", 1000), ("nanosleep", 4000), ("read", 1000), ("semaphore", 1000), ("poll", 4000)]
# one part of 1.5 ms and the next differ by what comes some microseconds late
LATE_POINTS = 1.5

view = [target("handler_view")]
plain = run(view)
check(plain.status == 0 and len(plain.out.splitlines()) == 8, "it runs without the agent")
with Daemon() as daemon:
    for settings in ({"HCCT_RATE": "1000"}, {"HCCT_RATE": "100"}, {"HCCT_CLOCK": "wall", "HCCT_RATE": "4000"},
                     {"HCCT_BURST": "2ms/20ms"}):
        profiled = run(view, env=daemon.env(**settings))
        check((profiled.status, profiled.out, profiled.err) == (plain.status, plain.out, plain.err),
              f"same output and status with {settings}: {profiled.out.decode()}")


def measure(kind, rate):
    """True microseconds of each function, the weight that is seen of it, and the process."""
    path = scratch("handled.pb.gz")
    result = record([target("handled"), kind, str(SECONDS), "1000", "500"], path, "--rate", str(rate))
    check(result.status == 0, f"{kind} at {rate} a second: ended with status {result.status}")
    true = {name: int(us) for name, us in (line.split() for line in result.out.decode().splitlines())}
    seen = dict.fromkeys(true, 0)
    for frames, weight in folded(path):
        # a point at the handler's end that was noticed late is where it begins
        names = ["serve" if name == "on_signal" else name for name in frames]
        for name in [name for name in names if name in seen][-1:]:
            seen[name] += weight
    return true, seen, report(path)["processes"][0]


for kind, rate in KINDS:
    true, seen, process = measure(kind, rate)
    worked, credited = sum(true.values()), sum(seen.values())
    samples = process["walks"] * credited / process["total"]
    share, is_true = 100 * seen["serve"] / max(credited, 1), 100 * true["serve"] / worked
    # some weigh more than others: as if there were two thirds of them
    chance = 100 * math.sqrt(is_true / 100 * (1 - is_true / 100) * 1.5 / max(samples, 1))
    check(abs(share - is_true) <= LATE_POINTS + 4 * chance,
          f"{kind} at {rate} a second: {share:.1f} % in the handler, {is_true:.1f} % is true, chance {chance:.1f}")
    check(credited >= 0.8 * process["total"], f"{kind}: {100 * credited / process['total']:.0f} % is in both")
finish()
