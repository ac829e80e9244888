# SPDX-License-Identifier: LGPL-3.0-or-later
"""With --python, functions of Python stand in contexts where the loop of their interpreter was: just
the chains that the program itself sees, each with its share of the time, however they are called.
Without it, and in other programs, nothing changes."""

import json
import os
import platform
import shutil
import subprocess
import time

from support import HCCT, check, finish, folded, record, report, run, scratch, skip, target

OFTEN = "10000" if platform.machine() == "x86_64" else "2000"  # an emulated processor has no time for more
PYTHON = "/usr/bin/python3"
LOOP = "_PyEval_EvalFrameDefault"

PROGRAM = r'''
import ctypes, json, sys, threading, time

spent = {}

def chain():
    """The caller, and whoever called it, outermost first."""
    frame, names = sys._getframe(1), []
    while frame is not None:
        code = frame.f_code
        names.append(f"{code.co_qualname} ({code.co_filename.rsplit('/', 1)[-1]})")
        frame = frame.f_back
    return ";".join(reversed(names))

def burn(seconds):
    begin, number = time.thread_time(), 0
    while time.thread_time() < begin + seconds:
        for i in range(300):
            number += i
    here = chain()
    spent[here] = spent.get(here, 0) + time.thread_time() - begin

def recurse(depth):
    burn(UNIT) if depth == 0 else recurse(depth - 1)

def generate():
    for _ in range(3):
        burn(UNIT / 3)
        yield 1

async def await_it():
    burn(UNIT)

def drive():
    try:
        await_it().send(None)
    except StopIteration:
        pass

class Key:
    def weight(self, item):
        burn(UNIT / 4)
        return item

def by_sorted():
    sorted([3, 1, 2, 4], key=Key().weight)

@ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
def compare(a, b):
    burn(UNIT)
    return 0

def by_ctypes():
    ctypes.CDLL(None).qsort((ctypes.c_int * 2)(2, 1), 2, 4, compare)

def fail():
    burn(UNIT / 2)
    raise ValueError

def catch():
    try:
        fail()
    except ValueError:
        burn(UNIT / 2)

def größe():
    burn(UNIT)

def 名前():
    burn(UNIT)

def in_thread():
    burn(UNIT / 2)

def rest():
    time.sleep(UNIT)

def anew():
    """Code objects that take each other's places."""
    for name in ("one", "other") * 2:
        space = {"burn": burn}
        exec(f"def {name}(unit):\n    burn(unit)\n", space)
        space[name](UNIT / 4)

def main():
    recurse(5)
    sum(generate())
    drive()
    by_sorted()
    by_ctypes()
    catch()
    größe()
    名前()
    anew()
    threads = [threading.Thread(target=one) for one in (in_thread, in_thread, rest)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(json.dumps(spent))

UNIT = float(sys.argv[1])
main()
'''

# What comes and goes quickly, and must come out the same.
BUSY = r'''
import threading
def deep(n):
    return 0 if n == 0 else 1 + deep(n - 1)
def numbers(n):
    for i in range(n):
        try:
            if i % 3 == 0:
                raise KeyError(i)
            yield i
        except KeyError:
            yield -i
def work():
    out = []
    for i in range(60):
        space = {}
        exec(f"def f{i}(x):\n    return [y + x for y in range(50)]\n", space)
        out.append(sum(space[f"f{i}"](i)) + deep(i) + sum(numbers(i)) +
                   sum(sorted(range(30), key=lambda x: -x)[:3]))
    return out
threads = [threading.Thread(target=work) for _ in range(3)]
for t in threads: t.start()
print(sum(work()))
for t in threads: t.join()
'''


def is_function(frame):
    return frame.endswith(")") and " (" in frame


def functions(frames):
    return ";".join(filter(is_function, frames))


def version(python):
    out = run([python, "-c", "import sys; print(sys.version_info[:2] >= (3, 11), "
                             "sys.version_info[:2] <= (3, 13))"]).out
    return out.split() == [b"True", b"True"]


def write(name, text):
    with open(scratch(name), "w", encoding="utf-8") as file:
        file.write(text)
    return scratch(name)


def counted(path, what):
    return sum(process[what] for process in report(path)["processes"])


def burnt_below(contexts):
    """Weights of chains of functions that end in burn."""
    found = {}
    for frames, weight in contexts:
        names = functions(frames)
        if names.endswith("burn (chains.py)"):
            found[names] = found.get(names, 0) + weight
    return found


