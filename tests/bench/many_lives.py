# SPDX-License-Identifier: LGPL-3.0-or-later
"""many_lives.py: what the agent costs programs that live from many short children and threads.

For each kind of life (many_lives.c) runs with and without the agent take turns, with no hcctd, and with
one at 100 and 1,000 samples a second. A figure is the median of the differences between neighbours; the
quartiles of them say what it is worth. CPU time is of the program, its children, and hcctd. Nothing
passes or fails on time.

  usage: many_lives.py [--pairs N] [--kinds fork:0,exec:0,thread:5000,...] [--modes none,100,1000]
"""

import argparse
import os
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, os.pardir, "e2e"))
from support import AGENT, BUILD, Daemon  # noqa: E402

PROGRAM = os.path.join(BUILD, "tests", "bench", "many_lives")
KINDS = "fork:0,fork:1000,exec:0,thread:0,thread:1000,thread:5000"
RUN_US = 50_000  # of CPU time, about: so many lives are in a run
OWN_US = {"fork": 400, "exec": 900, "thread": 60}
WITH = os.environ.get("HCCT_BENCH_AGENT", AGENT)  # another one, to compare with


def of_daemon(pid):
    """Its CPU time, us."""
    total = 0
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/schedstat") as file:
            total += int(file.read().split()[0])
    return total / 1000


def run(kind, lives, steps, env):
    """us of CPU time, us of real time, page faults: of one life."""
    words = subprocess.run([PROGRAM, kind, str(lives), str(steps)], env={**os.environ, **env},
                           check=True, stdout=subprocess.PIPE, text=True).stdout.split()
    cpu, time, faults = map(int, words)
    return cpu / 1000 / lives, time / 1000 / lives, faults / lives


def quartiles(values):
    first, middle, last = statistics.quantiles(values, n=4)
    return f"{middle:7.1f} ({first:.1f} to {last:.1f})"


def compare(kind, microseconds, steps, mode, daemon):
    lives = max(20, int(RUN_US / (microseconds + OWN_US[kind])))
    env = daemon.env(HCCT_SOCKET="/nowhere/hcctd.sock") if mode == "none" else daemon.env(HCCT_RATE=mode)
    env["LD_PRELOAD"] = WITH
    plain, more, theirs = [], [], []
    for _ in range(asked.pairs):
        plain.append(run(kind, lives, steps, {}))
        before = of_daemon(daemon.process.pid)
        with_agent = run(kind, lives, steps, env)
        theirs.append((of_daemon(daemon.process.pid) - before) / lives)
        more.append([ours - without for ours, without in zip(with_agent, plain[-1])])
    cpu, time, faults = zip(*more)
    base = [statistics.median(values) for values in zip(*plain)]
    print(f"{kind:6} {microseconds:5} us {mode:>5}: CPU {base[0]:7.1f} +{quartiles(cpu)} "
          f"= {1 + statistics.median(cpu) / base[0]:5.3f}, hcctd {statistics.median(theirs):6.1f}; "
          f"elapsed {base[1]:7.1f} +{quartiles(time)}; faults {base[2]:5.1f} +{statistics.median(faults):.1f}",
          flush=True)


parser = argparse.ArgumentParser()
parser.add_argument("--pairs", type=int, default=11)
parser.add_argument("--kinds", default=KINDS)
parser.add_argument("--modes", default="none,100,1000")
asked = parser.parse_args()
print("us of each life: plain, + with the agent (quartiles of pairs)")
with Daemon() as hcctd:
    for one in asked.kinds.split(","):
        name, length = one.split(":")
        needed = int(subprocess.run([PROGRAM, "steps", length], check=True, stdout=subprocess.PIPE,
                                    text=True).stdout)
        for how in asked.modes.split(","):
            compare(name, int(length), needed, how, hcctd)
