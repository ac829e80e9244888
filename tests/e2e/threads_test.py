# SPDX-License-Identifier: LGPL-3.0-or-later
"""Contexts by thread: a program whose threads have names, and take known shares of its CPU time, in a
file, live, in a window, replayed, and where calls are counted."""

import json
import os
import platform
import subprocess
import sys

from support import HCCT, Daemon, check, finish, folded, record, report, run, scratch, target

OPTIONS = ["--by", "thread", "--format", "json"]


class Truth:
    """By thread's name: CPU time, and calls of work()."""

    def __init__(self, out):
        self.ns, self.calls = {}, {}
        for line in out.decode().splitlines():
            name, ns, calls = line.split()
            self.ns[name] = self.ns.get(name, 0) + int(ns)
            self.calls[name] = self.calls.get(name, 0) + int(calls)


def by_thread(profile):
    """{name: count}; all of a thread's weight is its own."""
    return {n["function"].removeprefix("[thread ").removesuffix("]"): n["count"]
            for n in profile["nodes"] if "function" in n and n["count"] > 0}


def check_shares(what, truth, profile):
    """2,000 samples are good to 2.2 points at 50 % in 95 of 100 runs."""
    seen, all_ns = by_thread(profile), sum(truth.ns.values())
    check(set(seen) == set(truth.ns), f"{what}: {sorted(seen)}")
    for name, ns in truth.ns.items():
        share, true = 100 * seen.get(name, 0) / profile["total"], 100 * ns / all_ns
        check(abs(share - true) <= 5, f"{what}: {name} {share:.1f} %, {true:.1f} % is true")


# ---- in a file ----

path, trace = scratch("threads.pb.gz"), scratch("threads.trace")
result = record([target("named_threads"), "2"], path, "--threads", "--trace", trace)
truth = Truth(result.out)
check(result.status == 0 and len(truth.ns) == 4, "the program has run")
check_shares("record --threads", truth, report(path, "--by", "thread"))
by_function = report(path, "--by", "function")
check(by_function["total"] == report(path, "--by", "thread")["total"], "the total is the same")
# what it takes to read the clock is the program's, too: a tenth where system calls are dear
parts = ("work", "cpu_ns")
work = sum(n["count"] for n in by_function["nodes"]
           if n.get("function") in parts or "clock_gettime" in n.get("function", ""))
check(work > 0.9 * by_function["total"], "by function, work() and its clock have the time of all threads")
check(all(frames[1].startswith("[thread ") for frames, _ in folded(path)),
      "each context begins with its thread")
text = run([HCCT, "report", "--by", "thread", path]).out.decode()
check("Hottest threads" in text and "[thread writer]" in text and "[[threads]]" not in text, text)

replayed = scratch("replayed.pb.gz")
result = run([HCCT, "replay", trace, "-o", replayed])
check(result.status == 0 and by_thread(report(replayed, "--by", "thread")) ==
      by_thread(report(path, "--by", "thread")), "replay gives the same weights")

# ---- live, and of a while ----

with Daemon() as daemon:
    with open(scratch("live.out"), "wb") as out:
        subprocess.run([target("named_threads"), "2"], stdout=out, check=True,
                       env={**os.environ, **daemon.env(HCCT_THREADS="1", HCCT_RATE="1000")})
    live = Truth(open(scratch("live.out"), "rb").read())
    for window in [], ["--window", "1h"]:
        answer = run([HCCT, "hot", "--socket", daemon.socket, *OPTIONS, *window])
        check(answer.status == 0, f"hot {' '.join(window)}")
        check_shares(f"hot {' '.join(window)}", live, json.loads(answer.out))

# ---- calls ----

def check_calls():
    calls = scratch("calls.pb.gz")
    result = record([target("named_threads"), "0.5"], calls, "--threads", "--collector", "calls")
    truth, counted = Truth(result.out), {}
    for frames, weight in folded(calls):
        if frames[-1] == "work":
            counted[frames[1]] = counted.get(frames[1], 0) + weight
    check(counted == {f"[thread {name}]": n for name, n in truth.calls.items()},
          f"work() was called {truth.calls}, counted: {counted}")


if platform.machine() == "x86_64":  # elsewhere of instrumented programs alone
    check_calls()

# ---- how it is asked for ----

implied, bare = scratch("implied.pb.gz"), scratch("bare.pb.gz")
record([target("named_threads"), "0.3"], implied, "--by", "thread")
check("writer" in by_thread(report(implied, "--by", "thread")), "--by thread asks for threads")
record([target("named_threads"), "0.3"], bare)
check(list(by_thread(report(bare, "--by", "thread"))) == ["not recorded: see --threads"],
      "without, the report says how to get them")
check(all("[thread" not in frame for frames, _ in folded(bare) for frame in frames),
      "and there is no frame of a thread")

# A name may have a newline in it.
NAMED = """
import ctypes, threading, time
libc = ctypes.CDLL(None)
def work():
    libc.prctl(15, b"one\\ntwo", 0, 0, 0)  # PR_SET_NAME
    until = time.thread_time() + 0.4
    while time.thread_time() < until: pass
thread = threading.Thread(target=work)
thread.start()
thread.join()
"""
named = scratch("named.pb.gz")
record([sys.executable, "-c", NAMED], named, "--threads")
check(any("[thread one two]" in frames for frames, _ in folded(named)), "a thread's name is there beyond a newline")
finish()
