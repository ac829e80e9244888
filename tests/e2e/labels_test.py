# SPDX-License-Identifier: LGPL-3.0-or-later
"""Labels that a program sets by hcct.h: a server of two routes whose shares are known, in a file, live,
by the wall clock and of allocations; in a child of fork; of a program that was there before hcctd; in
C++; more values than there is room for; and a program that stops its sampling."""

import json
import os
import subprocess
import sys
import time

from support import (AGENT, BUILD, HCCT, Daemon, check, finish, folded, record, report, run, scratch,
                     target)

LABELS, CPP = target("labels"), target("labels_cpp")
BY_LABEL = ["--by", "label", "--format", "json"]


def truth_of(out):
    return {name: int(ns) for name, ns in (line.rsplit(" ", 1) for line in out.decode().splitlines())}


def by_label(profile):
    """{label: count}, of the innermost one."""
    counts = {}
    for node in profile["nodes"]:
        if node["count"] > 0 and "function" in node:
            counts[node["function"]] = counts.get(node["function"], 0) + node["count"]
    return counts


def check_shares(what, truth, profile, points=5):
    """2,000 samples are good to 2.2 points at 50 % in 95 of 100 runs."""
    seen, all_ns = by_label(profile), sum(truth.values())
    check(set(truth) <= set(seen), f"{what}: {sorted(seen)}")
    for name, ns in truth.items():
        share, true = 100 * seen.get(name, 0) / profile["total"], 100 * ns / all_ns
        check(abs(share - true) <= points, f"{what}: {name} {share:.1f} %, {true:.1f} % is true")


# ---- in a file ----

path, trace = scratch("labels.pb.gz"), scratch("labels.trace")
for _ in range(3):
    result = record([LABELS, "shares", "2"], path, "--trace", trace)
    profile = report(path)
    if sum(p["lost_ns"] for p in profile["processes"]) < profile["total"] / 50:
        break  # else hcctd had no processor: what threads used that it had yet to make room for is missing
truth = truth_of(result.out)
check(result.status == 0 and len(truth) == 3, "the program has run")
check_shares("record", truth, report(path, "--by", "label"))
stacks = folded(path)
for frames, _ in stacks:
    check("main" not in frames or not frames[1].startswith("route="),
          f"the main thread has no label: {frames}")  # who serves keeps its last one to its end
first = sum(n for frames, n in stacks if "serve" in frames and not frames[1].startswith("route="))
check(first < sum(n for _, n in stacks) / 100, "who serves has one, but for its first moment")
by_function = report(path, "--by", "function")
check(by_function["total"] == report(path, "--by", "label")["total"], "the total is the same")
text = run([HCCT, "report", "--by", "label", path]).out.decode()
check("Hottest labels" in text and "route=/pay" in text and "[no label]" in text and
      "[[labels]]" not in text and "a label was set for which there was no room" not in text, text)
replayed = scratch("replayed.pb.gz")
result = run([HCCT, "replay", trace, "-o", replayed])
check(result.status == 0 and by_label(report(replayed, "--by", "label")) ==
      by_label(report(path, "--by", "label")), "replay gives the same weights")

named = scratch("named.pb.gz")
result = record([LABELS, "shares", "1"], named, "--threads")
check_shares("with --threads", truth_of(result.out), report(named, "--by", "label"), 8)
check(all(frames[1].startswith("[thread ") for frames, _ in folded(named)),
      "the thread stands above its labels")

# ---- the program can't tell ----

plain = run([LABELS, "values", "3000", "1"])
agent = run([LABELS, "values", "3000", "1"],
            env={"LD_PRELOAD": AGENT, "HCCT_SOCKET": scratch("nobody.sock")})
check((plain.status, plain.out, plain.err) == (agent.status, agent.out, agent.err) == (0, b"3000\n", b""),
      "with and without the agent the output is the same")

# ---- the wall clock, allocations ----

