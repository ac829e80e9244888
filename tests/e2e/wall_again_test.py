# SPDX-License-Identifier: LGPL-3.0-or-later
"""On the wall clock, threads that do nothing but sleep are sampled whenever there is a hcctd: one that comes
after the program, another one after that, and one that is told to go on. No CPU tick tells them."""

import os
import subprocess
import sys
import time

from support import AGENT, HCCT, Daemon, check, finish, run, scratch

SLEEPERS = 4
CODE = f"""
import threading, time
def nap():
    while True:
        time.sleep(0.05)
for i in range({SLEEPERS}):
    threading.Thread(target=nap, daemon=True).start()
print("ready", flush=True)
time.sleep(600)
"""

socket = scratch("socket")
process = subprocess.Popen([sys.executable, "-S", "-c", CODE], stdout=subprocess.PIPE,
                           env={**os.environ, "LD_PRELOAD": AGENT, "HCCT_SOCKET": socket, "HCCT_CLOCK": "wall"})
check(process.stdout.readline() == b"ready\n", "a program sleeps in several threads")
time.sleep(1.5)  # it has looked for hcctd in vain


def all_are_seen(daemon):
    """Each of its threads is sampled: so much time is in samples that as many threads must have slept."""
    until, last = time.monotonic() + 90, None
    while time.monotonic() < until:
        found = daemon.wait_for(lambda p: p["pid"] == process.pid)
        now = (time.monotonic(), found["total_ns"] / 1e9 if found is not None else 0)
        if last is not None and now[1] - last[1] > (SLEEPERS + 0.5) * (now[0] - last[0]):
            return True
        last = now
        time.sleep(2)
    return False


for which in ("the first hcctd", "another one"):
    with Daemon(socket=socket) as daemon:
        check(all_are_seen(daemon), f"{which} sees the main thread and {SLEEPERS} that sleep")
        if which == "another one":
            words = ["-p", str(process.pid), "--socket", socket]
            check(run([HCCT, "stop", *words]).status == 0, "it is told to stop")
            time.sleep(3)  # each thread has noticed
            check(run([HCCT, "start", *words]).status == 0, "and to go on")
            check(all_are_seen(daemon), "they are seen again")
process.kill()
process.communicate()
finish()
