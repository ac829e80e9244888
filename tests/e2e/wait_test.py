# SPDX-License-Identifier: LGPL-3.0-or-later
"""Time off the processor alone (--metric wait): where a program sleeps it is there in full, what it computes
is not, and all of it is elapsed time less CPU time."""

from support import AGENT, HCCT, Daemon, check, finish, folded, record, report, run, scratch, target

path = scratch("wait.pb.gz")
SLEEPS = ("nanosleep", "usleep", "poll", "select", "read", "futex")


def contexts(out):
    spent = {}
    for line in out.decode().splitlines():
        ns, name = line.split()
        spent[name] = int(ns)
    seen = dict.fromkeys(spent, 0)
    for frames, weight in folded(path):
        for name in spent:
            if name in frames:
                seen[name] += weight
    return spent, seen


def compare(what, out, cpu_ns):
    spent, seen = contexts(out)
    total = sum(spent.values())
    for name, ns in spent.items():
        if name != "compute":
            check(abs(seen[name] - ns) <= 0.05 * total,
                  f"{what}: {name}: {100 * seen[name] / total:.1f} % of the time, {100 * ns / total:.1f} % is true")
    # what it computes takes as long as the CPU time of it, and as others are in its way
    off = total - cpu_ns
    check(abs(sum(seen.values()) - off) <= 0.05 * total,
          f"{what}: {sum(seen.values()) / 1e9:.2f} s off the processor, {off / 1e9:.2f} are true")


result = record([target("sleepy"), "4"], path, "--metric", "wait", "--rate", "1000")
profile = report(path)
check(result.status == 0, "the program ended with status 0")
check((profile["type"], profile["unit"]) == ("wait", "nanoseconds"), "it is called wait, in nanoseconds")
compare("record", result.out, sum(process["cpu_ns"] for process in profile["processes"]))
words = run([HCCT, "report", path], env={"LC_ALL": "C.UTF-8", "COLUMNS": "200"}).out.decode()
check("off the processor" in words, "the report says what is meant")

with Daemon() as daemon:
    result = run([target("sleepy"), "4"], env=daemon.env(LD_PRELOAD=AGENT, HCCT_METRICS="wait", HCCT_RATE="1000"))
    run([HCCT, "hot", "--socket", daemon.socket, "-o", path, "--format", "pprof"])
    # beside one that is sampled by CPU time
    run([target("sleepy"), "1"], env=daemon.env(LD_PRELOAD=AGENT, HCCT_RATE="1000"))
    both = run([HCCT, "hot", "--socket", daemon.socket])
    check(both.status != 0 and b"CPU time, elapsed time" in both.err, "CPU time and waits do not add up: says so")
    for metric, words in (("wait", b"off the processor"), ("cpu", b"of CPU time")):
        one = run([HCCT, "hot", "--socket", daemon.socket, "--metric", metric])
        check(one.status == 0 and words in one.out, f"hcct hot --metric {metric}: one of them")
    one = run([HCCT, "hot", "--socket", daemon.socket, "--metric", "tea"])
    check(one.status != 0 and b"lock-waits" in one.err, "a metric that there is not: says which there are")
compare("always on", result.out, sum(process["cpu_ns"] for process in report(path)["processes"]))

for options in (["--clock", "wall"], ["--burst", "2ms/20ms"]):
    result = record(["true"], path, "--metric", "wait", *options)
    check(result.status == 2 and b"--metric wait" in result.err, f"{options[0]} does not go with it: says so")
result = record([target("worker"), "1"], scratch("none.pb.gz"), "--metric", "wait")
check(b"wait" in result.err or b"off the processor" in result.err, "one that computes is not called idle")
finish()
