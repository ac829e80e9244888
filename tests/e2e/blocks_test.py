# SPDX-License-Identifier: LGPL-3.0-or-later
"""Sampled allocations: `alloc`, `heap` and their objects of a program that knows what it allocates and
keeps, in several threads and contexts; a leak between two looks at a running program; and a program that
allocates in all places where one may, which finds everything as it is without us.

Estimates are by chance. A context of W bytes is within 1.96 sqrt(R W) in 95 of 100 runs, R being 512 KiB at most for these; here
within six standard deviations, which all but one of 100 million are. With --runs N: a table of N runs,
in how many of them the 95 % interval of each context holds the truth."""

import math
import os
import re
import subprocess
import sys

from support import AGENT, HCCT, Daemon, check, finish, record, report, run, scratch, target, weights

MEAN = 512 * 1024
BLOCKS = os.path.join(os.path.dirname(AGENT), "libhcctblocks.so")
COLUMN = {"alloc": 1, "alloc-objects": 2, "heap": 3, "heap-objects": 4}
TYPE = {"alloc": ("alloc_space", "bytes"), "alloc-objects": ("alloc_objects", "count"),
        "heap": ("inuse_space", "bytes"), "heap-objects": ("inuse_objects", "count")}


def truth(lines):
    return {words[0]: list(map(float, words[1:])) for words in map(str.split, lines.decode().splitlines())}


def deviation(metric, row):
    """The standard deviation is at most this."""
    kept = metric.startswith("heap")
    if metric.endswith("objects"):
        return math.sqrt(MEAN * row[4 + kept])
    return math.sqrt(MEAN * row[2 * kept])


def one(metric):
    """(profile, {context: (estimate, truth, standard deviation)})"""
    path = scratch("truth.pb.gz")
    result = record([target("blocks_truth")], path, "--metric", metric)
    known = truth(result.out)
    if result.status != 0 or not known:
        raise SystemExit(result.err.decode())
    found, column = weights(path, known), COLUMN[metric] - 1
    return report(path), {name: (found[name], row[column], deviation(metric, row))
                          for name, row in known.items()}


def intervals(profile):
    """{function: half width of the 95 % interval of what it weighs itself}, as it is printed."""
    return {row["function"]: row.get("self_half_width", 0) for row in profile["functions"]}


def table(runs):
    """In how many runs the printed interval of each context holds the truth."""
    for metric in COLUMN:
        held, mean = {}, {}
        for _ in range(runs):
            profile, rows = one(metric)
            half = intervals(profile)
            for name, (seen, true, _) in rows.items():
                if true > 0:
                    held[name] = held.get(name, 0) + (abs(seen - true) <= half.get(name, 0))
                    mean[name] = mean.get(name, 0) + seen / true / runs
            true = sum(row[1] for row in rows.values())
            lost = sum(process["lost_ns"] for process in profile["processes"])
            held["all"] = held.get("all", 0) + (abs(profile["total"] - true) <= profile["chance"]["total_half_width"])
            mean["all"] = mean.get("all", 0) + profile["total"] / true / runs
            mean["lost"] = mean.get("lost", 0) + lost / true / runs
        print(metric, " ".join(f"{name} {n} ({mean[name]:.3f})" for name, n in held.items()),
              f"lost {mean['lost']:.4f}", flush=True)


if len(sys.argv) > 2 and sys.argv[1] == "--runs":
    table(int(sys.argv[2]))
    finish()

# ---- what it allocates and keeps ----

for metric in COLUMN:
    profile, rows = one(metric)
    check((profile["type"], profile["unit"]) == TYPE[metric],
          f"{metric}: is called {profile['type']}, in {profile['unit']}")
    lost = sum(process["lost_ns"] for process in profile["processes"])
    for name, (seen, true, sigma) in rows.items():
        check(true - 6 * sigma - lost <= seen <= true + 6 * sigma,
              f"{metric}: {name}: {seen} seen, {true} true, standard deviation {sigma:.0f}")

path = scratch("text.pb.gz")
record([target("blocks_truth")], path, "--metric", "heap")
words = run([HCCT, "report", path], env={"LC_ALL": "C.UTF-8", "COLUMNS": "200"}).out.decode()
process = report(path)["processes"][0]
check(process["walks"] > 500 and process["handler_ns"] > 200 * process["walks"],
      f"{process['walks']} samples took {process['handler_ns'] / 1e6:.1f} ms")