def check_chains(python, what):
    path = scratch("chains.pb.gz")
    result = record([python, program, "0.3"], path, "--python", "-F", "1000", "--no-report")
    check(result.status == 0, f"{what}: the program ended with status 0")
    truth = json.loads(result.out)
    contexts = folded(path)
    seen = burnt_below(contexts)
    total, total_seen = sum(truth.values()), sum(seen.values())
    wrong = {names: weight for names, weight in seen.items() if names not in truth}
    check(not wrong, f"{what}: of {len(seen)} chains each is one of the program's: {wrong}")
    for names, seconds in truth.items():
        share, true_share = 100 * seen.get(names, 0) / total_seen, 100 * seconds / total
        check(abs(share - true_share) <= 5,
              f"{what}: {share:.1f} % of the time is in {names}, {true_share:.1f} % is true")
    below = [(frames, weight) for frames, weight in contexts if "main (chains.py)" in frames]
    loops = sum(weight for frames, weight in below if LOOP in frames)
    check(loops <= 0.1 * sum(weight for _, weight in below),
          f"{what}: {loops / 1e6:.0f} ms below main are in a loop of the interpreter without a function")
    check(counted(path, "python_frames") > 0, f"{what}: frames of functions are counted")
    return contexts


if not os.path.exists(PYTHON):
    skip(f"there is no {PYTHON}")
if not version(PYTHON):
    skip(f"{PYTHON} is no CPython 3.11 to 3.13")
program = write("chains.py", PROGRAM)
contexts = check_chains(PYTHON, "python3")

below_sorted = next((frames for frames, _ in contexts if "Key.weight (chains.py)" in frames), [])
at = below_sorted.index("by_sorted (chains.py)") if below_sorted else 0
check(below_sorted and not is_function(below_sorted[at + 1]),
      "between by_sorted and its key there is what it calls in C")
check(any("qsort" in frame for frames, _ in contexts if "compare (chains.py)" in frames
          for frame in frames), "compare is called by qsort")

if shutil.which("strip"):
    stripped = scratch("python3")
    shutil.copy(os.path.realpath(PYTHON), stripped)
    subprocess.run(["strip", stripped], check=True)
    check_chains(stripped, "stripped")

# Asleep, without the interpreter's lock.
path = scratch("wall.pb.gz")
record([PYTHON, program, "0.2"], path, "--python", "--clock", "wall", "--no-report")
asleep = sum(weight for frames, weight in folded(path)
             if "rest (chains.py)" in frames and "sleep" in frames[-1])
check(asleep >= 1e8, f"on the wall clock a thread that sleeps is in rest: {asleep / 1e6:.0f} ms")

# One that runs already, and what it does just then.
path = scratch("attached.pb.gz")
with subprocess.Popen([PYTHON, program, "60"], stdout=subprocess.DEVNULL) as running:
    time.sleep(0.5)
    result = run([HCCT, "record", "-p", str(running.pid), "--duration", "2s", "--python", "-o", path,
                  "--no-report"])
    running.kill()
if result.status == 0:
    seen = burnt_below(folded(path))
    check(len(seen) == 1 and "recurse (chains.py);burn (chains.py)" in min(seen),
          f"attached to a program that runs: {list(seen)}")
else:
    print(f"not attached here: {result.err.decode()}")

# Who does not ask.
path = scratch("plain.pb.gz")
record([PYTHON, program, "0.02"], path, "--no-report")
plain = folded(path)
check(not any(is_function(frame) for frames, _ in plain for frame in frames) and
      any(LOOP in frames for frames, _ in plain), "without --python the loop is what is seen")
check(counted(path, "python_frames") == counted(path, "python_missed") == 0,
      "and nothing is counted")

path = scratch("other.pb.gz")
result = record([target("known_shares"), "0.3"], path, "--python", "--no-report")
plain = record([target("known_shares"), "0.3"], scratch("other2.pb.gz"), "--no-report")
check(result.status == plain.status == 0 and b"no function of Python was met" in result.err and
      b"Python" not in plain.err, "of another program it is said that there is no Python in it")
check(counted(path, "python_missed") == 0, "and none is missed")

result = record(["true"], scratch("calls.pb.gz"), "--python", "--collector", "calls")
check(result.status != 0 and b"--python is for samples" in result.err,
      "calls are those of the interpreter: refused in a sentence")

path = scratch("broken.pb.gz")
result = record([target("broken_python"), "2"], path, "--python", "-F", OFTEN, "--no-report")
check(result.status == 0 and counted(path, "python_missed") > 100,
      "an interpreter's memory in which nothing is right harms nobody")

busy = write("busy.py", BUSY)
alone = run([PYTHON, busy])
for i in range(15):
    result = record([PYTHON, busy], scratch("busy.pb.gz"), "--python", "-F", OFTEN, "--no-report")
    if (result.status, result.out) != (alone.status, alone.out):
        break
check((result.status, result.out) == (alone.status, alone.out),
      f"{i + 1} runs of short-lived code and deep stacks came out as one without a profiler")
finish()
