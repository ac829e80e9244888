# SPDX-License-Identifier: LGPL-3.0-or-later
"""The heap of programs whose blocks are so large that each is surely sampled, so that what is shown is exact: that of
many processes that have ended, folded together, in a recording and in an hcctd that goes on from a checkpoint; that of
one that lives. Large blocks are surely sampled, and have no interval. And what is said of metrics that are not there."""

import os
import signal
import subprocess

from support import AGENT, HCCT, Daemon, check, finish, record, report, run, scratch, target

MIB = 1 << 20
LIBRARIES = ":".join([AGENT] + [os.path.join(os.path.dirname(AGENT), f"libhcct{name}.so")
                                for name in ("blocks", "locks")])
KEEPS, CHILDREN = target("keeps"), 90  # more than are kept one by one


def text(*command):
    result = run([HCCT, *command], env={"LC_ALL": "C.UTF-8", "COLUMNS": "200"})
    return result.status, result.out.decode(), result.err.decode()


def kept(path, metric="heap"):
    """MiB that each function keeps, from its own context."""
    sums = {}
    status, out, err = text("report", "--format", "folded", "--metric", metric, path)
    check(status == 0, f"{metric}: {err}")
    for line in out.splitlines():
        frames, _, weight = line.rpartition(" ")
        for name in ("keep_in_parent", "keep_in_child"):
            sums[name] = sums.get(name, 0) + (int(weight) / MIB if name in frames else 0)
    return sums["keep_in_parent"], sums["keep_in_child"]


def total(path):
    return round(report(path)["total"] / MIB, 2)


def near(path, parent, child, what, metric="heap"):
    """Small blocks of libc may be sampled as well, elsewhere."""
    seen = kept(path, metric)
    check(tuple(round(mib) for mib in seen) == (parent, child), f"{what}: {seen}, and {(parent, child)} MiB are kept")


# ---- processes that have ended are folded ----

profile = scratch("keeps.pb.gz")
for metrics in ("heap", "heap,alloc"):
    result = record([KEEPS, "1", str(16 * MIB), str(CHILDREN)], profile, "--metric", metrics, "--no-report")
    check(result.status == 0, f"{metrics}: {result.err.decode()}")
    near(profile, 16, 16 * CHILDREN, f"{metrics} of {CHILDREN} children")
near(profile, 16, 16 * CHILDREN, "alloc beside heap", "alloc")

