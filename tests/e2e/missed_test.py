# SPDX-License-Identifier: LGPL-3.0-or-later
"""A hcctd is killed, and the next one goes on from its checkpoint: what programs have used in between is
counted as missing, also that of programs which began and ended meanwhile, where their parents live on."""

import concurrent.futures
import json
import os
import signal
import subprocess
import sys

from support import Daemon, check, finish, report, run, HCCT, scratch, target, wait_for_checkpoints

# Each reads numbers, has as many children of 30 ms, or works as long itself, and answers.
PROGRAM = """import os, sys, time
def work():
    end = time.process_time() + 0.03
    while time.process_time() < end:
        sum(range(1000))
def fork():
    child = os.fork()
    if child == 0:
        work()
        os._exit(0)
    os.waitpid(child, 0)
for line in sys.stdin:
    for _ in range(int(line)):
        {0}()
    print(line, end="", flush=True)
"""
SHELL = f"""while read n; do
    i=0
    while [ $i -lt $n ]; do {target("known_shares")} 0.03 >/dev/null; i=$((i + 1)); done
    echo $n
done"""
PROGRAMS = {"forks": [sys.executable, "-S", "-c", PROGRAM.format("fork")],
            "works": [sys.executable, "-S", "-c", PROGRAM.format("work")],
            "shell": ["sh", "-c", SHELL]}
BEFORE, MEANWHILE, AFTER = 40, 40, 40


class Case:
    """One hcctd, and a program that is asked."""

    def __init__(self, name, what, first=True):
        """`first`: the checkpoint has the program; else it is one of before."""
        self.name, self.state = name, scratch(f"{name}.state")
        self.daemon = Daemon("--state-dir", self.state, "--checkpoint", "1" if first else "3600",
                             socket=scratch(f"{name}.sock"))
        if not first:  # it goes on from something
            self.daemon.start()
            self.daemon.stop()
        self.daemon.start()
        self.app = subprocess.Popen(PROGRAMS[what], env={**os.environ, **self.daemon.env(HCCT_RATE="1000")},
                                    stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.ask(BEFORE)
        check(self.daemon.wait_for(lambda p: p["pid"] == self.app.pid) is not None, f"{name}: it is profiled")
        if first:
            check(wait_for_checkpoints(self.state), f"{name}: there is a checkpoint of it")

    def ask(self, n):
        self.app.stdin.write(b"%d\n" % n)
        self.app.stdin.flush()
        if self.app.stdout.readline() != b"%d\n" % n:
            check(False, f"{self.name}: asked for {n}")

    def end(self):
        """CPU time of the program and its children, as the kernel says, in ns; and the profile."""
        self.app.stdin.close()
        pid, status, usage = os.wait4(self.app.pid, 0)
        self.app.returncode = os.waitstatus_to_exitcode(status)
        check(pid == self.app.pid and status == 0, f"{self.name}: it ends with status 0")
        self.daemon.wait_for(lambda p: p["pid"] == pid and p["state"] == "finished")
        path = scratch(self.name + ".pb.gz")
        result = run([HCCT, "hot", "--socket", self.daemon.socket, "-o", path])
        check(result.status == 0, f"{self.name}: a profile is written {result.err.decode()}")
        return (usage.ru_utime + usage.ru_stime) * 1e9, report(path)


def missing(profile):
    own = sum(p["lost_ns"] + p["gap_ns"] + p["start_ns"] + p["unasked_ns"] for p in profile["processes"])
    return own, sum(p["gap_children_ns"] for p in profile["processes"])


def chance(profile):
    """Of the total, by its samples alone."""
    varied = sum(p["varied_total"] for p in profile["processes"]) * 1024**2
    return 1.96 * (varied + 1.5 * max(p["lone_ns"] for p in profile["processes"]) ** 2) ** 0.5


def accounted(name, true, profile):
    """The kernel's end of each process is in no sample: a part of what short children take."""
    total, (own, children) = profile["total"], missing(profile)
    by_chance = chance(profile)
    check(-0.15 * true - 1.5 * by_chance < total + own + children - true < 0.05 * true + 1.5 * by_chance + 60e6,
          f"{name}: {total / 1e9:.2f} s in contexts, {own / 1e9:.2f} s missing of programs that went on, "
          f"{children / 1e9:.2f} s of their children; {true / 1e9:.2f} s are true, chance {by_chance / 1e9:.2f} s")
    half = profile["chance"]["total_half_width"]
    check(abs(total - true) < half + 0.15 * true, f"{name}: N is {total / 1e9:.2f} s +-{half / 1e9:.2f}")
    return children


def killed(what, first=True):
    name = what if first else what + "_later"
    case = Case(name, what, first)
    case.daemon.stop(signal.SIGKILL)
    case.ask(MEANWHILE)
    case.daemon.start()
    case.ask(AFTER)
    true, profile = case.end()
    children = accounted(name, true, profile)
    expected = 0.03e9 * MEANWHILE if what != "works" else 0
    check(0.9 * expected <= children, f"{name}: {children / 1e9:.2f} s are missing of children that began and ended")
    check(what != "works" or children == 0, f"{name}: none are missing that were not")
    text = run([HCCT, "hot", "--socket", case.daemon.socket, "--format", "text"]).out.decode()
    check("hcctd was started anew" in text, f"{name}: the report says so")
    check(("children that began and ended" in text) == (children > 0), f"{name}: and whose that was")
    check(case.daemon.stop() == 0, f"{name}: hcctd ends with status 0")


def in_order():
    """Of what hcctd has seen until its end nothing is missing."""
    case = Case("in_order", "forks")
    case.daemon.stop()
    case.daemon.start()
    case.ask(AFTER)
    true, profile = case.end()
    children = accounted("in_order", true, profile)
    check(children <= 60e6, f"in order: {children / 1e9:.2f} s of children are missing")
    case.daemon.stop()


def run_twice():
    """The same work twice, the first time with a hcctd that is killed: both profiles."""
    files = []
    for name in ("killed", "beside"):
        case = Case("compared_" + name, "forks")
        if name == "killed":
            case.daemon.stop(signal.SIGKILL)
        case.ask(MEANWHILE)
        if name == "killed":
            case.daemon.start()
        case.ask(AFTER)
        case.end()
        case.daemon.stop()
        files.append(scratch(f"compared_{name}.pb.gz"))
    return files


def compared():
    """Chance alone makes one comparison of twenty differ: not four times in a row."""
    for _ in range(4):
        files = run_twice()
        diffs = [json.loads(run([HCCT, "diff", *pair, "--format", "json"]).out) for pair in (files, files[::-1])]
        if all(diff["beyond"] == 0 for diff in diffs):
            break
    for diff in diffs:
        check(diff["beyond"] == 0, f"{diff['beyond']} differences are sure, {diff['why']}: "
              f"{diff['total']['before'] / 1e9:.2f} s and {diff['total']['after'] / 1e9:.2f} s")


CASES = {"forks": lambda: killed("forks"), "works": lambda: killed("works"), "shell": lambda: killed("shell"),
         "forks_later": lambda: killed("forks", False), "works_later": lambda: killed("works", False),
         "in_order": in_order, "compared": compared}

# most of the time they wait for each other: several at once
with concurrent.futures.ThreadPoolExecutor(4) as pool:
    list(pool.map(lambda name: CASES[name](), sys.argv[1:] or CASES))
finish()
