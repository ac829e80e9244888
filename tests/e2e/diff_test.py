#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-3.0-or-later
"""diff of two builds: the function that became slower by a tenth is the first of all contexts."""

import json

from support import HCCT, check, finish, record, report, run, scratch, target

RATE = "4000"
SAMPLES = 12000  # with which the interval is half of the change


def profile(program, rounds):
    path = scratch(program + ".pb.gz")
    result = record([target(program), str(rounds)], path, "--no-report", "--rate", RATE)
    check(result.status == 0, f"{program} is recorded")
    return path


def enough_rounds():
    """How many rounds give so many samples, here, where the rate may not be had."""
    rounds = 25
    path = profile("steps", rounds)
    return max(rounds, int(1.2 * rounds * SAMPLES / compare(path, path)["after"]["samples"]))


def compare(*words):
    result = run([HCCT, "diff", "--format", "json", *words])
    if result.status != 0:
        raise SystemExit(f"hcct diff failed: {result.err.decode()}")
    return json.loads(result.out)


def names(diff, node):
    path = []
    while node["parent"] is not None:
        path.insert(0, node["function"])
        node = diff["nodes"][node["parent"]]
    return " > ".join(path)


def contexts(diff):
    found = [node for node in diff["nodes"] if node["parent"] is not None
             and node["function"] != "[~]" and node["self"]["before"] + node["self"]["after"]]
    return sorted(found, key=lambda node: (not node["self"]["beyond"],
                                           -abs(node["self"]["after"] - node["self"]["before"])))


rounds = enough_rounds()
before, after = profile("steps", rounds), profile("steps_slow", rounds)
diff = compare(before, after)
first = contexts(diff)[0]
own = first["self"]
total = diff["total"]
check(0.04 < total["after"] / total["before"] - 1 < 0.06 and total["beyond"],
      f"the total rose by a twentieth: {total}")
print(f"{diff['before']['samples']:.0f} and {diff['after']['samples']:.0f} samples; first is "
      f"{names(diff, first)}: {own['before'] / 1e9:.3f} -> {own['after'] / 1e9:.3f} s, "
      f"+-{own['interval'] / 1e9:.3f}")
check(diff["mode"] == "absolute" and diff["why"] == "same work", "the same work was done")
check(first["function"] == "crunch", "the slower function is first")
check(own["beyond"] and own["after"] > own["before"], "it grew by more than its error")
others = [names(diff, node) for node in contexts(diff)[1:] if node["self"]["beyond"]]
others = [name for name in others if "now_ns" not in name]  # the kernel's clock has its good and bad days
check(others == [], f"no other function is said to have changed: {others}")
result = run([HCCT, "diff", "--fail-above", "1%", before, after])
check(result.status == 5, f"--fail-above tells the slower build: {result.status}")
check("crunch" in result.err.decode(), f"and the function: {result.err.decode().strip()}")
status = run([HCCT, "diff", "--fail-above", "1%", before, profile("steps", rounds)]).status
check(status == 0, f"... and not the same one: {status}")

for by in ("site", "line", "module"):
    diff = compare("--by", by, before, before)
    check(diff["compared"] > 0 and diff["beyond"] == 0, f"by {by} a profile equals itself")

merged = scratch("sum.pb.gz")
result = run([HCCT, "merge", "-o", merged, before, before])
check(result.status == 0, "hcct merge works")
check(report(merged)["total"] == 2 * report(before)["total"], "the sum weighs what its parts do")
diff = compare(before, merged)
check(diff["beyond"] == 0, "the sum of a profile with itself is more of the same work")
check(abs(diff["after"]["samples"] / diff["before"]["samples"] - 2) < 1e-6, "and twice the samples")
finish()
