# SPDX-License-Identifier: LGPL-3.0-or-later
"""Have short lives their share? Threads and children of fork that live for 0.2 to 100 ms (lives.c), one
at a time and four, pinned to a processor and not, at several rates.

  usage: short_lives.py [--lives N] [--most SECONDS] [--cases threads:0.2,forks:2,...]
                        [--rates 100,250,1000] [--at-once 1,4] [--pinned no,yes]

For each case: what is credited, by what getrusage says, with the 95 % interval of chance that the
reports state; and by how many points of all time each of two functions is off. --most is of CPU time
for one case: then there are fewer lives. Prints, and judges nothing; `make short-lives` runs it, which
takes an hour."""

import argparse
import math
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
from support import finish, folded, record, report, scratch, target  # noqa: E402

CASES = "threads:0.2,threads:1,threads:2,threads:5,threads:15,forks:2,forks:15,forks:100"


def measure(kind, milliseconds, lives, at_once, pinned, rate):
    """One run: used and credited, the same of both functions, half an interval of the total; in s."""
    path = scratch("lives.pb.gz")
    command = [target("lives"), kind, str(lives), f"{1000 * milliseconds:g}", str(at_once)]
    result = record(["taskset", "-c", "0", *command] if pinned else command, path, "--rate", rate)
    used, *true = (int(word) / 1e9 for word in result.out.split())
    seen, total = dict(former=0, latter=0), 0
    for frames, weight in folded(path):
        total += weight / 1e9
        for name in seen:
            seen[name] += weight / 1e9 if name in frames else 0
    off = [got / total - was / used for got, was in zip(seen.values(), true)]
    return used, total, off, report(path)["chance"]["total_half_width"] / 1e9


def show(kind, milliseconds, lives, at_once, pinned, rate):
    used, total, off, half = measure(kind, milliseconds, lives, at_once, pinned, rate)
    print(f"{lives:6} {kind:7} of {milliseconds:5g} ms, {at_once} at once, "
          f"{'pinned' if pinned else 'free  '} {rate:>5}/s: {total:8.3f} of {used:8.3f} s, "
          f"{100 * total / used - 100:+6.2f} % +-{100 * half / used:5.2f}; points {100 * off[0]:+5.2f} "
          f"{100 * off[1]:+5.2f}", flush=True)


parser = argparse.ArgumentParser()
parser.add_argument("--lives", type=int, default=3000)
parser.add_argument("--most", type=float, default=math.inf)
parser.add_argument("--cases", default=CASES)
parser.add_argument("--rates", default="100,250,1000")
parser.add_argument("--at-once", default="1,4")
parser.add_argument("--pinned", default="no,yes")
asked = parser.parse_args()
for case in asked.cases.split(","):
    name, length = case.split(":")[0], float(case.split(":")[1])
    count = int(min(asked.lives, asked.most / (length / 1000)))
    for hertz in asked.rates.split(","):
        for together in map(int, asked.at_once.split(",")):
            for where in asked.pinned.split(","):
                show(name, length, count, together, where == "yes", hertz)
finish()
