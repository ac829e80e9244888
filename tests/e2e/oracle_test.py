# SPDX-License-Identifier: LGPL-3.0-or-later
"""Agreement with an independent oracle: perf's own samples, unwound from copies of the stack. For a C
and a C++ program without frame pointers, the inclusive shares of the ten hottest functions are within
3 points of what perf sees in a run of its own.

The programs take some 6 s. Their phases are long against a period, so that at 250 walks a second chance
moves a share by far less than that. But perf sees another run: where others have a part of the memory's
speed, a phase takes longer in one run than in the next, by more than 3 points at times. So there are up
to three pairs of runs, and all ten functions must agree in one of them."""

import collections
import re

from support import check, finish, need, record, report, run, scratch, skip, target

POINTS = 3
TOP = 10
PAIRS = 3
PERF = ["perf", "record", "-F", "997", "-m", "4096", "-g", "--call-graph", "dwarf,16384"]


def plain(name):
    """A symbol without what one symbol table says and another leaves out: version, part, alias."""
    name = re.split(r"[@.]", name)[0]
    return name if name.startswith("_Z") else name.removeprefix("__GI_").lstrip("_")


def shares(stacks):
    """{function: share in percent}, of [(functions on the stack, weight)]."""
    weights = collections.Counter()
    for names, weight in stacks:
        for name in set(names):
            weights[name] += weight
    total = sum(weight for _, weight in stacks)
    return {name: 100 * weight / total for name, weight in weights.items()}


def perf_stacks(command):
    data = scratch("perf.data")
    result = run([*PERF, "-o", data, "--", *command])
    check(result.status == 0, "perf records, and the program ends with status 0")
    script = run(["perf", "script", "-i", data, "--no-inline", "--no-demangle", "-F", "ip,sym"])
    stacks = []
    for sample in script.out.decode(errors="replace").split("\n\n"):
        frames = [line.split(None, 1) for line in sample.splitlines() if line.strip()]
        if frames:
            stacks.append(([plain(frame[1]) for frame in frames if len(frame) == 2], 1))
    return stacks


def our_stacks(command):
    path = scratch("oracle.pb.gz")
    result = record(command, path, "--rate", "1000", "--phi", "0.00001")
    check(result.status == 0, "the program ends with status 0 under hcct record")
    nodes = report(path)["nodes"]
    stacks = []
    for node in nodes:
        names, weight = [], node["count"]
        while weight and node["parent"] is not None:
            if not node.get("inlined"):  # perf is asked for functions that have a frame
                names.append(plain(node.get("system_name") or node["function"]))
            node = nodes[node["parent"]]
        if weight:
            stacks.append((names, weight))
    return stacks


need("perf")
tried = run([*PERF, "-o", scratch("tried"), "--", "true"])
if tried.status != 0:
    skip("perf can't record here: " + tried.err.decode().strip().split("\n")[0])

def hottest(true):
    # those that all stacks have in common, main and before, would agree too easily
    inner = [function for function in true if true[function] < 99]
    return sorted(inner, key=true.get, reverse=True)[:TOP]


def pair(name, command):
    """[(function, our share, perf's)] of perf's hottest, of one run each."""
    theirs, ours = perf_stacks(command), our_stacks(command)
    credited = sum(weight for _, weight in ours)
    check(len(theirs) > 1000 and credited > 10**9,
          f"{name}: {len(theirs)} samples of perf, {credited / 1e9:.2f} s of ours")
    true, seen = shares(theirs), shares(ours)
    return [(function, seen.get(function, 0), true[function]) for function in hottest(true)]


def agree(seen):
    return all(abs(share - true) <= POINTS for _, share, true in seen)


for name, rounds in (("oracle", "22"), ("oracle_cxx", "30")):
    for left in reversed(range(PAIRS)):
        seen = pair(name, [target(name), rounds])
        if agree(seen) or left == 0:
            break
        print(f"{name}: the two runs do not agree: once more")
    for function, share, true in seen:
        check(abs(share - true) <= POINTS,
              f"{name}: {function[:60]}: {share:.2f} %, perf {true:.2f} %")
finish()
