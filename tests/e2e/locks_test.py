# SPDX-License-Identifier: LGPL-3.0-or-later
"""Sampled waits for locks: `lock` and `lock-waits` of a program that measures how long each of its contexts
waits, for every kind of lock; and a program that locks in all places where one may, which is answered the same.

Estimates are by chance. A context that waits for W in all is within 1.96 sqrt(R W) in 95 of 100 runs, R being
0.5 ms; here within six standard deviations. With --runs N: a table of N runs, in how many of them the 95 %
interval of each context holds the truth."""

import math
import os
import subprocess
import sys

from support import AGENT, HCCT, Daemon, check, finish, record, report, run, scratch, target, weights

MEAN = 500000
LOCKS = os.path.join(os.path.dirname(AGENT), "libhcctlocks.so")
WALK = 100000  # what a sample takes is in what the program measures: so much at most, on a busy machine


def one(metric):
    """(profile, {context: (estimate, truth, standard deviation)})"""
    path = scratch("truth.pb.gz")
    result = record([target("locks_truth")], path, "--metric", metric)
    if result.status != 0:
        raise SystemExit(result.err.decode())
    rows, known = {}, {}
    for line in result.out.decode().splitlines():
        name, ns, waits, inverse = line.split()
        known[name] = (int(ns), int(waits), float(inverse))
    found = weights(path, known)
    for name, (ns, waits, inverse) in known.items():
        if metric == "lock":
            rows[name] = (found[name], ns, math.sqrt(MEAN * ns))
        else:
            rows[name] = (found[name], waits, math.sqrt(MEAN * inverse))
    return report(path), rows


def table(runs):
    for metric in ("lock", "lock-waits"):
        held = {}
        for _ in range(runs):
            profile, rows = one(metric)
            for name, (seen, true, sigma) in rows.items():
                held[name] = held.get(name, 0) + (abs(seen - true) <= 1.96 * sigma)
            true = sum(row[1] for row in rows.values())
            half = profile["chance"]["total_half_width"]
            held["all"] = held.get("all", 0) + (abs(profile["total"] - true) <= half)
        print(metric, " ".join(f"{name} {n}" for name, n in held.items()), flush=True)


if len(sys.argv) > 2 and sys.argv[1] == "--runs":
    table(int(sys.argv[2]))
    finish()

# ---- how long it waits, and how often ----

for metric, kind in (("lock", ("delay", "nanoseconds")), ("lock-waits", ("contentions", "count"))):
    profile, rows = one(metric)
    check((profile["type"], profile["unit"]) == kind,
          f"{metric}: is called {profile['type']}, in {profile['unit']}")
    lost = sum(process["lost_ns"] for process in profile["processes"])
    for name, (seen, true, sigma) in rows.items():
        walks = WALK * seen / MEAN if metric == "lock" else 0
        check(true > 0 and true - 6 * sigma - lost - walks <= seen <= true + 6 * sigma,
              f"{metric}: {name}: {seen} seen, {true} true, standard deviation {sigma:.0f}")

# Of waits of some us each, which are met once in 100 at least, enough are met.
path = scratch("short.pb.gz")
result = record([target("locks_short")], path, "--metric", "lock-waits")
short = {name: int(n) for name, n in (line.split() for line in result.out.decode().splitlines())}
seen = weights(path, short)
walks = sum(process["walks"] for process in report(path)["processes"])
for name, true in short.items():
    check(abs(seen[name] - true) < 6 * math.sqrt(100 * true), f"short waits: {name}: {seen[name]} seen, {true} true")
expected = sum(short.values()) / 100
check(walks > expected - 4 * math.sqrt(expected), f"short waits: {walks} samples")

path = scratch("truth.pb.gz")
record([target("locks_truth")], path, "--metric", "lock")
words = run([HCCT, "report", path], env={"LC_ALL": "C.UTF-8", "COLUMNS": "200"}).out.decode()
check("waited for locks" in words and "at most; at least one of" in words,
      "the report says what is meant, and how far it can be off")

# ---- a program that is always on ----

with Daemon() as daemon:
    command = subprocess.run([target("locks_truth")], stdout=subprocess.PIPE,
                             env={**os.environ, **daemon.env(LD_PRELOAD=f"{AGENT}:{LOCKS}", HCCT_METRICS="lock",
                                                             HCCT_CLOCK="wall", HCCT_BURST="2ms/20ms")})
    run([HCCT, "hot", "--socket", daemon.socket, "-o", path, "--format", "pprof"])
true = int(command.stdout.split()[1])
seen = weights(path, ["waits_mutex"])["waits_mutex"]
check(abs(seen - true) < 6 * math.sqrt(MEAN * true) + WALK * seen / MEAN,
      f"always on, whatever settings of samples by time say: {seen} of {true}")

# ---- all kinds of locks, in all places ----

alone = run([target("locks_places")])
check(alone.status == 0 and b"EOWNERDEAD" in alone.out and b"EDEADLK" in alone.out,
      "the program that locks everywhere is right by itself")
for metric in ("lock", "lock-waits"):
    path = scratch("places.pb.gz")
    result = record([target("locks_places")], path, "--metric", metric, "--no-report")
    check((result.status, result.out) == (alone.status, alone.out),
          f"{metric}: each call answers what it answers without us\n{result.err.decode()}")
check(weights(scratch("places.pb.gz"), ["before_main"])["before_main"] > 0, "a wait before main is known")

# ---- what can't be ----

result = run([target("locks_places")], env={"LD_PRELOAD": AGENT, "HCCT_METRICS": "lock"})
check(result.out == alone.out and b"libhcctlocks.so must follow" in result.err,
      "the agent alone says what it needs")
result = run([target("locks_places")], env={"LD_PRELOAD": f"{AGENT}:{LOCKS}"})
check((result.out, result.err) == (alone.out, alone.err), "the library alone does nothing")
path = scratch("nothing.pb.gz")
result = record(["true"], path, "--metric", "lock")
check(b"waited too little" in result.err and not os.path.exists(path),
      "a program that does not wait has no profile, and is told why")
finish()