wall = scratch("wall.pb.gz")
result = record([LABELS, "shares", "1"], wall, "--clock", "wall")
seen = by_label(report(wall, "--by", "label"))
check(result.status == 0 and {"route=/pay", "route=/list", "[no label]"} <= set(seen), f"wall: {seen}")
check(seen["route=/pay"] > 1.3 * seen["route=/list"], f"wall: {seen}")

alloc = scratch("alloc.pb.gz")
result = record([LABELS, "alloc"], alloc, "--metric", "alloc")
profile = report(alloc, "--by", "label")
pay = by_label(profile).get("route=/pay", 0) / profile["total"]
check(result.status == 0 and abs(pay - 0.75) < 0.11, f"allocated for /pay: {pay:.3f}")  # of 400 samples

# ---- live, and of a while ----

with Daemon() as daemon:
    result = run([LABELS, "shares", "2"], env=daemon.env(HCCT_RATE="1000"))
    truth = truth_of(result.out)
    for window in [], ["--window", "1h"]:
        answer = run([HCCT, "hot", "--socket", daemon.socket, *BY_LABEL, *window])
        check(answer.status == 0, f"hot {' '.join(window)}")
        check_shares(f"hot {' '.join(window)}", truth, json.loads(answer.out))

# ---- a child of fork ----

forked = scratch("forked.pb.gz")
result = record([LABELS, "fork"], forked)
check(result.status == 0 and result.out == b"0\n", "the child has run")
stacks = folded(forked)
child = [(frames, n) for frames, n in stacks if "child" in frames]
check(child and all(frames[1] == "route=/pay" for frames, _ in child), f"the child has its label: {child}")
check(all(frames[1] != "route=/pay" for frames, _ in stacks if "unlabelled" in frames),
      "and none when it has cleared it")

# ---- before hcctd ----

