# SPDX-License-Identifier: LGPL-3.0-or-later
"""python_judge_test.py [N]: functions of Python in N samples (10,000) are those that faulthandler's own code tells at the same
moment: of threads, generators, exceptions, callbacks from C, coroutines, and code that comes and goes
(tests/targets/python_judge.c)."""

import os
import shutil
import subprocess
import sys

from support import Daemon, check, finish, run, scratch, skip, target

MOST = int(sys.argv[1]) if len(sys.argv) > 1 else 10000
ENOUGH = {os.path.realpath("/usr/bin/python3"): MOST}  # of others, which are not Debian's, fewer
FEW = min(MOST, 1000)
MISSED_MOST = 0.02  # of samples that meet the interpreter in the middle of a change

PROGRAM = r'''
import abc, asyncio, contextlib, ctypes, faulthandler, functools, gc, re, signal, sys, threading, time
import weakref

faulthandler.register(signal.SIGUSR2, 199, all_threads=False)

def spin(n=400):
    for i in range(n):
        i * i
    return n

def recurse(n):
    return spin() if n == 0 else recurse(n - 1)

def tree(n):
    if n > 0:
        yield from tree(n - 1)
        spin(50)
        yield n
        yield from tree(n - 1)

def by_generators():
    total = sum(x for x in tree(5) if spin(20))
    for x, y in zip(tree(3), (spin(30) for _ in range(20))):
        total += x + y
    return total

def thrown_into():
    try:
        while True:
            try:
                yield spin(60)
            except KeyError:
                spin(60)
    finally:
        spin(60)

def raises(n):
    if n == 0:
        spin(60)
        raise KeyError(n)
    try:
        raises(n - 1)
    finally:
        spin(30)

def by_exceptions():
    for i in range(10):
        try:
            raises(i)
        except KeyError as error:
            spin(40)
    generator = thrown_into()
    next(generator)
    for _ in range(5):
        generator.throw(KeyError())
    generator.close()
    with contextlib.suppress(ValueError), contextlib.ExitStack() as stack:
        stack.callback(spin, 50)
        raise ValueError

@ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
def compare(a, b):
    recurse(3)
    return -1

class Dear:
    def __init__(self):
        spin(20)
        self.me = self
    def __del__(self):
        spin(20)
    def __lt__(self, other):
        return spin(10) > 0
    def __getattr__(self, name):
        spin(10)
        return name
    @property
    def twice(self):
        return spin(15)
    @functools.lru_cache(maxsize=2)
    def cached(self, x):
        return spin(25)
    def __hash__(self):
        return spin(5)

class Meta(abc.ABCMeta):
    def __new__(meta, name, bases, space):
        spin(20)
        return super().__new__(meta, name, bases, space)

def decorated(function):
    @functools.wraps(function)
    def wrapper(*arguments, **more):
        spin(20)
        return function(*arguments, **more)
    return wrapper

@decorated
@decorated
def inner(x, y=2):
    return spin(30) + x + y

def by_c():
    ctypes.CDLL(None).qsort((ctypes.c_int * 6)(6, 5, 4, 3, 2, 1), 6, 4, compare)
    sorted(range(20), key=lambda x: -spin(10))
    list(map(lambda x: recurse(x % 4), range(10)))
    re.sub("[a-m]", lambda match: str(spin(10)), "the quick brown fox")
    functools.reduce(lambda a, b: spin(10), range(10))
    one = [Dear() for _ in range(5)]
    sorted(one)
    for dear in one:
        dear.anything, dear.twice, dear.cached(1), dear.cached(2), dear.cached(3)
        weakref.finalize(dear, spin, 20)
    del one, dear
    gc.collect(0)
    Meta("Made", (), {"f": lambda self: spin(10)})().f()
    inner(1), inner(*[1], **{"y": 3})
    [[spin(5) for _ in range(4)] for _ in range(4)]
    eval("spin(40) + len([spin(10) for _ in range(3)])")

def by_code():
    for i in range(30):
        space = {"spin": spin}
        exec(f"def f{i}(x):\n    return g(x) + spin(30)\ndef g(x):\n    return [spin(5) for y in range(5)][0]\n", space)
        space[f"f{i}"](i)

async def numbers(n):
    for i in range(n):
        spin(40)
        await asyncio.sleep(0)
        yield i

async def await_deep(n):
    if n > 0:
        return await await_deep(n - 1)
    spin(100)
    await asyncio.sleep(0)
    return spin(100)

class Context:
    async def __aenter__(self):
        spin(30)
    async def __aexit__(self, *what):
        spin(30)

async def task(i):
    async with Context():
        async for x in numbers(5):
            await await_deep(x + i)
    return [x async for x in numbers(3)]

async def every():
    await asyncio.gather(*(task(i) for i in range(4)))
    await asyncio.get_running_loop().run_in_executor(None, by_generators)

def by_coroutines():
    asyncio.run(every())

def all_of_it(seconds):
    while time.thread_time() < seconds:
        for one in (by_generators, by_exceptions, by_c, by_code, lambda: recurse(30), lambda: recurse(110)):
            one()

def main(seconds):
    sys.setswitchinterval(0.0005)
    threads = [threading.Thread(target=all_of_it, args=(seconds / 4,)) for _ in range(3)]
    for thread in threads:
        thread.start()
    begin = time.thread_time()
    while time.thread_time() < begin + seconds / 4:
        by_coroutines()
        all_of_it(0)
        for _ in range(3):
            short = threading.Thread(target=by_exceptions)
            short.start()
            short.join()
    for thread in threads:
        thread.join()

main(float(sys.argv[1]))
'''


