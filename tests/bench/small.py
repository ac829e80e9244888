# SPDX-License-Identifier: LGPL-3.0-or-later
"""small.py: what the agent costs where nothing is sampled: in a call of libc that can sleep, in a
process that ends at once, and in memory; of the program and of hcctd.

Each round has a plain run and one with the agent, one after the other; what is printed are medians of
their differences in CPU time, which hold on a busy machine. Nothing passes or fails on time.

  HCCT_BENCH_ROUNDS   rounds (7)
"""

import os
import re
import resource
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, os.pardir, "e2e"))
from support import Daemon  # noqa: E402

ROUNDS = int(os.environ.get("HCCT_BENCH_ROUNDS", "7"))
BYTES = 500_000  # dd reads and writes each of them by itself: two calls
SHORT = 100      # processes in a row
AT_ONCE = 50     # processes, for hcctd's memory
NOBODY = {"HCCT_SOCKET": "/nowhere/hcctd.sock"}
BUSY = "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done; echo; sleep 600"


def cpu_of(command, env, times=1):
    """CPU seconds of so many runs."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    for _ in range(times):
        subprocess.run(command, env={**os.environ, **env}, check=True, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def compare(what, command, env, unit, parts, times=1):
    """Prints what one part of the command costs, and how much more with that environment."""
    plain, more = [], []
    for _ in range(ROUNDS):
        plain.append(cpu_of(command, {}, times))
        more.append(cpu_of(command, env, times) - plain[-1])
    print(f"{what:44} plain {statistics.median(plain) / parts / unit:8.2f}"
          f"  more {statistics.median(more) / parts / unit:6.2f}", flush=True)


def memory(pid):
    """Of its own and shared, MB."""
    with open(f"/proc/{pid}/status") as status:
        return int(re.search(r"VmRSS:\s+(\d+)", status.read()).group(1)) / 1024


def busy(env):
    """A shell that has computed for a while and sleeps now."""
    shell = subprocess.Popen(["/bin/sh", "-c", BUSY], env={**os.environ, **env},
                             stdout=subprocess.PIPE)
    shell.stdout.readline()
    return shell


def end(shells):
    for shell in shells:
        shell.kill()
        shell.wait()


def compare_memory(daemon):
    more = []
    for _ in range(ROUNDS):
        shells = [busy({}), busy(daemon.env())]
        more.append(memory(shells[1].pid) - memory(shells[0].pid))
        end(shells)
    print(f"memory of a shell: {statistics.median(more):.2f} MB more")
    for n in (1, AT_ONCE):
        shells = [busy(daemon.env()) for _ in range(n)]
        time.sleep(1)
        print(f"memory of hcctd with {n} of them: {memory(daemon.process.pid):.1f} MB", flush=True)
        end(shells)


def main():
    copy = ["dd", "if=/dev/zero", "of=/dev/null", "bs=1", f"count={BYTES}"]
    with Daemon() as daemon:
        print("CPU time, us")
        compare("a read or write, 100 samples/s", copy, daemon.env(), 1e-6, 2 * BYTES)
        compare("a read or write, no daemon", copy, daemon.env(**NOBODY), 1e-6, 2 * BYTES)
        compare("/bin/true", ["/bin/true"], daemon.env(), 1e-6, SHORT, SHORT)
        compare("/bin/true, HCCT_ATTACH=start", ["/bin/true"], daemon.env(HCCT_ATTACH="start"), 1e-6,
                SHORT, SHORT)
        compare("/bin/true, no daemon", ["/bin/true"], daemon.env(**NOBODY), 1e-6, SHORT, SHORT)
        compare_memory(daemon)


main()
