# SPDX-License-Identifier: LGPL-3.0-or-later
"""Intervals of chance hold the truth. A program knows what its functions have of its CPU time, in
phases of a tenth of a millisecond to 50 ms; with threads and with children of fork; uniform samples
and bursts; merged profiles.

By hand, each setting 100 times, as a table: make check-intervals. Here a few runs of each."""

import math
import os
import sys

from support import HCCT, check, finish, record, report, run, scratch, target

UNIFORM = {f"{rate}/s": ["--rate", str(rate)] for rate in (100, 250, 1000)}
BURSTS = {"2ms/20ms": ["--burst", "2ms/20ms", "--rate", "5000"],
          "10ms/100ms": ["--burst", "10ms/100ms", "--rate", "1000"]}
PHASES = (100, 1000, 5000, 50000)  # us


def outcome(truth, path):
    """[(true share, share, half of its interval)] of each function, and the profile."""
    profile = report(path)
    total, spent = profile["total"], sum(truth.values())
    seen = dict.fromkeys(truth, (0, 0))
    for function in profile["functions"]:
        if function["function"] in truth:
            seen[function["function"]] = (function["inclusive"],
                                          function.get("inclusive_half_width", 0))
    # shares of what is in these functions: what runs before and between them has no truth
    inside = sum(weight for weight, _ in seen.values())
    return [(truth[name] / spent, weight / max(inside, 1), half / total)
            for name, (weight, half) in seen.items()], profile


def measure(us, seconds, seed, options, threads=1, children=0):
    path = scratch(f"intervals-{seed}.pb.gz")
    result = record([target("shares"), str(us), str(seconds), str(seed), str(threads),
                     str(children)], path, *options)
    if result.status != 0:
        raise SystemExit(f"shares ended with status {result.status}: {result.err.decode()}")
    truth = {line.split()[1]: int(line.split()[0]) for line in result.out.decode().splitlines()
             if line.split()[1:] in (["half"], ["third"], ["sixth"], ["rest"])}
    return truth, path


def several(runs, *setting, **more):
    """[outcomes of each run], without functions that no sample has met."""
    rows = []
    for seed in range(1, runs + 1):
        truth, path = measure(setting[0], setting[1], seed, setting[2], **more)
        rows.append(outcome(truth, path)[0])
        os.unlink(path)
    return rows


def merged(runs, us, seconds, some, others):
    """The same of two runs each, sampled differently, in one profile."""
    rows = []
    for seed in range(1, runs + 1):
        one, first = measure(us, seconds, 2 * seed, some)
        two, second = measure(us, seconds, 2 * seed + 1, others)
        path = scratch("merged.pb.gz")
        if run([HCCT, "merge", "-o", path, first, second]).status != 0:
            raise SystemExit("hcct merge failed")
        rows.append(outcome({name: one[name] + two[name] for name in one}, path)[0])
    return rows


def held(rows):
    """How many of the intervals hold the truth, for each function."""
    return [sum(abs(share - true) <= half for true, share, half in column) for column in zip(*rows)]


def width(rows):
    """What the intervals are to those that would be right, for each function."""
    return [sum(half for _, _, half in column) / len(column) /
            (1.96 * math.sqrt(sum((share - true) ** 2 for true, share, _ in column) / len(column)))
            for column in zip(*rows)]


def table(runs):
    settings = [(f"{name:10} {us / 1000:4g} ms", (us, 5, options), {})
                for name, options in {**UNIFORM, **BURSTS}.items() for us in PHASES]
    settings += [(f"{name:10} {us / 1000:4g} ms, {what}", (us, 5, options), more)
                 for name, options in (("1000/s", UNIFORM["1000/s"]), ("2ms/20ms", BURSTS["2ms/20ms"]))
                 for us in (1000, 5000)
                 for what, more in (("16 threads", {"threads": 16}), ("20 children", {"children": 20}))]
    print(f"of {runs} runs, the interval holds the truth in (half, third, sixth, rest); width to the "
          f"right one")
    for name, setting, more in settings:
        rows = several(runs, *setting, **more)
        print(f"{name:30} {held(rows)}  {' '.join(f'{x:.2f}' for x in width(rows))}", flush=True)
    rows = merged(runs, 1000, 3, UNIFORM["100/s"], UNIFORM["1000/s"])
    print(f"{'100/s and 1000/s, 1 ms, merged':30} {held(rows)}  "
          f"{' '.join(f'{x:.2f}' for x in width(rows))}", flush=True)


if sys.argv[1:2] == ["--runs"]:
    table(int(sys.argv[2]))
    finish()

RUNS = 5
for name, us, options, more in (("1000/s", 1000, UNIFORM["1000/s"], {}),
                                ("2ms/20ms", 100, BURSTS["2ms/20ms"], {}),
                                ("2ms/20ms", 5000, BURSTS["2ms/20ms"], {}),
                                ("2ms/20ms, threads", 1000, BURSTS["2ms/20ms"], {"threads": 4}),
                                ("1000/s, children", 1000, UNIFORM["1000/s"], {"children": 5})):
    rows = several(RUNS, us, 1, options, **more)
    n = sum(held(rows))
    # of 20 intervals of 95 % fewer than 14 hold the truth in one of 10,000 cases
    check(n >= 14, f"{name}, {us / 1000:g} ms: {n} of {4 * RUNS} intervals hold the truth")

def by_chance(us, seconds, options):
    """Half of the interval of the first function, without the room that it has for what is in no context, as a busy
    machine had no time for hcctd."""
    truth, path = measure(us, seconds, 1, options)
    rows, profile = outcome(truth, path)
    missing = profile["processes"][0]["lost_ns"] + profile["chance"].get("left_out", 0)
    return rows[0][2] - missing / (profile["total"] + missing)


# what a burst sees in phases of 0.1 ms is nearly independent: 100 bursts of 10 samples are worth
# more than 100 samples, which would be +-9.8 points
halves = [by_chance(100, 2, BURSTS["2ms/20ms"]) for _ in range(2)]
check(max(halves) < 0.06, f"bursts, phases of 0.1 ms: +-{100 * max(halves):.1f} points")
# in phases of 5 ms they are not: 1,000 samples would be +-3.1
halves = [row[0][2] for row in several(2, 5000, 2, BURSTS["2ms/20ms"])]
check(min(halves) > 0.05, f"bursts, phases of 5 ms: +-{100 * min(halves):.1f} points")
finish()
