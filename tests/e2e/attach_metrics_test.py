# SPDX-License-Identifier: LGPL-3.0-or-later
"""Allocations, alive memory and waits for locks of a program that runs already: it knows what it allocates,
keeps and waits for, is attached to in its middle, detached from, and attached to again. What it calls is as it
was when it is left, and nothing of it was seen.

Estimates are by chance: a context of W is within 1.96 sqrt(R W) in 95 of 100 runs, R being what the
profile says, or 0.5 ms; here within six standard deviations. With --runs N: a table of N runs, in how many of them
the 95 % interval of each context holds the truth."""

import json
import math
import os
import signal
import subprocess
import sys
import time

from attach_support import rights_of, words_of
from support import HCCT, Daemon, check, finish, need, report, run, scratch, target, weights

need("readelf")
LOCKS_MEAN = 500000
COLUMN = {"alloc": 0, "heap": 1, "lock": 2}
ALLOCATES = ["small_kept", "small_freed", "grows", "aligned"]
WAITS = ["waits_for_mutex", "waits_to_write"]
LIBRARY = target("attach_library.so")


class Program:
    def __init__(self, *arguments):
        self.process = subprocess.Popen([target("attach_metrics"), *arguments], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, env={**os.environ, "LD_BIND_NOW": "1"})
        self.pid = self.process.pid
        self.round()

    def round(self):
        """{context: [bytes allocated, bytes kept, ns waited]}"""
        found = {}
        self.process.stdin.write(b"\n")
        self.process.stdin.flush()
        for line in iter(self.process.stdout.readline, b"end\n"):
            if not line:
                raise SystemExit("the program has ended")
            name, *numbers = line.decode().split()
            row = found.setdefault(name, [0, 0, 0])
            found[name] = [a + int(b) for a, b in zip(row, numbers)]
        return found

    def end(self):
        out, _ = self.process.communicate(timeout=60)
        return self.process.returncode, out


def recorded(program, path, metrics, wait=0.0):
    """The program's own account of a round that was recorded."""
    status, *found = tried(program, path, metrics, wait)
    check(status == 0, f"hcct record -p --metric {metrics}: {found[-1][-300:]}")
    return found


def tried(program, path, metrics, wait):
    """The same, behind the status of the recorder."""
    command = [HCCT, "record", "-p", str(program.pid), "--metric", metrics, "-o", path]
    with open(scratch("said"), "w+b") as err:
        recorder = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=err)
        deadline = time.monotonic() + 60
        while "not known" not in open(err.name).read() and recorder.poll() is None and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(wait)
        rows = program.round()
        changed = words_of(program.pid)
        recorder.send_signal(signal.SIGINT)
        status = recorder.wait(timeout=120)
    said = open(err.name).read()
    return status, rows, changed, said


def mean(profile, metric):
    """R, which was that at most."""
    return LOCKS_MEAN if metric == "lock" else max(process["lone_ns"] for process in profile["processes"])


def estimates(path, rows, metric):
    """[(context, estimate, truth, standard deviation)]"""
    names = WAITS if metric == "lock" else ALLOCATES
    found, profile = weights_of(path, names, metric), report(path, "--metric", metric)
    for name in names:
        true = rows[name][COLUMN[metric]]
        yield name, found[name], true, math.sqrt(mean(profile, metric) * max(true, 1))


def weights_of(path, names, metric):
    one = scratch("one.pb.gz")
    result = run([HCCT, "report", path, "--metric", metric, "-o", one])
    if result.status != 0:
        raise SystemExit(result.err.decode())
    return weights(one, names)


def lost_of(path, metric):
    return sum(process["lost_ns"] for process in report(path, "--metric", metric)["processes"])


def known_truth():
    program = Program()
    tried(program, scratch("first.pb.gz"), "heap", 0)  # the library is there; maybe no sample has found room
    before, rights = words_of(program.pid), rights_of(program.pid)
    for metrics in "cpu,alloc,heap,lock", "alloc,heap,lock":
        path = scratch("truth.pb.gz")
        for wait in 1, 4, 16:  # until hcctd has read what is loaded, samples find no room
            rows, changed, said = recorded(program, path, metrics, wait)
            changed = sum(word != before[key] for key, word in changed.items())
            after = words_of(program.pid)
            check("not known" in said, "it is said that blocks from before are not known")
            check(changed > 8, f"{changed} of {len(before)} words lead to the agent")
            check(after == before, f"all {len(after)} words are as they were")
            check(rights_of(program.pid) == rights, "and so are the rights of their pages")
            program.round()
            if lost_of(path, "alloc") < 0.02 * sum(row[0] for row in rows.values()):
                break
        compare(path, rows, metrics, ["alloc", "heap", "lock"])
    status, out = program.end()
    check((status, out) == (0, b"done\n"), f"it ends as without us: {status} {out}")