late = Daemon()
early = subprocess.Popen([LABELS, "early"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                         env=late.env(HCCT_RATE="1000"))
check(early.stdout.readline() == b"labelled\n", "it has its label")
time.sleep(0.2)
with late:
    process = late.wait_for(lambda p: p["pid"] == early.pid and p["walks"] > 100)
    check(process is not None, "it is sampled")
    early.stdin.close()
    check(early.wait(60) == 0, "it has ended")
    seen = by_label(json.loads(run([HCCT, "hot", "--socket", late.socket, *BY_LABEL]).out))
    check(seen.get("route=/pay", 0) > 0.9 * sum(seen.values()), f"set before hcctd came: {seen}")

# ---- a daemon that is restarted ----

state = scratch("state")
kept = Daemon("--state-dir", state, "--checkpoint", "1").start()
early = subprocess.Popen([LABELS, "early"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                         env=kept.env(HCCT_RATE="1000"))
check(kept.wait_for(lambda p: p["pid"] == early.pid and p["walks"] > 100) is not None, "it is sampled")
check(kept.stop() == 0, "hcctd ends")
kept.start()
check(kept.wait_for(lambda p: p["pid"] == early.pid and p["state"] == "live") is not None,
      "it goes on with the next one")
time.sleep(0.3)
early.stdin.close()
check(early.wait(60) == 0, "it has ended")
kept.wait_for(lambda p: p["pid"] == early.pid and p["state"] == "finished")
seen = by_label(json.loads(run([HCCT, "hot", "--socket", kept.socket, *BY_LABEL]).out))
check(seen.get("route=/pay", 0) > 0.9 * sum(seen.values()) and len(seen) <= 2, f"over a restart: {seen}")
check(kept.stop() == 0, "hcctd ends with status 0")

# ---- more values than there is room for ----

flood = scratch("flood.pb.gz")
result = record([LABELS, "values", "4000", "100000"], flood)
profile = report(flood, "--by", "label")
seen = by_label(profile)
check(len(seen) <= 1001, f"{len(seen)} labels")
other = 100 * seen.get("request=[other]", 0) / profile["total"]
check(abs(other - 75) < 10, f"request=[other] has {other:.1f} %, 75 % is true")
text = run([HCCT, "report", flood]).out.decode()
check("labels    3,001 times a label was set for which there was no room" in text, text)

# ---- keys that can be none ----

KEYS = """
import ctypes, time
label = ctypes.CDLL(None).hcct_label_set
for i in range(7):
    label(b"request id", b"x")
label(b"kind", b"good")
begin = time.thread_time()
while time.thread_time() - begin < 0.3:
    pass
"""
keys = scratch("keys.pb.gz")
record([sys.executable, "-c", KEYS], keys)
text = run([HCCT, "report", keys]).out.decode()
check("labels    7 times a label was set by a key that can be none" in text and
      "for which there was no room" not in text, text)
check(report(keys)["processes"][0].get("labels_invalid") == 7, "the profile has how many there were")
check("kind=good" in by_label(report(keys, "--by", "label")), "a key that can be one is shown")

# ---- C++ ----

cpp = scratch("cpp.pb.gz")
check(run([CPP]).status == 0, "it runs without the agent")
result = record([CPP], cpp)
profile = report(cpp, "--by", "label")
roots = {}
for frames, n in folded(cpp):
    outer = tuple(f for f in frames[1:3] if "=" in f)
    roots[outer] = roots.get(outer, 0) + n
whole = sum(roots.values())
for outer, share in ((("route=/pay",), 1 / 6), (("route=/list",), 1 / 6), ((), 1 / 3),
                     (("route=/pay", "tenant=b"), 1 / 6), (("route=/list", "tenant=b"), 1 / 6)):
    check(abs(roots.get(outer, 0) / whole - share) < 0.07, f"C++: {outer} {roots.get(outer, 0) / whole:.3f}")

# ---- another language ----

code = """
import ctypes, time
hcct = ctypes.CDLL(None)
def serve(route):
    hcct.hcct_label_set(b"route", route)
    end = time.process_time() + 0.4
    while time.process_time() < end:
        pass
serve(b"/pay")
serve("/größe".encode())
"""
python = scratch("python.pb.gz")
result = record([sys.executable, "-c", code], python)
profile = report(python, "--by", "label")
seen = by_label(profile)
check(result.status == 0 and all(seen.get(name, 0) > 0.3 * profile["total"]
                                 for name in ("route=/pay", "route=/größe")), f"python: {seen}")

# ---- OpenTelemetry's thread context ----

LIBRARIES = os.path.join(BUILD, "tests", "targets")
for command in ([target("otel"), "0.5"],
                *([target("otel_opened"), "0.5", os.path.join(LIBRARIES, f"otel_{how}.so")]
                  for how in ("call", "descriptor", "place"))):
    otel = scratch("otel.pb.gz")
    result = record(command, otel)
    profile = report(otel, "--by", "label")
    seen = by_label(profile)
    pay = seen.get("http.route=/pay", 0) / profile["total"]
    check(result.status == 0 and 0.65 < pay < 0.85, f"{command}: {pay:.3f} for one route")
    check(set(seen) <= {"http.route=/pay", "http.route=/list", "[no label]"} and
          seen.get("[no label]", 0) < 0.05 * profile["total"], f"routes alone: {seen}")
result = record([target("otel"), "0.5"], otel, env={"HCCT_LABELS": "0"})
check(result.status == 0 and set(by_label(report(otel, "--by", "label"))) == {"[no label]"},
      "HCCT_LABELS=0: none")

# ---- stop and start ----

stopped = scratch("stopped.pb.gz")
result = record([LABELS, "stop"], stopped)
names = {frames[-1 - i] for frames, _ in folded(stopped) for i in range(len(frames))}
check(result.status == 0 and "seen" in names and "unseen" not in names, f"stop and start: {names}")

with Daemon() as daemon:
    early = subprocess.Popen([sys.executable, "-c", """
import ctypes, sys
hcct = ctypes.CDLL(None)
hcct.hcct_stop()
print(flush=True)
while True:
    pass
"""], stdout=subprocess.PIPE, env=daemon.env(HCCT_RATE="1000"))
    early.stdout.readline()
    process = daemon.wait_for(lambda p: p["pid"] == early.pid and p["sampling"] == "off")
    check(process is not None, "hcct list shows that it is not sampled")
    early.kill()
    early.wait()

finish()
