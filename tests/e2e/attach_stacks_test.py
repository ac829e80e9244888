# SPDX-License-Identifier: LGPL-3.0-or-later
"""Threads that slept when somebody attached are woken together, and the first of them reaches hcctd. Until
there are unwind tables stacks go to it as copies, for which it has to know all that is loaded: whichever
thread comes first, no stack ends in code that nobody knows."""

import subprocess
import sys
import time

from attach_support import record, start
from support import HCCT, check, finish, folded, run, scratch, target

THREADS, PROCESSES, TIMES = 60, 8, 2
WAITERS = f"""import threading
never = threading.Event()
for _ in range({THREADS}):
    threading.Thread(target=never.wait, daemon=True).start()
never.wait()
"""
WALL = ("--clock", "wall", "--rate", "1000")
UNKNOWN = ("[called from generated code]", "[generated code]")


def unknown_share(path):
    lines = folded(path)
    ends = sum(weight for frames, weight in lines if any(name in frames for name in UNKNOWN))
    return ends / (sum(weight for _, weight in lines) or 1)


def attached(*command):
    process, path = start(*command, stderr=subprocess.DEVNULL), scratch("asleep.pb.gz")
    time.sleep(0.5)
    shares = []
    for _ in range(TIMES):  # a busy machine may not let it run in the first half second
        said = run([HCCT, "record", "-p", str(process.pid), "--duration", "0.5s", "-o", path, *WALL])
        if said.status == 0 or record(process, 5, path, *WALL):
            shares.append(unknown_share(path))
    process.kill()
    process.wait()
    return shares


for words in [sys.executable, "-c", WAITERS], [target("attach_sleepers")]:
    seen = [share for _ in range(PROCESSES) for share in attached(*words)]
    check(len(seen) == PROCESSES * TIMES and max(seen, default=1) == 0,
          f"{words[0].rsplit('/', 1)[-1]}: stacks that end in unknown code: " +
          " ".join(f"{100 * share:.1f}" for share in seen) + " %")
finish()