check("% of the CPU time was spent on these samples" in words, "the report says what they cost")
check("allocated and not freed" in words and re.search(r"1\.00 MiB ±[0-9.]+ [KM]iB at most", words) is not None,
      "the report says what is meant, and how far it can be off")

# ---- a leak, in a running program ----

with Daemon() as daemon:
    command = subprocess.Popen([target("blocks_truth"), "leak"], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE,
                               env={**os.environ, **daemon.env(LD_PRELOAD=f"{AGENT}:{BLOCKS}",
                                                               HCCT_METRICS="heap")})
    marks = []
    for i in range(2):
        check(command.stdout.readline() == b"ready\n", f"mark {i + 1} is reached")
        marks.append(scratch(f"mark-{i}.pb.gz"))
        run([HCCT, "hot", "--socket", daemon.socket, "-p", str(command.pid), "-o", marks[-1],
             "--format", "pprof"])
        command.stdin.write(b"on\n")
        command.stdin.flush()
    check(command.wait(60) == 0, "the program has ended")
before, after = (weights(mark, ["leaks", "large"]) for mark in marks)
check(before["leaks"] == 0 and abs(after["leaks"] - 8e6) < 6 * math.sqrt(MEAN * 8e6),
      f"the leak was {before['leaks']}, and is {after['leaks']} of 8000000")
check(before["large"] == after["large"] > 0, "what is kept weighs the same, to the byte")
difference = run([HCCT, "diff", *marks], env={"LC_ALL": "C.UTF-8", "COLUMNS": "200"})
first = next((line for line in difference.out.decode().splitlines() if "leaks" in line), "")
check(difference.status == 0 and "+" in first, f"hcct diff names it: {first.strip()}")

# ---- where one may allocate ----

alone = run([target("blocks_places")])
check(alone.status == 0 and b"NOT" not in alone.out, "the program that allocates everywhere is right by itself")
for metric in ("alloc", "heap"):
    path = scratch("places.pb.gz")
    result = record([target("blocks_places")], path, "--metric", metric, "--no-report")
    check((result.status, result.out) == (alone.status, alone.out),
          f"{metric}: it finds everything as it is without us\n{result.err.decode()}")
check(weights(scratch("places.pb.gz"), ["before_main"])["before_main"] > 0,
      "what is allocated before main is known")

# settings of samples by time change nothing
path = scratch("settings.pb.gz")
with Daemon() as daemon:
    run([target("blocks_truth")], env=daemon.env(LD_PRELOAD=f"{AGENT}:{BLOCKS}", HCCT_METRICS="heap",
                                                 HCCT_LINES="yes", HCCT_CLOCK="wall", HCCT_CHECK="yes",
                                                 HCCT_BURST="2ms/20ms"))
    run([HCCT, "hot", "--socket", daemon.socket, "-o", path, "--format", "pprof"])
seen = weights(path, ["large"])["large"]
check(report(path)["type"] == "inuse_space" and abs(seen - 36e6) < 6 * math.sqrt(MEAN * 36e6),
      f"with lines, bursts and the wall clock: {seen} of 36000000")

# ---- children of fork, each of which has its own chance ----

path = scratch("forked.pb.gz")
FORKS = """import os
for _ in range(8):
    pid = os.fork()
    if pid == 0:
        for _ in range(100):
            bytearray(100000)
        os._exit(0)
    os.waitpid(pid, 0)
"""
record([sys.executable, "-c", FORKS], path, "--metric", "alloc")
totals = [process["total"] for process in report(path)["processes"]]
check(len(set(totals)) >= 4, f"children of fork differ by chance: {totals}")

# ---- what can't be ----

path = scratch("refused.pb.gz")
result = run([target("blocks_places")], env={"LD_PRELOAD": AGENT, "HCCT_METRICS": "heap"})
check(result.out == alone.out and b"libhcctblocks.so must follow" in result.err,
      "the agent alone says what it needs")
for options, word in ((["--rate", "100"], b"--rate"), (["--lines"], b"--lines"),
                      (["--collector", "calls"], b"--metric"), (["--trace", scratch("t")], b"--trace")):
    result = record(["true"], path, "--metric", "heap", *options)
    check(result.status == 2 and word in result.err, f"{options[0]} does not go with it: says so")
result = record(["true"], path, "--metric", "tea")
check(result.status == 2 and b"cpu, wait, alloc" in result.err, "an unknown metric is named")
result = record(["true"], path, "--metric", "heap")
check(b"allocated too little" in result.err, "a program without a sample is said to have none")
finish()
