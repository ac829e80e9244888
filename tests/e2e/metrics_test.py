# SPDX-License-Identifier: LGPL-3.0-or-later
"""Several metrics in one run: a program that knows what it computes, allocates, keeps and waits for is recorded
with all of them at once. Each metric holds the truth within its interval, as in a run of its own; each is chosen by
its name, from the one file and from a running hcctd; and the program, or whoever counts CPU time alone, can't tell.

Estimates are by chance: within six standard deviations here."""

import gzip
import json
import math
import os
import re
import socket
import subprocess
import sys

from support import AGENT, HCCT, Daemon, check, finish, record, report, run, scratch, target

BLOCKS_MEAN, LOCKS_MEAN = 524288, 500000
SIX = 6
PROGRAM = [target("metrics"), "150"]
LIBRARIES = ":".join([AGENT] + [os.path.join(os.path.dirname(AGENT), f"libhcct{name}.so")
                                 for name in ("blocks", "locks")])
NEEDED = {"cpu": ("cpu", "nanoseconds"), "alloc": ("alloc_space", "bytes"), "heap": ("inuse_space", "bytes"),
          "lock": ("delay", "nanoseconds"), "lock-waits": ("contentions", "count"), "faults": ("faults", "count")}


def text(*command, **more):
    result = run([HCCT, *command], env={"LC_ALL": "C.UTF-8", "COLUMNS": "200"}, **more)
    return result.status, result.out.decode(), result.err.decode()


def shown(path, metric):
    status, out, err = text("report", "--format", "json", "--metric", metric, path)
    if status != 0:
        raise SystemExit(err)
    return json.loads(out)


def folded(path, metric):
    """{name: weight of all contexts with it}"""
    sums = {}
    for line in text("report", "--format", "folded", "--metric", metric, path)[1].splitlines():
        frames, _, weight = line.rpartition(" ")
        for name in set(frames.split(";")):
            sums[name] = sums.get(name, 0) + int(weight)
    return sums


def page_types(path):
    """What the metrics of a page count, the one that is shown first."""
    with open(path, encoding="utf-8") as page:
        blocks = re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', page.read(), re.S)
    return [json.loads(block)["type"] for block in blocks]


