#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-3.0-or-later
"""diff of two builds: the function that became slower by a tenth is the first of all contexts. Of two runs of the
same work, of which one has lost samples: nothing has changed for sure."""

import json
import os
import select
import signal
import subprocess
import sys
import time

from support import AGENT, HCCT, Daemon, check, finish, record, report, run, scratch, target

BLOCKS = os.path.join(os.path.dirname(AGENT), "libhcctblocks.so")
RATE = "4000"
SAMPLES = 12000  # with which the interval is half of the change
STOPPED = 2  # seconds: what stands still for 3 counts as gone, and what is allocated then is not counted


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


def said_to_have_changed(diff):
    """But for the slower one, and the kernel's clock, which has its good and bad days."""
    found = {names(diff, node): node["self"] for node in contexts(diff) if node["self"]["beyond"]}
    wrong = {name for name in found if "now_ns" not in name and not name.endswith("crunch")}
    for name in wrong:
        print(f"{name}: {found[name]}")
    return wrong


rounds = enough_rounds()
before, after = profile("steps", rounds), profile("steps_slow", rounds)
diff = compare(before, after)
first = contexts(diff)[0]
own = first["self"]
total = diff["total"]
kernel = [report(path)["kernel_ns"] for path in (before, after)]  # a twentieth, where a processor is always as fast
check(abs(total["after"] / total["before"] - kernel[1] / kernel[0]) < 0.01 and total["beyond"],
      f"the total rose by as much as the kernel has counted: {total}, {kernel}")
print(f"{diff['before']['samples']:.0f} and {diff['after']['samples']:.0f} samples; first is "
      f"{names(diff, first)}: {own['before'] / 1e9:.3f} -> {own['after'] / 1e9:.3f} s, "
      f"+-{own['interval'] / 1e9:.3f}")
check(diff["mode"] == "absolute" and diff["why"] == "same work", "the same work was done")
check(first["function"] == "crunch", "the slower function is first")
check(own["beyond"] and own["after"] > own["before"], "it grew by more than its error")
# One of two dozen may be by chance, or have been slower on a busy machine: not the same one each time.
wrong = said_to_have_changed(diff)
for again in range(2):
    if wrong:
        wrong &= said_to_have_changed(compare(profile("steps", rounds), profile("steps_slow", rounds)))
check(wrong == set(), f"no other function is said to have changed: {wrong}")
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

# ---- what was lost ----

ALLOCATES = """
import sys
print(flush=True)
sys.stdin.readline()
def below(n):
    return bytes(1000000) if n == 0 else max([n], key=lambda _: below(n - 1) and 0)
for i in range(75000):
    below(0)
    below(20)
print(flush=True)
sys.stdin.readline()
"""


def allocations(path, stopped):
    """The same work each time; where hcctd stands still in the middle of it most samples find no room, as
    each second one is far from the one before."""
    with Daemon() as daemon:
        program = subprocess.Popen([sys.executable, "-c", ALLOCATES], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   env={**os.environ, **daemon.env(), "LD_PRELOAD": f"{AGENT}:{BLOCKS}",
                                        "HCCT_METRICS": "alloc"})
        program.stdout.readline()
        if stopped:
            daemon.process.send_signal(signal.SIGSTOP)
        program.stdin.write(b"\n")
        program.stdin.flush()
        while stopped and not select.select([program.stdout], [], [], STOPPED)[0]:
            daemon.process.send_signal(signal.SIGCONT)
            time.sleep(0.5)
            daemon.process.send_signal(signal.SIGSTOP)
        daemon.process.send_signal(signal.SIGCONT)
        program.stdout.readline()
        program.communicate(b"\n")
        daemon.wait_for(lambda p: p["pid"] == program.pid and p["state"] == "finished")
        result = run([HCCT, "hot", "--socket", daemon.socket, "-o", path])
        check(result.status == 0, f"the profile can be had: {result.err.decode()}")
    return path


lossy, kept = allocations(scratch("lossy.pb.gz"), True), allocations(scratch("kept.pb.gz"), False)
for one, other in ((lossy, kept), (kept, lossy)):
    diff = compare(one, other)
    total = diff["total"]
    check(abs(total["after"] / total["before"] - 1) < 0.1, f"no more was allocated, with what was lost: {total}")
    check(diff["why"] == "lost" and diff["beyond"] == 0, f"nothing is said to have changed: {diff['why']}")
    result = run([HCCT, "diff", one, other])
    text = result.out.decode()
    check("\nlost      " in text and "too much was lost to tell" in text and "the same work was done, as" not in text,
          f"what was lost is said: {text[:700]}")
    result = run([HCCT, "diff", "--fail-above", "2%", one, other])
    check(result.status == 0, f"nothing has surely risen: {result.err.decode()}")
share = diff["after"]["lost"] / (diff["after"]["lost"] + diff["after"]["total"])
check(share > 0.1, f"of one {100 * share:.0f} % were lost")
check(diff["before"]["lost"] < 0.1 * diff["after"]["lost"], "of the other next to none")
finish()
