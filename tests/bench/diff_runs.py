#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-3.0-or-later
"""How often does `hcct diff` cry wolf, and does it find what became slower?

Runs one program again and again, compares each run with the one before, and counts the contexts
that are said to have changed beyond their error: about 1 in 20 may. Then the same program with half
of it made slower by a tenth: that context is to come first. Prints figures, judges nothing.

  tests/bench/diff_runs.py [RUNS [ROUNDS [RATE]]]     (20 pairs, 300 rounds, 4000 walks a second)
"""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
from support import HCCT, finish, record, run, scratch, target  # noqa: E402


def compare(before, after, *options):
    result = run([HCCT, "diff", "--format", "json", *options, before, after])
    if result.status != 0:
        raise SystemExit(result.err.decode())
    return json.loads(result.out)


def contexts(diff):
    """Those with self weight, beyond their error first, then by the change."""
    found = [node for node in diff["nodes"] if node["parent"] is not None
             and node.get("function") != "[~]" and node["self"]["before"] + node["self"]["after"]]
    return sorted(found, key=lambda node: (not node["self"]["beyond"],
                                           -abs(node["self"]["after"] - node["self"]["before"])))


def profile(program, rounds, rate, name):
    path = scratch(name)
    result = record([target(program), rounds], path, "--no-report", "--rate", rate)
    if result.status != 0:
        raise SystemExit(result.err.decode())
    return path


def same_build(runs, *options):
    compared = beyond = any_beyond = 0
    for before, after in zip(runs, runs[1:]):
        diff = compare(before, after, *options)
        compared += diff["compared"]
        beyond += diff["beyond"]
        any_beyond += diff["beyond"] > 0
    print(f"  same build: {beyond} of {compared} contexts beyond their error "
          f"({100 * beyond / compared:.1f} %), in {any_beyond} of {len(runs) - 1} comparisons")


def slower_build(plain, slow, *options):
    first = beyond = 0
    for before, after in zip(plain, slow):
        found = contexts(compare(before, after, *options))
        first += found[0].get("function") == "crunch" and found[0]["self"]["beyond"]
        beyond += sum(node["self"]["beyond"] for node in found[1:])
    print(f"  one function slower by a tenth: first, beyond its error, in {first} of {len(slow)}; "
          f"{beyond / len(slow):.1f} others beyond theirs")


def main():
    pairs, rounds, rate = ([*sys.argv[1:4], "20", "300", "4000"][i] if len(sys.argv) > i + 1
                           else ("20", "300", "4000")[i] for i in range(3))
    plain = [profile("steps", rounds, rate, f"plain{i}.pb.gz") for i in range(int(pairs) + 1)]
    slow = [profile("steps_slow", rounds, rate, f"slow{i}.pb.gz") for i in range(int(pairs) // 4)]
    totals = [compare(path, path)["after"]["total"] / 1e9 for path in plain]
    print(f"{len(plain)} runs: {min(totals):.2f} to {max(totals):.2f} s of CPU time")
    for options in ([], ["--absolute"], ["--shares"]):
        print(" ".join(options) or "as the functions decide (the default)")
        same_build(plain, *options)
        slower_build(plain, slow, *options)


main()
finish()
