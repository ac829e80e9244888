# SPDX-License-Identifier: LGPL-3.0-or-later
"""Agreement with an independent oracle: perf's own samples, unwound from copies of the stack. For a C
and a C++ program without frame pointers, the inclusive shares of the ten hottest functions are within
3 points of what perf sees of the same run: of two runs, a phase takes longer in one than in the other by
more than that, where others have a part of the memory's speed.

The programs take some 6 s. Their phases are long against a period, so that at 1,000 walks a second chance
moves a share by far less than that. What perf sees of the agent's handler is left out: hcct has it
apart. Where perf can't read its records fast enough it loses stretches, so there are up to three runs,
and all ten functions must agree in one of them."""

import collections
import re

from support import Daemon, HCCT, check, finish, need, report, run, scratch, skip, target

POINTS = 3
TOP = 10
RUNS = 3
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


def record_both(command, data, path):
    """hcctd is started outside: perf is to see the program alone."""
    with Daemon("--phi", "0.00001") as daemon:
        result = run([*PERF, "-o", data, "--", *command], env=daemon.env(HCCT_RATE="1000"))
        check(result.status == 0, "perf records, and the program ends with status 0")
        daemon.wait_for(lambda p: p["command"].startswith("oracle") and p["state"] == "finished")
        result = run([HCCT, "hot", "--socket", daemon.socket, "--exe", command[0].rsplit("/", 1)[-1],
                      "--format", "pprof", "-o", path])
        check(result.status == 0, "hcctd has a profile of it")


def perf_stacks(data):
    script = run(["perf", "script", "-i", data, "--comm", "oracle,oracle_cxx", "--no-inline", "--no-demangle",
                  "-F", "ip,sym"])
    stacks = []
    for sample in script.out.decode(errors="replace").split("\n\n"):
        frames = [line.split(None, 1) for line in sample.splitlines() if line.strip()]
        names = [plain(frame[1]) for frame in frames if len(frame) == 2]
        if names and "signal_handle" not in names:
            stacks.append((names, 1))
    return stacks


def our_stacks(path):
    nodes = report(path)["nodes"]
    stacks = []
    for node in nodes:
        names, weight = [], node["count"]
        while weight and node["parent"] is not None:
            if not node.get("inlined"):  # perf is asked for functions that have a frame
                names.append(plain(node.get("system_name") or node["function"]))
            node = nodes[node["parent"]]
        if weight and names[0] != "[hcct]":
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


def compare(name, command):
    """[(function, our share, perf's)] of perf's hottest, of one run."""
    data, path = scratch("perf.data"), scratch("oracle.pb.gz")
    record_both(command, data, path)
    theirs, ours = perf_stacks(data), our_stacks(path)
    credited = sum(weight for _, weight in ours)
    check(len(theirs) > 1000 and credited > 10**9,
          f"{name}: {len(theirs)} samples of perf, {credited / 1e9:.2f} s of ours")
    true, seen = shares(theirs), shares(ours)
    return [(function, seen.get(function, 0), true[function]) for function in hottest(true)]


def agree(seen):
    return all(abs(share - true) <= POINTS for _, share, true in seen)


for name, rounds in (("oracle", "22"), ("oracle_cxx", "30")):
    for left in reversed(range(RUNS)):
        seen = compare(name, [target(name), rounds])
        if agree(seen) or left == 0:
            break
        print(f"{name}: the two do not agree: once more")
    for function, share, true in seen:
        check(abs(share - true) <= POINTS,
              f"{name}: {function[:60]}: {share:.2f} %, perf {true:.2f} %")
finish()
