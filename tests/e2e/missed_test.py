# SPDX-License-Identifier: LGPL-3.0-or-later
"""A hcctd is killed, and the next one goes on from its checkpoint: what programs have used in between is
counted as missing, also that of programs which began and ended meanwhile, where their parents live on."""

import concurrent.futures
import json
import os
import signal
import subprocess
import sys
import time

from support import Daemon, check, finish, report, run, HCCT, scratch, target, wait_for_checkpoints

GONE_S = 3  # there is no hcctd

# So that a parent hardly has a tick of its own: it only waits, as make and shells do.
FORKS = """import os, sys, time
until = time.monotonic() + float(sys.argv[1])
while time.monotonic() < until:
    child = os.fork()
    if child == 0:
        end = time.process_time() + 0.02
        while time.process_time() < end:
            sum(range(1000))
        os._exit(0)
    os.waitpid(child, 0)
"""
SHELL = "end=$(($(date +%s) + {0})); while [ $(date +%s) -lt $end ]; do {1} 0.03; done"

def inner(seconds):
    """A shell of its own, which has children, and may be gone when the next hcctd comes."""
    return f"(sh -c '{SHELL.format(seconds, target('known_shares'))}'; true)"


def programs(seconds):
    """{name: command} of what runs for so long, in many processes."""
    return {"forks": [sys.executable, "-S", "-c", FORKS, str(seconds)],
            "target": [target("outlasts"), "forks", str(seconds)],
            "threads": [target("outlasts"), "threads", str(seconds)],
            "shell": ["sh", "-c", SHELL.format(seconds, target("known_shares"))],
            "ends": ["sh", "-c", f"{inner(4)}; {inner(seconds - 4)}"]}


class Case:
    """One hcctd, and a program."""

    def __init__(self, name, command, first):
        """`first`: the checkpoint has the program; else it is one of before."""
        self.name, self.state = name, scratch(f"{name}.state")
        self.daemon = Daemon("--state-dir", self.state, "--checkpoint", "1" if first else "3600",
                             socket=scratch(f"{name}.sock"))
        if not first:  # it goes on from something
            self.daemon.start()
            self.daemon.stop()
        self.daemon.start()
        self.app = subprocess.Popen(command, env={**os.environ, **self.daemon.env(HCCT_RATE="1000")},
                                    stdout=subprocess.DEVNULL)

    def is_seen(self):
        return self.daemon.wait_for(lambda p: p["walks"] > 100) is not None

    def end(self):
        """CPU time of the program and its children, as the kernel says, in ns; and the profile."""
        pid, status, usage = os.wait4(self.app.pid, 0)
        self.app.returncode = os.waitstatus_to_exitcode(status)
        check(pid == self.app.pid and status == 0, f"{self.name}: it ends with status 0")
        self.daemon.wait_for(lambda p: p["state"] == "finished")
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


def killed(name, command, first=True):
    case = Case(name, command, first)
    check(case.is_seen(), f"{name}: it is profiled")
    if first:
        check(wait_for_checkpoints(case.state), f"{name}: there is a checkpoint of it")
    case.daemon.stop(signal.SIGKILL)
    time.sleep(GONE_S)
    case.daemon.start()
    true, profile = case.end()
    text = run([HCCT, "hot", "--socket", case.daemon.socket, "--format", "text"]).out.decode()
    check("hcctd was started anew" in text, f"{name}: the report says so")
    check(case.daemon.stop() == 0, f"{name}: hcctd ends with status 0")
    return true, profile, text


def accounted(name, true, profile):
    """The kernel's end of each process is in no sample: a part of what short children take."""
    total, (own, children) = profile["total"], missing(profile)
    by_chance = chance(profile)
    sides = f"{total / 1e9:.2f} s in contexts, {own / 1e9:.2f} s missing of programs that went on, " \
        f"{children / 1e9:.2f} s of their children; {true / 1e9:.2f} s are true, chance {by_chance / 1e9:.2f} s"
    low = -0.12 * true - 1.5 * by_chance
    check(low < total + own + children - true < 0.04 * true + 1.5 * by_chance + 60e6, f"{name}: {sides}")
    half = profile["chance"]["total_half_width"]
    check(abs(total - true) < half + 0.12 * true, f"{name}: N is {total / 1e9:.2f} s +-{half / 1e9:.2f}")
    return children


def children_of(name, first=True):
    command = programs(10)[name]
    label = name if first else name + "_later"
    true, profile, text = killed(label, command, first)
    children = accounted(label, true, profile)
    check((children > 0.1 * true) == (name != "threads"),
          f"{label}: {children / 1e9:.2f} s are said to be missing of children that began and ended")
    check(("children that began and ended" in text) == (children > 0), f"{label}: the report says that, too")


def whole():
    """Nothing is missing where hcctd is there all the time, or is started anew in order."""
    case = Case("whole", programs(8)["forks"], True)
    check(case.is_seen(), "whole: it is profiled")
    case.daemon.stop()
    case.daemon.start()
    true, profile = case.end()
    check(sum(missing(profile)) < 0.3 * true, f"started anew in order: {sum(missing(profile)) / 1e9:.2f} s of "
          f"{true / 1e9:.2f} s are missing")
    accounted("whole", true, profile)
    case.daemon.stop()


def compared():
    """The same work twice: no difference is sure that is none."""
    files = []
    for name in ("killed", "beside"):
        case = Case("compared_" + name, programs(10)["forks"], True)
        check(case.is_seen() and wait_for_checkpoints(case.state), f"compared: {name} is profiled")
        if name == "killed":
            case.daemon.stop(signal.SIGKILL)
            time.sleep(GONE_S)
            case.daemon.start()
        case.end()
        case.daemon.stop()
        files.append(scratch(f"compared_{name}.pb.gz"))
    for before, after in (files, files[::-1]):
        diff = json.loads(run([HCCT, "diff", before, after, "--format", "json"]).out)
        check(diff["beyond"] == 0, f"{diff['beyond']} differences are sure, {diff['why']}: "
              f"{diff['total']['before'] / 1e9:.2f} s and {diff['total']['after'] / 1e9:.2f} s")


CASES = {"forks": lambda: children_of("forks"), "target": lambda: children_of("target"),
         "threads": lambda: children_of("threads"), "shell": lambda: children_of("shell"),
         "ends": lambda: children_of("ends"), "forks_later": lambda: children_of("forks", False),
         "threads_later": lambda: children_of("threads", False), "whole": whole, "compared": compared}

# most of the time they wait for each other: several at once
with concurrent.futures.ThreadPoolExecutor(4) as pool:
    list(pool.map(lambda name: CASES[name](), sys.argv[1:] or CASES))
finish()
