# SPDX-License-Identifier: LGPL-3.0-or-later
"""python_frames.py: what a sample takes of a loop in the innermost of 30 functions of Python, with
its functions and without (`--python`), by turns.

A sample's time is the CPU time of the signal's handler that the agent has counted, by its samples.
Nothing passes or fails on time.

  HCCT_BENCH_ROUNDS   rounds (7)
  HCCT_BENCH_PYTHON   the interpreter (/usr/bin/python3)
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, os.pardir, "e2e"))
from support import HCCT  # noqa: E402

ROUNDS = int(os.environ.get("HCCT_BENCH_ROUNDS", "7"))
PYTHON = os.environ.get("HCCT_BENCH_PYTHON", "/usr/bin/python3")
DEPTH = 30
PROGRAM = r'''
import time

def work(seconds):
    end, a = time.process_time() + seconds, 0
    while time.process_time() < end:
        for i in range(1000):
            a = (a * 1103515245 + 12345) & 0x7fffffff
            if a & 1:
                a ^= i
            else:
                a += i
    return a

FUNCTION = """
def f{0}(values):
    first, second, sum = 1, 2, 0
    if first < second:
        them = [first, second, values[-1]]
    else:
        them = (first, second)
    for value in them:
        sum += value
    try:
        return f{1}(values) + sum
    except ValueError:
        return sum
"""
space = {"f%d" % %DEPTH%: lambda values: work(values[0])}
for i in range(%DEPTH% - 1, 0, -1):
    exec(FUNCTION.format(i, i + 1), space)
space["f1"]([2])
'''.replace("%DEPTH%", str(DEPTH - 1))


def sample(program, path, *options):
    """Microseconds of the handler for a sample."""
    subprocess.run([HCCT, "record", "--rate", "1000", "--format", "json", "-o", path, *options, "--",
                    PYTHON, program], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with open(path) as file:
        process = json.load(file)["processes"][0]
    return process["handler_ns"] / process["walks"] / 1000


def main():
    with tempfile.TemporaryDirectory() as directory:
        program, path = os.path.join(directory, "deep.py"), os.path.join(directory, "profile.json")
        with open(program, "w") as file:
            file.write(PROGRAM)
        without, more = [], []
        for _ in range(ROUNDS):
            without.append(sample(program, path))
            more.append(sample(program, path, "--python") - without[-1])
    print(f"a sample of {DEPTH} functions of Python: {statistics.median(without):.1f} us without them, "
          f"{statistics.median(more):.1f} us more with them ({min(more):.1f} to {max(more):.1f})")


main()