def live(daemon, pid, form):
    """What hcctd has of it, None: nothing yet."""
    result = hcct("hot", "--socket", daemon.socket, "-p", str(pid), "--format", form)
    return result.out.decode() if result.status == 0 else None


def live_lost(daemon, pid):
    text = live(daemon, pid, "json")
    return sum(process["lost_ns"] for process in json.loads(text)["processes"]) if text else None


def blocked(daemon):
    """Threads that block all signals have no ticks: what they allocate is sampled all the same, from the first
    event on that hcctd answers. What one round keeps the next one frees."""
    program = Program("blocked")
    check(hcct("attach", "--socket", daemon.socket, "--wait", "60", "--metric", "heap", str(program.pid)).status == 0,
          "attached")
    before, deadline = live_lost(daemon, program.pid), time.monotonic() + 120
    rows = program.round()
    while time.monotonic() < deadline:
        time.sleep(0.2)
        lost, rows = before, program.round()
        time.sleep(0.2)
        before = live_lost(daemon, program.pid)
        if lost is not None and before == lost:
            break
    text, profile = live(daemon, program.pid, "folded") or "", json.loads(live(daemon, program.pid, "json"))
    found = dict.fromkeys(ALLOCATES, 0)
    for line in text.splitlines():
        frames, weight = line.rsplit(" ", 1)
        for name in ALLOCATES:
            found[name] += int(weight) if name in frames.split(";") else 0
    for name, seen in found.items():
        true = rows[name][COLUMN["heap"]]
        sigma = math.sqrt(mean(profile, "heap") * max(true, 1))
        check(abs(seen - true) <= 6 * sigma,
              f"heap, all signals blocked: {name}: {seen} seen, {true} true, deviation {sigma:.0f}")
    check(hcct("detach", "--wait", "60", str(program.pid)).status == 0, "detached")
    status, out = program.end()
    check((status, out) == (0, b"done\n"), f"it ends as without us: {status} {out}")


def compare(path, rows, metrics, of):
    for metric in of:
        lost = lost_of(path, metric)
        for name, seen, true, sigma in estimates(path, rows, metric):
            late = 0.1e6 * seen / LOCKS_MEAN if metric == "lock" else 0  # what samples take is waited for
            check(true - 6 * sigma - lost - late <= seen <= true + 6 * sigma,
                  f"{metric} of {metrics}: {name}: {seen} seen, {true} true, deviation {sigma:.0f}, lost {lost}")


def table(runs):
    held = {}
    program = Program()
    for _ in range(runs):
        path = scratch("truth.pb.gz")
        rows, _, _ = recorded(program, path, "alloc,heap,lock", 2)
        for metric in "alloc", "heap", "lock":
            for name, seen, true, sigma in estimates(path, rows, metric):
                held[metric, name] = held.get((metric, name), 0) + (abs(seen - true) <= 1.96 * sigma)
    program.end()
    for (metric, name), n in held.items():
        print(f"{metric} {name}: {n} of {runs}")


def hcct(*words):
    return run([HCCT, *words])