daemon = Daemon("--state-dir", scratch("state"), "--checkpoint", "1")
env = {"HCCT_SOCKET": daemon.socket, "LD_PRELOAD": LIBRARIES, "HCCT_METRICS": "heap"}
with daemon:
    waits = subprocess.Popen([KEEPS, "2", str(16 * MIB), "40", "wait"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                             env={**os.environ, **env})
    waits.stdout.readline()
    for _ in range(2):  # somebody looks at them before others come
        check(text("hot", "--socket", daemon.socket, "--metric", "heap", "-o", profile)[0] == 0, "hot")
        near(profile, 32, 16 * 40, "hot, while the parent lives")
    check(run([KEEPS, "1", str(16 * MIB), "40"], env=env).status == 0, "another 41 processes")
    text("hot", "--socket", daemon.socket, "--metric", "heap", "-o", profile)
    near(profile, 48, 16 * 80, "hot, after another 41")
    waits.stdin.write(b"\n")
    waits.stdin.close()
    check(waits.wait(60) == 0, "the first one ends")
    text("hot", "--socket", daemon.socket, "--metric", "heap", "-o", profile)
    near(profile, 48, 16 * 80, "hot, after the end of all")
with daemon:
    text("hot", "--socket", daemon.socket, "--metric", "heap", "-o", profile)
    near(profile, 48, 16 * 80, "hot of the next hcctd")

# ---- intervals of large blocks, which are surely sampled: smaller ones may be there ----

result = record([KEEPS, "10", str(64 * MIB), "0"], profile, "--metric", "heap,alloc", env={"LC_ALL": "C.UTF-8"})
near(profile, 640, 0, "ten blocks")
for metric in ("heap", "alloc"):
    shown = report(profile, "--metric", metric)
    half = shown["chance"]["total_half_width"]
    check(0 <= shown["total"] - 640 * MIB < MIB and 39000 < half < 2 * MIB and shown["chance"]["half_widths"][0] < 0.01,
          f"{metric} of ten blocks: {shown['total']}, give or take {half:.0f}")

# ---- what is said ----

status, out, err = text("report", "--metric", "heap", "--format", "json", profile)
check(status == 0 and err == "", f"who has chosen a metric is not told to choose: {err!r}")
status, out, err = text("report", "--format", "json", profile)
check(status == 0 and "left out alloc" in err, f"who has not is: {err!r}")

for words, word in (("heap,foo", "foo"), ("bar,heap", "bar"), ("cpu,", ""), ("cpu,heap-object", "heap-object")):
    status, out, err = text("record", "--metric", words, "--", "true")
    check(status == 2 and f"there is no metric '{word}': --metric takes one or more of cpu" in err,
          f"record --metric {words}: {err!r}")

for _ in range(3):  # it has a sample once in a thousand runs
    result = record(["true"], scratch("short.pb.gz"), "--metric", "cpu,heap,lock", "--rate", "1", "--no-report")
    lines = result.err.decode().splitlines()
    if len(lines) == 3 and "used too little" in lines[0]:
        break
check(len(lines) == 3 and "true used too little CPU time" in lines[0] and
      lines[1].startswith("hcct: there is no sample of heap either: it allocated too little") and
      lines[2].startswith("hcct: there is no sample of lock either: its threads waited"),
      f"a program with no sample at all: {lines}")

for value, more, sentence in (
        ("cpu,wait", {}, '"cpu,wait": cpu and wait are by one timer: only one of them can be in a run; '
         "CPU time is sampled"),
        ("heap,heap-objects", {"HCCT_CLOCK": "wall"}, '"heap,heap-objects": heap and heap-objects are one table of '
         "blocks: only one of them can be in a run; elapsed time is sampled")):
    said = run([KEEPS, "0", "0", "0"], env={**env, **more, "HCCT_METRICS": value, "HCCT_SOCKET": scratch("none")})
    check(said.status == 0 and said.err.decode() == f"hcct: HCCT_METRICS is {sentence}\n",
          f"HCCT_METRICS={value}: {said.err!r}")
said = run([KEEPS, "0", "0", "0"], env={**env, "HCCT_METRICS": "cpu,foo", "HCCT_SOCKET": scratch("none")})
check(said.err.startswith(b'hcct: HCCT_METRICS is "cpu,foo" but must be one or more of cpu') and
      said.err.endswith(b"; CPU time is sampled\n"), f"HCCT_METRICS=cpu,foo: {said.err!r}")

with Daemon() as daemon:
    env["HCCT_SOCKET"] = daemon.socket
    waits = subprocess.Popen([KEEPS, "2", str(16 * MIB), "0", "wait"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                             env={**os.environ, **env, "HCCT_METRICS": "heap,alloc"})
    waits.stdout.readline()
    status, out, err = text("hot", "--socket", daemon.socket, "-p", str(waits.pid), "--metric", "wait")
    check(status != 0 and f"process {waits.pid} is profiled by heap, alloc, not by wait" in err, f"hot: {err!r}")
    status, out, err = text("hot", "--socket", daemon.socket, "--metric", "wait")
    check(status != 0 and "what is asked for is profiled by heap, alloc, not by wait" in err, f"hot: {err!r}")
    status, out, err = text("hot", "--socket", daemon.socket, "-p", "1", "--metric", "wait")
    check(status != 0 and "process 1 has no agent" in err, f"hot of a process that is not profiled: {err!r}")
    status, out, err = text("set", "--socket", daemon.socket, "-p", "1", "--metric", "heap")
    check(status != 0 and "process 1 has no agent here" in err and "preloaded" not in err, f"set: {err!r}")
    status, out, err = text("set", "--socket", daemon.socket, "-p", str(waits.pid), "--metric", "cpu")
    check(status != 0 and "as its agent was preloaded" in err, f"set of one that is: {err!r}")
    waits.communicate(b"\n")

    # libraries of another build are left alone
    env["LD_PRELOAD"] = f"{AGENT}:{target('other_build.so')}"
    for wanted, sentence in (
            ("heap,cpu", "heap can't be sampled: libhcctblocks.so in LD_PRELOAD and libhcctagent.so are of different "
             "builds; only cpu will be"),
            ("alloc,lock", "alloc, lock can't be sampled: libhcctblocks.so and libhcctlocks.so in LD_PRELOAD and "
             "libhcctagent.so are of different builds; this process is not profiled")):
        said = run([KEEPS, "2", str(16 * MIB), "2"], env={**env, "HCCT_METRICS": wanted})
        check((said.status, said.err.decode()) == (0, f"hcct: HCCT_METRICS: {sentence}\n"),
              f"{wanted} with libraries of another build: {said.status} {said.err!r}")

finish()