def interpreters():
    """Those that are here, by their real paths."""
    found = []
    for name in ("/usr/bin/python3", "python3.11", "python3.12", "python3.13"):
        if shutil.which(name) is None:
            continue
        result = run([name, "-c", "import sys; print(sys.executable, sys.version_info[0] << 8 | "
                                  "sys.version_info[1])"])
        words = result.out.decode().split()
        if result.status == 0 and 0x30B <= int(words[1]) <= 0x30D:
            path = os.path.realpath(words[0])
            if path not in found:
                found.append(path)
    return found


def judge(python, enough):
    """Counts of compared, equal and missed samples, and functions in them; and what was different."""
    path = scratch("judged")
    with Daemon() as daemon:
        compared, sums, different = 0, [0] * 4, []
        while compared < enough:
            env = daemon.env(HCCT_RATE="1000", HCCT_PYTHON="1", PYTHON_JUDGE=path)
            env["LD_PRELOAD"] = target("python_judge.so")
            result = subprocess.run([python, program, "2"], env=env, capture_output=True, check=False)
            if result.returncode != 0 or not os.path.exists(path):
                return None, result.stderr.decode()
            with open(path, encoding="utf-8", errors="replace") as file:
                first, *rest = file.read().splitlines()
            os.remove(path)
            numbers = [int(word) for word in first.split()]
            sums = [a + b for a, b in zip(sums, numbers)]
            different += rest
            if numbers[0] == 0:
                return sums, ["nothing was compared"]
            compared = sums[0]
    return sums, different


program = scratch("everything.py")
with open(program, "w", encoding="utf-8") as file:
    file.write(PROGRAM)
found = interpreters()
if not found:
    skip("there is no CPython 3.11 to 3.13")
for python in found:
    counts, different = judge(python, ENOUGH.get(python, FEW))
    check(counts is not None, f"{python}: {different if counts is None else 'ended well'}")
    if counts is None:
        continue
    compared, equal, missed, functions = counts
    check(compared - equal - missed == 0,
          f"{python}: {equal} of {compared} samples have just faulthandler's functions, {functions} in all; "
          f"{missed} say that they do not: {different[:5]}")
    check(missed <= MISSED_MOST * compared, f"{python}: {missed} of {compared} met a change")
finish()
