# SPDX-License-Identifier: LGPL-3.0-or-later
"""Who lets others wait: `lock-held` of a program that notes when each of its contexts gives a lock back, and how
long others have waited up to then; what is nobody's is lost, and said; and programs that lock in all places where one
may, which are answered the same.

Estimates are by chance. A context that caused W of waiting is within 1.96 sqrt(R W) in 95 of 100 runs, R being
0.5 ms; here within six standard deviations."""

import json
import math
import os

from support import AGENT, HCCT, Daemon, check, finish, record, report, run, scratch, target, weights

MEAN = 500000
LOCKS = os.path.join(os.path.dirname(AGENT), "libhcctlocks.so")


def known_of(result):
    return {name: int(ns) for name, ns in (line.split() for line in result.out.decode().splitlines())}


# ---- the truth ----

path = scratch("held.pb.gz")
result = record([target("locks_held")], path, "--metric", "lock-held")
check(result.status == 0, f"the program ends as ever: {result.err.decode()}")
known = known_of(result)
found = weights(path, known)
profile = report(path)
check((profile["type"], profile["unit"]) == ("held_delay", "nanoseconds"), "it is called held_delay")
for name, true in known.items():
    sigma = math.sqrt(MEAN * true)
    # what a sample takes while the next one has the lock already is in what the program measures
    check(abs(found[name] - true) <= 6 * sigma + true / 20 + 200000,
          f"{name}: {found[name]} seen, {true} true, standard deviation {sigma:.0f}")
check(profile["total"] == sum(node["count"] for node in profile["nodes"]), "weights add up to N")
check(b"of others' waiting for locks" in result.err, "the report says that it is others who waited")

# ---- those who wait, beside those who let them wait ----

both = scratch("both.pb.gz")
result = record([target("locks_held")], both, "--metric", "lock,lock-held")
known = known_of(result)


def total(metric):
    status = run([HCCT, "report", "--format", "json", "--metric", metric, both])
    return json.loads(status.out)["total"]


waited, held = total("lock"), total("lock-held")
sigma = math.sqrt(MEAN * 2 * waited)
check(held <= waited + 6 * sigma, f"of {waited} that threads waited {held} is somebody's")
check(held >= 0.5 * waited - 6 * sigma, f"most of {waited} that threads waited is somebody's, {held}")

# ---- nobody's ----

with Daemon() as daemon:
    result = run([target("locks_held"), "give up"],
                 env=daemon.env(LD_PRELOAD=f"{AGENT}:{LOCKS}", HCCT_METRICS="lock-held,lock"))
    waited = known_of(result)["given_up"]
    held = [p for p in daemon.processes() if p["kind"] == "lock-held"]
    check(len(held) == 1 and held[0]["walks"] == 0, "where others give up nobody is charged")
    check(abs(held[0]["lost_ns"] - waited) <= 6 * math.sqrt(MEAN * waited) + waited / 10,
          f"but it is said to be lost: {held[0]['lost_ns']} of {waited}")

# ---- the application can't tell ----

alone = run([target("locks_places")])
for metric in ("lock-held", "lock,lock-held", "cpu,lock-waits,lock-held"):
    result = record([target("locks_places")], scratch("places.pb.gz"), "--metric", metric, "--no-report")
    check((result.status, result.out) == (alone.status, alone.out),
          f"{metric}: each call answers what it answers without us\n{result.err.decode()}")
result = run([target("locks_places")], env={"LD_PRELOAD": AGENT, "HCCT_METRICS": "lock,lock-held"})
check(result.out == alone.out and result.err.count(b"\n") == 1 and b"lock, lock-held can't be sampled: libhcctlocks.so "
      b"must follow" in result.err, f"the agent alone says what it needs: {result.err!r}")
finish()
