# SPDX-License-Identifier: LGPL-3.0-or-later
"""loads.py - what a soak runs: programs of all kinds that each end by themselves, and say the same
each time."""

import os
import shutil
import sys

BUILD = os.environ.get("HCCT_BUILDDIR", os.getcwd())

PYTHON = """
import collections, threading
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)
def count(found):
    words = collections.Counter(str(i * 7919 % 1009) for i in range(60000))
    found.append(len(words) + fib(21))
found = []
threads = [threading.Thread(target=count, args=(found,)) for _ in range(3)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(found)
"""

FORKS = """
import os, sys
for n in range(30):
    if os.fork() == 0:
        sum(i * i for i in range(20000))
        os._exit(n % 7)
print(sorted(os.waitstatus_to_exitcode(os.wait()[1]) for _ in range(30)))
"""

NODE = """
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
const words = new Map();
for (let i = 0; i < 100000; i++) words.set(String(i * 7919 % 1009), i);
console.log(fib(30), words.size, JSON.stringify([...words]).length);
"""

SHORT = """i=0
while [ $i -lt 40 ]; do i=$((i + 1)); /bin/true; /bin/echo $i | tr 0-9 a-j; done
"""

C_FILE = """
struct item { int id, weight; struct item *next; };
#define F(n) int f##n(struct item *at) { int sum = n; for (; at; at = at->next) \\
    switch ((at->id ^ n) %% 5) { case 0: sum += at->weight * n; break; \\
    case 1: sum ^= at->id << 2; break; default: sum -= n / (at->weight | 1); } return sum; }
%s
"""


class Load:
    """A command with settings of the agent. steady: what it prints is the same each time."""

    def __init__(self, name, command, settings=None, steady=True):
        self.name, self.command = name, command
        self.settings, self.steady = settings or {}, steady


def target(name, *arguments):
    return [os.path.join(BUILD, "tests", name), *arguments]


def compiler(directory):
    """A C file for the compiler, which is many processes and libraries."""
    path = os.path.join(directory, "work.c")
    with open(path, "w") as out:
        out.write(C_FILE % "\n".join(f"F({n})" for n in range(300)))
    return ["gcc", "-O2", "-c", "-o", os.devnull, path]


def loads(directory):
    """Those whose programs are there."""
    fast = {"HCCT_RATE": "4000"}
    found = [
        Load("threads", target("targets/equal_threads", "8", "0.3"), fast, steady=False),
        Load("storm", target("targets/storm", "60"), fast),
        Load("short", ["sh", "-c", SHORT]),
        Load("python", [sys.executable, "-c", PYTHON]),
        Load("calls", target("targets/calls_mixed", "20"), {"HCCT_COLLECTOR": "calls"}),
        Load("bursts", target("targets/calls_mixed", "60"),
             {"HCCT_COLLECTOR": "calls", "HCCT_BURST": "2ms/20ms"}),
        Load("forks", [sys.executable, "-c", FORKS]),
        Load("exec", target("hazards/exec_chain", "40"), fast),
        Load("libraries", target("hazards/library_churn"), fast),
        Load("contexts", target("hazards/many_contexts"), fast, steady=False),
        Load("jit", target("targets/jit", "1"), steady=False),
        Load("node", ["node", "--perf-basic-prof", "-e", NODE]),
        Load("compiler", compiler(directory)),
        Load("checked", [sys.executable, "-c", PYTHON], {"HCCT_CHECK": "1"}),
    ]
    return [load for load in found if shutil.which(load.command[0])]


def residents():
    """Those that run from the first to the last minute: they see each restart of the daemon."""
    work = "import time\nwhile True:\n    sum(i * i for i in range(30000)); time.sleep(0.05)"
    return [Load("resident", [sys.executable, "-c", work]),
            Load("sleeper", target("targets/sleepy", "1000000"),
                 {"HCCT_CLOCK": "wall", "HCCT_RATE": "100"}),
            Load("shell", ["sh", "-c", "while :; do /bin/true; sleep 0.5; done"])]
