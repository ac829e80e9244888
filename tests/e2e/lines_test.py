# SPDX-License-Identifier: LGPL-3.0-or-later
"""Source lines of what is at work: a function whose two loops and one inlined callee take known
shares of its time. Each part's share is within 5 points of the truth: 1,000 walks are good to 3.2
points at 40 % in 95 of 100 runs, and there are nearly 3,000."""

import json
import os
import re
import subprocess

from support import HCCT, Daemon, check, finish, record, report, run, scratch, target


class Part:
    def __init__(self, line):
        name, begin, end, ns = line.split()
        self.name, self.begin, self.end, self.ns = name, int(begin), int(end), int(ns)


def parts_of(out):
    return [Part(line) for line in out.decode().splitlines()]


def own(nodes, begin, end, function):
    return sum(n["count"] for n in nodes if n.get("function") == function and
               begin <= n.get("line", 0) <= end)


def self_by_function(profile):
    sums = {}
    for node in profile["nodes"]:
        if "function" in node and node["count"] > 0:
            sums[node["function"]] = sums.get(node["function"], 0) + node["count"]
    return sums


def check_shares(what, parts, nodes):
    truth = sum(part.ns for part in parts)
    total = sum(n["count"] for n in nodes)
    for part in parts:
        function = "churn" if part.name == "inlined" else "work"
        share = 100 * own(nodes, part.begin, part.end, function) / total
        true_share = 100 * part.ns / truth
        check(abs(share - true_share) <= 5,
              f"{what}: {part.name}: {share:.1f} % of the time, {true_share:.1f} % is true")


def annotate(function, path):
    result = run([HCCT, "annotate", function, path])
    check(result.status == 0, f"annotate {function}")
    return result.out.decode()


# ---- with lines ----

path, trace = scratch("lines.pb.gz"), scratch("lines.trace")
result = record([target("lines"), "3"], path, "--lines", "--check", "--trace", trace)
parts = parts_of(result.out)
check(result.status == 0 and len(parts) == 3, "the program has run")
by_line = report(path, "--by", "line")
nodes = by_line["nodes"]
process = by_line["processes"][0]
check(process["lines"] is True, "the profile says that it has lines")
check_shares("--lines", parts, nodes)
check(process["checked"] > 1000 and process["different"] == 0,
      f"{process['checked']} walks made twice, {process['different']} differ")

inlined = [n for n in nodes if n.get("function") == "churn" and n["count"] > 0]
check(inlined and all(n.get("inlined") for n in inlined), "the inlined function is a frame")
callers = {nodes[n["parent"]].get("function") for n in inlined}
check(callers == {"work"}, f"it is called by work: {callers}")
calls = {nodes[n["parent"]].get("line") for n in inlined}
check(len(calls) == 1 and parts[1].end < calls.pop(), "on one line, below the loops")

by_function = report(path, "--by", "function")
check(self_by_function(by_function) == self_by_function(by_line),
      f"by function as by line: {self_by_function(by_function)}")
check(by_function["total"] == by_line["total"], "the total is the same")

text = annotate("work", path)
for part in parts[:2]:
    shown = sum(float(m.group(1)) for m in re.finditer(
        r"^ +([\d.]+) % +[\d.]+ % +(\d+)  ", text, re.M)
        if part.begin <= int(m.group(2)) <= part.end)
    share = 100 * own(nodes, part.begin, part.end, "work") / by_line["total"]
    check(abs(shown - share) < 0.1, f"annotate: {part.name}: {shown:.2f} %")
check("line not recorded" not in text and "--lines" not in text, "annotate has nothing to ask for")
check(f"{parts[2].begin + 1}  " in annotate("churn", path), "annotate shows the inlined function")

# ---- of a call that does not return ----

# One processor: the children are gone before hcctd has opened their file, which it knows by its build-id.
ended = scratch("ends.pb.gz")
processors = os.sched_getaffinity(0)
os.sched_setaffinity(0, {min(processors)})
result = record([target("ends"), "300", "0"], ended, "--lines", "--rate", "1000")
os.sched_setaffinity(0, processors)
line, of_ends = int(result.out), report(ended, "--by", "line")["nodes"]
callers = [of_ends[n["parent"]] for n in of_ends if n.get("function") == "[exit_group(2)]"]
seen = {(caller.get("function"), caller.get("line")) for caller in callers}
check(seen == {("leave", line)}, f"children end on line {line}: {seen}")

# ---- kept and made again ----

replayed = scratch("replayed.pb.gz")
result = run([HCCT, "replay", trace, "-o", replayed])
again = report(replayed, "--by", "line")
check(result.status == 0 and self_by_function(again) == self_by_function(by_line),
      "replay gives the same weights")
for part in parts:
    function = "churn" if part.name == "inlined" else "work"
    check(own(again["nodes"], part.begin, part.end, function) ==
          own(nodes, part.begin, part.end, function), f"and the same lines: {part.name}")

# ---- live, and of a while ----

with Daemon() as daemon:
    with open(scratch("live.out"), "wb") as out:
        live = subprocess.Popen([target("lines"), "4"], stdout=out,
                                env={**os.environ, **daemon.env(HCCT_LINES="1", HCCT_RATE="1000")})
        live.wait()
    parts_live = parts_of(open(scratch("live.out"), "rb").read())
    for window in [], ["--window", "1h"]:
        answer = run([HCCT, "hot", "--socket", daemon.socket, "--by", "line", "--format", "json",
                      *window])
        check(answer.status == 0, f"hot {' '.join(window)}")
        check_shares(f"hot {' '.join(window)}", parts_live, json.loads(answer.out)["nodes"])

# ---- without ----

bare = scratch("bare.pb.gz")
record([target("lines"), "2"], bare)
profile = report(bare, "--by", "line")
check(profile["processes"][0].get("lines", False) is False, "without --lines the profile has none")
work = sum(n["count"] for n in profile["nodes"] if n.get("function") == "work")
check(work >= 0.9 * profile["total"], "all weight is the function's")
check(not any(n.get("function") == "churn" for n in profile["nodes"]), "nothing is inlined")
text = annotate("work", bare)
check("line not recorded" in text, "annotate has no line of it")
check("hcct record --lines" in text, "and says how to get it")

# ---- how it is asked for ----

implied = scratch("implied.pb.gz")
record([target("lines"), "0.5"], implied, "--by", "line")
check(report(implied)["processes"][0]["lines"] is True, "--by line asks for lines")
result = record([target("lines"), "0.5"], scratch("none.pb.gz"), "--lines", "--collector", "calls")
check(result.status == 2 and b"--lines" in result.err, "no lines of calls: " + result.err.decode())

finish()
