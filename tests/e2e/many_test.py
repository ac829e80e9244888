# SPDX-License-Identifier: LGPL-3.0-or-later
"""Hundreds of processes and threads at once, thousands of short ones: hcctd keeps up, in bounds.

many_test.py [PROCESSES THREADS SHORT]: 60 150 400 by default; 500 2000 10000 is a heavy load."""

import os
import re
import subprocess
import sys
import time

from support import Daemon, check, finish, need, scratch, target, wait_for_checkpoints

need("sh", "true")
PROCESSES, THREADS, SHORT = ([int(word) for word in sys.argv[1:]] + [60, 150, 400][len(sys.argv) - 1:])
ROOM = 64 << 20  # of its own memory, and so much more for each process that is live
ROOM_EACH = 2 << 20


def used(daemon):
    status = open(f"/proc/{daemon.process.pid}/status").read()
    ticks = open(f"/proc/{daemon.process.pid}/stat").read().rsplit(")", 1)[1].split()[11:13]
    return (int(re.search(r"RssAnon:\s+(\d+)", status).group(1)) << 10,
            int(re.search(r"VmRSS:\s+(\d+)", status).group(1)) << 10,
            sum(int(t) for t in ticks) / os.sysconf("SC_CLK_TCK"))


def tell(daemon, what, live):
    own, all_, cpu = used(daemon)
    print(f"        {what}: hcctd has {own / 2**20:.1f} MB of its own ({all_ / 2**20:.1f} MB with "
          f"shared), {cpu:.2f} s of CPU time so far")
    check(own < ROOM + live * ROOM_EACH, "within bounds")


def wait_until(condition, seconds):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.2)
    return False


def finished(daemon):
    """Processes that ended, by executable."""
    counts = {}
    for process in daemon.processes():
        if process["state"] == "finished":
            counts[process["command"]] = counts.get(process["command"], 0) + process["runs"]
    return counts


with Daemon("--state-dir", scratch("state"), "--checkpoint", "1") as daemon:
    env = daemon.env(HCCT_RATE="100")
    apps = [subprocess.Popen([target("many_threads"), "1", str(30 * PROCESSES)], env=env, stdout=subprocess.PIPE)
            for _ in range(PROCESSES)]
    ready = [app.stdout.readline() == b"ready\n" for app in apps]
    check(all(ready), f"{PROCESSES} processes at once: each works")
    pids = {app.pid for app in apps}
    check(wait_until(lambda: pids <= {p["pid"] for p in daemon.processes()
                                      if p["state"] == "live" and p["walks"] > 0}, 120),
          "each is listed, and has walks")
    tell(daemon, f"{PROCESSES} processes", PROCESSES)
    check(wait_for_checkpoints(scratch("state")), "there is a checkpoint of them")
    daemon.process.kill()
    daemon.process.wait()
    daemon.start()
    known = {p["pid"] for p in daemon.processes()}
    check(pids <= known, f"after SIGKILL the next hcctd knows all of them: {len(pids & known)}")
    for app in apps:
        app.kill()
        app.wait()
    check(wait_until(lambda: not any(p["state"] == "live" for p in daemon.processes()), 60),
          "all have ended")

    app = subprocess.Popen([target("many_threads"), str(THREADS), str(30 * THREADS)], env=env, stdout=subprocess.PIPE)
    check(app.stdout.readline() == b"ready\n", f"{THREADS} threads in one process: all work")
    found = daemon.wait_for(lambda p: p["pid"] == app.pid and p["threads"] >= THREADS, 120)
    check(found is not None and found["broken_rings"] == 0,
          f"each has a ring: {found and found['threads']}")
    tell(daemon, f"{THREADS} threads", THREADS)
    app.kill()
    app.wait()

    began = time.monotonic()
    loop = subprocess.run(["sh", "-c", f"i=0; while [ $i -lt {SHORT} ]; do /bin/true; "
                                       "i=$((i+1)); done"],
                          env={**env, "HCCT_ATTACH": "start"})
    check(loop.returncode == 0, f"{SHORT} short processes, in {time.monotonic() - began:.1f} s")
    check(wait_until(lambda: finished(daemon).get("true", 0) >= SHORT / 2, 60),
          f"are counted: {finished(daemon).get('true')}")
    check(len(daemon.processes()) < 64 + 256, "and folded by executable")
    tell(daemon, f"{SHORT} short processes", 0)
    check(daemon.stop() == 0, "hcctd ends with status 0")
finish()
