# SPDX-License-Identifier: LGPL-3.0-or-later
"""Two functions of a program that takes the CPU time of both itself: the shares seen are the true
ones, whatever the program calls between them, and so is the total.

`halves_test.py --runs N` goes through all settings N times and prints the mean differences; without
it a few settings are checked, within five standard errors of what chance leaves and 1 point."""

import math
import sys

from support import check, finish, folded, record, report, scratch, target

SETTINGS = {
    "100": (["--rate", "100"], 100),
    "250": (["--rate", "250"], 250),
    "1000": (["--rate", "1000"], 1000),
    "4000": (["--rate", "4000"], 4000),
    "bursts": (["--burst", "2ms/20ms", "--rate", "5000"], 50),
    "perf": (["--rate", "1000", "--clock", "perf"], 1000),
}
PROGRAMS = [("begin", 2000), ("begin", 100), ("often", 5000), ("serve", 1000), ("nap", 500),
            ("handler", 1000), ("taken", 200)]
# Samples come up to 20 us late after a sleep, and on a quiet machine they mostly do. So of rounds of 60
# us that begin with one, a sixth of all samples goes from the first half to the second, and a third
# to the call that ends the round; of `wait`, whose rounds are twice as long, less.
LATE_POINTS, LATE_ELSEWHERE = {"pipe": 17, "wait": 5}, {"pipe": 0.33, "wait": 0.15}
# in step with the kernel's tick, or with another timer
IN_STEP = [("frames", 700), ("slot", 500), ("alarms", 700), ("pipe", 30),
           ("wait", 60)]


def measure(kind, us, seconds, options):
    """True share and share seen of `second` in per cent, CPU time of both, that seen; the process."""
    path = scratch("halves.pb.gz")
    result = record([target("halves"), kind, str(us), str(seconds)], path, *options)
    if result.status != 0:
        raise SystemExit(f"{kind} {us}: ended with status {result.status}")
    true = {line.split()[1]: int(line.split()[0]) for line in result.out.decode().splitlines()}
    seen = dict.fromkeys(true, 0)
    for frames, weight in folded(path):
        inner = [name for name in frames if name in seen][-1:]  # a handler stands on the first
        for name in inner:
            seen[name] += weight
    spent, credited = sum(true.values()), sum(seen.values())
    process = report(path)["processes"][0]
    return (100 * true["second"] / spent, 100 * seen["second"] / max(credited, 1), spent, credited,
            process)


def matrix(runs):
    for name, (options, _) in SETTINGS.items():
        for kind, us in PROGRAMS + IN_STEP:
            off, totals, rates = [], [], []
            for _ in range(runs):
                true, share, spent, credited, process = measure(kind, us, 2, options)
                off.append(share - true)
                totals.append(credited / spent)
                rates.append(process["walks"] / (process["total"] / 1e9))
            mean = sum(off) / runs
            sd = math.sqrt(sum((x - mean) ** 2 for x in off) / max(runs - 1, 1) / runs)
            print(f"{name:7} {kind:8} {us:5} us: second {mean:+6.2f} points (s.e. {sd:.2f}), total "
                  f"{sum(totals) / runs:.3f}, {sum(rates) / runs:.0f} walks a second", flush=True)


if sys.argv[1:2] == ["--runs"]:
    matrix(int(sys.argv[2]))
    finish()

SECONDS = 2
for setting, programs in (("100", IN_STEP), ("250", IN_STEP + PROGRAMS[2:4]), ("1000", PROGRAMS + IN_STEP[-1:]),
                          ("4000", PROGRAMS[:4])):
    options, samples = SETTINGS[setting]
    for kind, us in programs:
        true, share, spent, credited, process = measure(kind, us, SECONDS, options)
        chance = 5 * 50 / math.sqrt(SECONDS * samples)
        late = LATE_POINTS.get(kind, 0)
        check(abs(share - true) <= 1 + late + chance,
              f"{setting} a second, {kind} {us} us: {share:.2f} % of the time, {true:.2f} % is true")
        chance /= 100
        rate = process["walks"] / (process["total"] / 1e9) / samples
        check(0.94 - chance / 4 <= rate <= 1.03 + chance / 4,
              f"{setting} a second, {kind}: {rate:.3f} of the walks")
        elsewhere = LATE_ELSEWHERE.get(kind, 0.04)
        lost = process["lost_ns"]  # where the machine has no time for hcctd, and said to be so
        check(abs(credited + lost - spent) <= (elsewhere + chance) * spent and lost < 0.5 * spent,
              f"{setting} a second, {kind}: {credited / spent:.3f} of the time, {lost / spent:.3f} is lost")
finish()
