# SPDX-License-Identifier: LGPL-3.0-or-later
"""How far profiles are from the truth: programs that know how their CPU time is spread (mixture.c),
at several rates, many times.

  usage: unbiased.py [--runs N] [--seconds S] [--settings 100,250,...] [--programs mixed,serve,...]

For each phase: its true share, the mean share seen, the mean difference with its standard error, in
points, and in how many runs the report's 95 % interval held the truth. Prints, and judges nothing:
where phases are of some 25 us and rates of 4,000/s, samples lengthen the phases that they meet, which
is no bias of theirs. `make unbiased` runs it, 20 times each, which takes more than an hour."""

import argparse
import math
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
from support import folded, record, report, scratch, target  # noqa: E402

SETTINGS = {
    "100": ["--rate", "100"],
    "250": ["--rate", "250"],
    "1000": ["--rate", "1000"],
    "4000": ["--rate", "4000"],
    "bursts": ["--rate", "5000", "--burst", "2ms/20ms"],
}
PROGRAMS = {"mixed": [], "serve": [], "deep50": ["50", "0.5"], "deep300": ["300", "1"],
            "deep2000": ["2000", "2"], "deep10000": ["10000", "3"]}


def half_widths(profile):
    """Of each phase's share, as the report has them: half of the 95 % interval."""
    return {phase_of(function["function"]): function["inclusive_half_width"] / profile["total"]
            for function in profile["functions"] if phase_of(function["function"])}


def phase_of(name):
    """The phase whose function that is, or None."""
    return name.removeprefix("phase_").removesuffix("_main") if name.startswith("phase_") else None


def measure(program, seconds, options):
    """{phase: (true share, share seen, does the interval hold the truth)}, total seen by the true
    one, walks a second of CPU time."""
    path = scratch("unbiased.pb.gz")
    kind = program.rstrip("0123456789")
    command = [target("mixture"), kind, str(seconds), str(random.randrange(10 ** 6))]
    result = record([*command, *PROGRAMS[program]], path, *options)
    true = {line.split()[1]: int(line.split()[0]) for line in result.out.decode().splitlines()}
    used, total, seen = true.pop("all"), 0, dict.fromkeys(true, 0)
    for frames, weight in folded(path):
        total += weight
        names = [phase_of(name) for name in frames if phase_of(name)]
        if names and names[0] in seen:
            seen[names[0]] += weight
    profile, shares = report(path), {}
    process, half = profile["processes"][0], half_widths(profile)
    for name, ns in true.items():
        share, truth = seen[name] / max(total, 1), ns / used
        shares[name] = truth, share, abs(share - truth) <= half.get(name, 0)
    return shares, total / used, process["walks"] / (process["total"] / 1e9)


def mean(values):
    return sum(values) / len(values)


def error_of_mean(values):
    middle = mean(values)
    return math.sqrt(sum((x - middle) ** 2 for x in values) / max(len(values) - 1, 1) / len(values))


def show(setting, program, runs):
    totals = [total for _, total, _ in runs]
    print(f"{setting}, {program}: {min(totals):.3f} to {max(totals):.3f} of the CPU time, "
          f"{mean([rate for _, _, rate in runs]):.0f} walks a second")
    print("  phase             true   seen    off  s.e.  inside")
    for name in runs[0][0]:
        truth, seen, inside = zip(*(shares[name] for shares, _, _ in runs))
        off = [100 * (s - t) for s, t in zip(seen, truth)]
        print(f"  {name:15} {100 * mean(truth):6.2f} {100 * mean(seen):6.2f} {mean(off):+6.2f} "
              f"{error_of_mean(off):5.2f}  {sum(inside)} of {len(inside)}", flush=True)


parser = argparse.ArgumentParser()
parser.add_argument("--runs", type=int, default=20)
parser.add_argument("--seconds", type=float, default=4)
parser.add_argument("--settings", default=",".join(SETTINGS))
parser.add_argument("--programs", default=",".join(PROGRAMS))
wanted = parser.parse_args()
for one in wanted.settings.split(","):
    for name in wanted.programs.split(","):
        show(one, name, [measure(name, wanted.seconds, SETTINGS[one]) for _ in range(wanted.runs)])
