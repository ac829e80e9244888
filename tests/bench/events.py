# SPDX-License-Identifier: LGPL-3.0-or-later
"""events.py: what a malloc with its free, and a lock that nobody else has, take under profilers of
allocations and of waits for locks; by turns, the least of all rounds, in ns. In brackets what is more than
without the profiler, with the same allocator. Nothing passes or fails on time.

  HCCT_BENCH_ROUNDS   rounds (11)

heaptrack, and tcmalloc's heap profiler, take each block down: they run a hundredth of the pairs.
"""

import ctypes.util
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, os.pardir, "e2e"))
from support import BUILD, HCCT  # noqa: E402

ROUNDS = int(os.environ.get("HCCT_BENCH_ROUNDS", "11"))
PAIRS = 500_000
FEW = PAIRS // 100
PROGRAM = os.path.join(BUILD, "tests", "bench", "events_bench")
KINDS = {"malloc_64": "64 bytes", "malloc_all": "16 to 1,024", "mutex": "mutex", "rdlock": "read lock"}


def hcct(metrics):
    return lambda scratch: [HCCT, "record", "--metric", metrics, "-o", os.path.join(scratch, "hcct.pb.gz"), "--"]


def heaptrack(scratch):
    return ["heaptrack", "-o", os.path.join(scratch, "heaptrack")]


def itself(scratch):
    return []


def preload(name):
    """None: it is not installed."""
    path = ctypes.util.find_library(name)
    return {"LD_PRELOAD": path} if path else None


def tcmalloc_profile():
    env = preload("tcmalloc")
    return {**env, "HEAPPROFILE": os.path.join(tempfile.gettempdir(), f"hcct-bench-{os.getpid()}")} if env else None


def jemalloc_profile():
    env = preload("jemalloc")
    return {**env, "MALLOC_CONF": "prof:true,lg_prof_sample:19"} if env else None


# name, what stands before the program, its environment, the row to compare with, pairs
ROWS = [
    ("without", itself, {}, None, PAIRS),
    ("hcct alloc,heap", hcct("alloc,heap"), {}, "without", PAIRS),
    ("hcct lock", hcct("lock"), {}, "without", PAIRS),
    ("heaptrack", heaptrack, {} if shutil.which("heaptrack") else None, "without", FEW),
    ("jemalloc", itself, preload("jemalloc"), None, PAIRS),
    ("its profiler, 512 KiB", itself, jemalloc_profile(), "jemalloc", PAIRS),
    ("tcmalloc", itself, preload("tcmalloc"), None, PAIRS),
    ("its profiler", itself, tcmalloc_profile(), "tcmalloc", FEW),
]


def run(before, env, pairs):
    with tempfile.TemporaryDirectory() as scratch:
        out = subprocess.run([*before(scratch), PROGRAM, str(pairs), "3"], env={**os.environ, **env}, check=True,
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    found = dict(line.split()[:2] for line in out.splitlines() if line.split(" ")[0] in KINDS)
    return {kind: float(ns) for kind, ns in found.items()}


def main():
    least = {}
    for _ in range(ROUNDS):
        for name, before, env, _, pairs in ROWS:
            if env is None:
                continue
            for kind, ns in run(before, env, pairs).items():
                best = least.setdefault(name, {})
                best[kind] = min(best.get(kind, ns), ns)
    print(f"{'ns':24}" + "".join(f"{title:>20}" for title in KINDS.values()))
    for name, _, env, other, _ in ROWS:
        if env is None:
            print(f"{name:24}  left out: not installed")
            continue
        cells = (f"{least[name][kind]:.1f}" + (f" ({least[name][kind] - least[other][kind]:+.1f})" if other else "")
                 for kind in KINDS)
        print(f"{name:24}" + "".join(f"{cell:>20}" for cell in cells))


main()