def alone(daemon):
    """The only thread of a program waits in the agent's code, for ever: it is left, and attached to again."""
    process = subprocess.Popen([target("attach_metrics"), "alone"], stdin=subprocess.PIPE)
    attach = ["attach", "--socket", daemon.socket, "--wait", "60", "--metric", "lock,heap", str(process.pid)]
    detach = ["detach", "--wait", "60", str(process.pid)]
    check(hcct(*attach).status == 0, "attached")
    process.stdin.write(b"\n")
    process.stdin.flush()
    deadline = time.monotonic() + 60
    while not waits_in_futex(process.pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    results = [hcct(*words) for words in (detach, attach, detach)]
    check(all(result.status == 0 for result in results),
          f"left and attached to again while it waits: {[result.err.decode() for result in results]}")
    check(process.poll() is None, "it waits still")
    process.kill()
    process.wait()


def waits_in_futex(pid):
    with open(f"/proc/{pid}/syscall") as file:
        return file.read().split()[0] == ("202" if os.uname().machine == "x86_64" else "98")


def said(daemon):
    """What can't be is said, with what to do."""
    process = subprocess.Popen(["sleep", "1000"])
    socket = ["--socket", daemon.socket]
    result = hcct("attach", *socket, "--metric", "heap,heat", str(process.pid))
    check(result.status == 2 and b"heap-objects" in result.err, f"no such metric: {result.err}")
    result = hcct("attach", *socket, "--metric", "heap", "--rate", "1000", str(process.pid))
    check(result.status == 2 and b"name cpu beside" in result.err, f"no rate: {result.err}")
    process.kill()
    process.wait()
    process = subprocess.Popen([target("own_malloc")])
    time.sleep(0.3)
    result = hcct("attach", *socket, "--wait", "60", "--metric", "heap", str(process.pid))
    check(result.status == 0 and b"has a malloc of its own" in result.out, f"a malloc of its own: {result.out}")
    process.kill()
    process.wait()
    program = Program()
    check(hcct("attach", *socket, "--wait", "60", "--metric", "heap", str(program.pid)).status == 0, "attached")
    deadline, result = time.monotonic() + 60, None
    while (result is None or result.status == 4) and time.monotonic() < deadline:
        program.round()
        result = hcct("set", *socket, "-p", str(program.pid), "--metric", "lock")
    check(result.status == 1 and f"hcct attach --metric lock {program.pid}".encode() in result.err,
          f"set says what to do: {result.err}")
    result = hcct("set", *socket, "-p", str(program.pid), "--metric", "luck")
    check(result.status == 2 and b"give one or more" in result.err, f"no such metric: {result.err}")
    check(hcct("detach", "--wait", "60", str(program.pid)).status == 0, "detached")
    program.end()


COPIES = """
import ctypes
libc = ctypes.CDLL(None)
libc.strdup.restype = ctypes.c_void_p
text = b"x" * 100000
print("ready", flush=True)
while True:
    libc.free(ctypes.c_void_p(libc.strdup(text)))
"""


def by_libc(daemon):
    """What libc's own functions allocate for their callers."""
    process = subprocess.Popen([sys.executable, "-c", COPIES], stdout=subprocess.PIPE)
    check(process.stdout.readline() == b"ready\n", "a program copies strings")
    result = run([HCCT, "attach", "--socket", daemon.socket, "--wait", "60", "--metric", "alloc", str(process.pid)])
    check(result.status == 0, "it is attached to")
    check(daemon.wait_for(lambda p: p["pid"] == process.pid and p["walks"] > 200) is not None, "it is sampled")
    answer = json.loads(run([HCCT, "hot", "--socket", daemon.socket, "-p", str(process.pid), "--format", "json"]).out)
    seen = sum(f["inclusive"] for f in answer["functions"] if f["function"].endswith("strdup"))
    check(seen > 0.5 * answer["total"], f"strdup has {100 * seen / answer['total']:.0f} % of what is allocated")
    check(run([HCCT, "detach", "--wait", "60", str(process.pid)]).status == 0 and process.poll() is None,
          "it is detached from, and runs on")
    process.kill()
    process.communicate()


def storms(daemon, times):
    for kind in "alloc", "fork", "loader", "threads":
        process = subprocess.Popen([target("attach_storm"), kind, LIBRARY], stdout=subprocess.PIPE)
        time.sleep(0.5)
        good = 0
        for i in range(times):
            metrics = "heap" if i % 2 else "cpu,heap,lock"
            attached = run([HCCT, "attach", "--socket", daemon.socket, "--wait", "60", "--metric", metrics,
                            str(process.pid)])
            time.sleep(0.1)
            left = run([HCCT, "detach", "--wait", "60", str(process.pid)])
            good += attached.status == 0 and left.status == 0
            if attached.status or left.status:
                print(kind, attached.err.decode(), left.err.decode())
        process.send_signal(signal.SIGTERM)
        try:
            out, _ = process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            process.kill()
            out = b"hangs"
        check(process.returncode == 0 and good == times,
              f"{kind}: attached and left {good} times of {times}, then it ends with {process.returncode}: {out}")


if len(sys.argv) > 2 and sys.argv[1] == "--runs":
    table(int(sys.argv[2]))
    finish()

known_truth()
with Daemon() as daemon:
    blocked(daemon)
    alone(daemon)
    said(daemon)
    by_libc(daemon)
    storms(daemon, int(os.environ.get("HCCT_STORMS", "4")))
finish()