def get(path, what):
    """The body that hcctd answers with."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        connection.sendall(f"GET {what} HTTP/1.0\r\nHost: hcct\r\n\r\n".encode())
        return b"".join(iter(lambda: connection.recv(65536), b"")).partition(b"\r\n\r\n")[2].decode()


def truth(out):
    known = dict(line.split() for line in out.decode().splitlines())
    return {name: int(number) for name, number in known.items()}


def near(seen, true, sigma, what, more=0):
    check(true - SIX * sigma <= seen <= true + SIX * sigma + more,
          f"{what}: {seen} seen, {true} true, standard deviation {sigma:.0f}")


def check_all(path, known, metrics):
    for metric in metrics:
        profile = shown(path, metric)
        check((profile["type"], profile["unit"]) == NEEDED[metric], f"{metric} is called {profile['type']}")
        others = ", ".join(other for other in metrics if other != metric)
        check(profile.get("others", "") == others, f"{metric}: beside it are {others or 'none'}")
        check(profile["total"] == sum(node["count"] for node in profile["nodes"]) > 0,
              f"{metric}: weights add up to N")
        sums = folded(path, metric)
        if metric == "cpu":
            for name in ("few", "many"):
                true = known[f"{name}_ns"]
                # samples are 1 ms apart, and what runs before a timer's first tick is an estimate
                near(sums.get(f"compute_{name}", 0), true, math.sqrt(2e6 * true), f"cpu of {name}", true / 10)
        elif metric in ("alloc", "heap"):
            for name in ("small", "large"):
                true = known[f"{name}_bytes"] / (5 if metric == "heap" else 1)
                near(sums.get(f"allocate_{name}", 0), true, math.sqrt(BLOCKS_MEAN * true), f"{metric} of {name}")
        elif metric == "lock":
            true = known["waited_ns"]
            near(sums.get("wait_for_lock", 0), true, math.sqrt(LOCKS_MEAN * true), "lock", true / 10)
        elif metric == "faults":
            # at samples of CPU time: of all of them some before the first and after the last are missing
            total, touched = profile["total"], sums.get("touch_pages", 0)
            check(0.7 * known["touched"] <= total <= 1.1 * known["faults"] + 1000,
                  f"faults: {total} seen, of {known['touched']} pages touched {known['faults']}")
            check(touched > 0.5 * total, f"faults: {touched} of {total} where pages are touched")
            check("chance" not in profile, "faults: no interval is promised")
        else:
            check(sums.get("wait_for_lock", 0) <= 2 * 150 * 1.5, "lock-waits: no more than there were")


# ---- the truth, at once and one by one ----

plain = run(PROGRAM)
together = scratch("together.pb.gz")
metrics = ["cpu", "alloc", "heap", "lock", "lock-waits", "faults"]
result = record(PROGRAM, together, "--metric", ",".join(metrics))
check(result.status == plain.status == 3, "the program ends as without a profiler")
MEASURED = rb"(?m)^(few_ns|many_ns|waited_ns|faults) \d+"
check(re.sub(MEASURED, b"", result.out) == re.sub(MEASURED, b"", plain.out), "and says the same")
check_all(together, truth(result.out), metrics)
check(b"others" in result.err and b"alloc, heap, lock, lock-waits, faults" in result.err,
      "the report on stderr says that there are others")

for metric in ("alloc", "lock", "faults"):
    alone = scratch(f"{metric}.pb.gz")
    result = record(PROGRAM, alone, "--metric", metric)
    check_all(alone, truth(result.out), [metric])

other_way = scratch("other.pb.gz")
result = record(PROGRAM, other_way, "--metric", "heap,cpu")
check(report(other_way)["type"] == "inuse_space", "the first one named is shown first")
check_all(other_way, truth(result.out), ["heap", "cpu"])

# ---- who counts CPU time alone has nothing of it ----

for options, libraries in (((), []), (("--metric", "cpu,heap"), ["blocks"]), (("--metric", "cpu,lock"), ["locks"]),
                           (("--metric", "faults"), [])):
    maps = record(["cat", "/proc/self/maps"], scratch("maps.pb.gz"), "--no-report", *options).out.decode()
    there = [name for name in ("blocks", "locks") if f"libhcct{name}.so" in maps]
    check("libhcctagent.so" in maps and there == libraries, f"{options}: beside the agent are {libraries}")

# ---- the file ----

plain_bytes = gzip.open(together).read()
for metric in metrics:
    name = NEEDED[metric][0].encode()
    check(name in plain_bytes and name + b"_error" in plain_bytes, f"{metric} and its error are sample types")
status, out, err = text("report", "--metric", "faulty", together)
check(status != 0 and "it has cpu, alloc, heap, lock, lock-waits, faults" in err, "an unknown metric: which there are")
status, out, err = text("report", "--format", "speedscope", together)
check(status == 0 and "left out alloc, heap, lock, lock-waits, faults" in err, "a format for one metric says what it lacks")
status, out, err = text("report", "--metric", "lock", together)
check("wait_for_lock" in out and "others" in out, "the text has the metric, and names the others")
check("[hcct]" not in out, "the function that waits is the innermost one, though calls that can sleep go by the agent")
single = scratch("single.pb.gz")
check(text("report", "--metric", "heap", "-o", single, together)[0] == 0, "one metric in a file of its own")
check(shown(single, "heap")["total"] == shown(together, "heap")["total"], "is the same there")
again = scratch("sum.pb.gz")
check(text("merge", "--metric", "alloc", "-o", again, together, together)[0] == 0, "merge by metric")
check(report(again)["total"] == 2 * shown(together, "alloc")["total"], "adds up")

# all metrics, each over the files that have it
status, out, err = text("merge", "-o", again, together, other_way)
check(status == 0 and "alloc is in 1 of 2 profiles" in err and "cpu" not in err, f"merge of all metrics: {err!r}")
for metric in metrics:
    parts = [shown(path, metric)["total"] for path in (together, other_way) if metric in ("cpu", "heap") or path == together]
    check(shown(again, metric)["total"] == sum(parts), f"{metric} of both is added up")
check(shown(again, "heap")["chance"]["total_half_width"] >= shown(together, "heap")["chance"]["total_half_width"],
      "and so is its error")
both = run([HCCT, "merge", "-o", scratch("both.pb.gz"), "-", other_way], stdin=open(together, "rb"))
check(both.status == 0 and gzip.open(scratch("both.pb.gz")).read() == gzip.open(again).read(), "also from standard input")
status, out, err = text("merge", together, other_way)
check(status == 0 and "text has one metric, cpu: left out" in err, f"the text is of one: says so: {err!r}")
status, out, err = text("merge", "-o", again, scratch("lock.pb.gz"), other_way)
check(status == 1 and "no metric that" in err and err.count("\n") == 1, f"with no metric in common: {err!r}")
status, out, err = text("diff", "--metric", "heap", together, together)
check(status == 0 and "allocate_large" in out or "no" in out.lower(), "diff by metric")

# ---- what can't be together ----

for words, sentence in (("cpu,wait", "by one timer"), ("heap,heap-objects", "one table"), ("cpu,cpu", "named twice"),
                        ("faults,wait", "samples of CPU time"),
                        ("cpu,", "there is no metric"), ("cpu,calls", "there is no metric")):
    status, out, err = text("record", "--metric", words, "--", "true")
    check(status != 0 and sentence in err and err.count("\n") == 1, f"{words}: refused in one sentence: {err!r}")
said = run([target("metrics"), "2"], env={"LD_PRELOAD": AGENT, "HCCT_METRICS": "cpu,wait",
                                          "HCCT_SOCKET": scratch("none")})
check(said.status == 3 and said.err.count(b"\n") == 1 and b"HCCT_METRICS" in said.err,
      "the agent names a value that can't be, and the program runs")

# ---- snapshots ----

ASLEEP = "import time, ctypes; x = [bytes(100000) for _ in range(300)]\nfor i in range(10**6): pass\nprint(flush=True); time.sleep(60)"
with Daemon("--report-format", "pprof") as daemon:
    asleep = subprocess.Popen([sys.executable, "-c", ASLEEP], stdout=subprocess.PIPE,
                              env={**os.environ, **daemon.env(), "LD_PRELOAD": LIBRARIES, "HCCT_METRICS": "heap,cpu",
                                   "HCCT_RATE": "1000"})
    asleep.stdout.readline()
    status, out, err = text("snapshot", "--socket", daemon.socket)
    paths = out.split()
    check(status == 0 and len(paths) == 1, f"one file for all metrics of a process: {paths} {err}")
    both = report(paths[0])
    check((both["type"], both["others"]) == ("inuse_space", "cpu") and both["total"] > 10000000,
          f"snapshot has {both['type']}, {both.get('others')}")
    check(shown(paths[0], "cpu")["total"] > 0, "and cpu")
    one = text("snapshot", "--socket", daemon.socket, "-p", str(asleep.pid))[1].split()
    check(len(one) == 1 and report(one[0])["others"] == "cpu", f"and so for one process: {one}")
    single = text("snapshot", "--socket", daemon.socket, "--format", "folded")[1].split()
    check(len(single) == 2 and all(path.endswith(".folded") for path in single) and
          sum(path.endswith(".cpu.folded") for path in single) == 1, f"folded has a file for each: {single}")
    page = text("snapshot", "--socket", daemon.socket, "--format", "html")[1].split()
    check(len(page) == 1 and page_types(page[0]) == ["inuse_space", "cpu"], f"a page has them all: {page}")
    # of a part of the time there is no heap, and CPU time all the same
    for form in ("pprof", "json"):
        status, out, err = text("snapshot", "--socket", daemon.socket, "--since", "10m", "--format", form)
        check(status == 0 and err == "hcct: left out is what has no windows: heap\n" and len(out.split()) == 1,
              f"snapshot --since as {form}: {out!r} {err!r}")
    parts = text("snapshot", "--socket", daemon.socket, "--since", "10m")[1].split()
    check(len(parts) == 1 and report(parts[0])["type"] == "cpu" and "others" not in report(parts[0]) and
          report(parts[0])["total"] > 0, f"snapshot --since has cpu alone: {parts}")
    status, out, err = text("snapshot", "--socket", daemon.socket, "--format", "paper")
    check(status == 2 and "--format 'paper' is none of" in err, f"no such format: {err}")
    asleep.kill()
    asleep.communicate()

# ---- always on ----

with Daemon() as daemon:
    env = {**daemon.env(), "LD_PRELOAD": LIBRARIES, "HCCT_METRICS": "cpu,heap,lock", "HCCT_RATE": "1000"}
    check(run(PROGRAM, env=env).status == 3, "always on: the program ends as ever")
    processes = daemon.processes()
    check([p["kind"] for p in processes if p["pid"] == processes[0]["pid"]] == ["walks", "heap", "lock"],
          "the list has a line for each metric")
    listed = text("list", "--socket", daemon.socket)[1]
    check(all(re.search(rf" {m}$", listed, re.M) for m in ("cpu", "heap", "lock")), "and so has hcct list")
    kinds = {"cpu": "compute_many", "heap": "allocate_large", "lock": "wait_for_lock"}
    for metric, function in kinds.items():
        status, out, err = text("hot", "--socket", daemon.socket, "--metric", metric)
        check(status == 0 and function in out, f"hot --metric {metric}: {err}")
        check(function in get(daemon.socket, f"/v1/hot?metric={metric}"), f"/v1/hot?metric={metric}")
    status, out, err = text("hot", "--socket", daemon.socket)
    check(status == 0 and "compute_many" in out and re.search(r"^others +heap, lock", out, re.M),
          "hot without a metric shows the first, and names the others")

    # a file has them all, as that of record; with a metric, it alone; of a part of the time, what has parts
    everything_in = scratch("hot.pb.gz")
    status, out, err = text("hot", "--socket", daemon.socket, "-o", everything_in)
    check(status == 0 and err == "", f"hot -o: {err}")
    first = report(everything_in)
    check((first["type"], first["others"]) == ("cpu", "heap, lock"), f"hot -o has {first['type']}, {first['others']}")
    for metric, function in kinds.items():
        check(folded(everything_in, metric).get(function, 0) > 0, f"hot -o: {metric} is in it")
        alone = json.loads(get(daemon.socket, f"/v1/hot?metric={metric}&format=json"))
        check(shown(everything_in, metric)["total"] == alone["total"], f"hot -o: {metric} is all there")
    status, out, err = text("hot", "--socket", daemon.socket, "--metric", "lock", "-o", scratch("one.pb.gz"))
    check(status == 0 and "others" not in report(scratch("one.pb.gz")), "hot --metric lock -o: lock alone")
    status, out, err = text("hot", "--socket", daemon.socket, "--window", "1h", "-o", scratch("window.pb.gz"))
    check(status == 0 and err == "hcct: heap has no windows: it is not in the profile\n" and
          report(scratch("window.pb.gz"))["others"] == "lock", f"hot --window -o: {err}")
    for options, types in (((), ["cpu", "inuse_space", "delay"]), (("--metric", "lock"), ["delay"]),
                           (("--window", "1h"), ["cpu", "delay"]), (("--focus", "o"), ["cpu", "inuse_space", "delay"])):
        page = scratch("hot.html")
        status, out, err = text("hot", "--socket", daemon.socket, "-o", page, *options)
        check(status == 0 and page_types(page) == types, f"a page of hot {options}: {err}")
    figures = get(daemon.socket, "/metrics").splitlines()
    names = [line.rpartition(" ")[0] for line in figures if not line.startswith("#")]
    check(len(names) == len(set(names)), "no figure stands twice in /metrics")
    # without a library: what can be had is, and the rest is said
    for libraries, wanted, kinds, sentence in (
            ([], "cpu,alloc", ["walks"], "alloc can't be sampled: libhcctblocks.so must follow libhcctagent.so in "
             "LD_PRELOAD; only cpu will be"),
            ([], "lock,faults,heap,cpu", ["faults", "walks"], "lock, heap can't be sampled: libhcctblocks.so and "
             "libhcctlocks.so must follow libhcctagent.so in LD_PRELOAD; only faults, cpu will be"),
            (["blocks"], "lock,heap,alloc-objects", ["heap", "alloc-objects"], "lock can't be sampled: libhcctlocks.so "
             "must follow libhcctagent.so in LD_PRELOAD; only heap, alloc-objects will be"),
            ([], "lock,wait", ["wait"], "lock can't be sampled: libhcctlocks.so must follow libhcctagent.so in "
             "LD_PRELOAD; only wait will be"),
            (["locks"], "alloc", [], "alloc can't be sampled: libhcctblocks.so must follow libhcctagent.so in "
             "LD_PRELOAD; this process is not profiled")):
        before = {p["pid"] for p in daemon.processes()}
        preloaded = ":".join(path for path in LIBRARIES.split(":")
                             if path == AGENT or any(f"libhcct{name}.so" in path for name in libraries))
        partly = run(PROGRAM, env={**env, "LD_PRELOAD": preloaded, "HCCT_METRICS": wanted})
        check(partly.status == 3 and partly.err.decode() == f"hcct: HCCT_METRICS: {sentence}\n",
              f"{wanted} with {libraries}: said in one sentence, {partly.err!r}")
        new = [p for p in daemon.processes() if p["pid"] not in before]
        check(sorted(p["kind"] for p in new) == sorted(kinds) and all(p["walks"] > 0 for p in new),
              f"{wanted} with {libraries}: profiled are {[(p['kind'], p['walks']) for p in new]}")
    everything = {**env, "HCCT_METRICS": "cpu,alloc,heap,lock,lock-waits,faults", "HCCT_RATE": "5000"}
    for name in ("blocks_places", "locks_places"):
        alone, watched = run([target(name)]), run([target(name)], env=everything)
        check((watched.status, watched.out, watched.err) == (alone.status, alone.out, alone.err) and alone.status == 0,
              f"{name}: allocations and locks in all places are answered the same: {watched.err[-200:]!r}")

finish()
