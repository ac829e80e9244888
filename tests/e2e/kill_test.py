# SPDX-License-Identifier: LGPL-3.0-or-later
"""SIGKILL at any moment: programs run on as if nothing was, and each new hcctd takes them over.

kill_test.py [--kills N] [--inert]: 20 by default; `--kills 1000` takes some twenty minutes, and tells
the longest pauses; --inert has the same done to programs whose agent is switched off, as a machine
has pauses of its own."""

import os
import random
import signal
import subprocess
import sys
import time

from support import AGENT, Daemon, check, finish, run, scratch, target

kills = int(sys.argv[sys.argv.index("--kills") + 1]) if "--kills" in sys.argv else 20
# by hand, pauses are to be measured: those of a thread that no other program keeps from its processor
first = ["first"] if "--kills" in sys.argv else []
inert = "--inert" in sys.argv
seed = int(os.environ.get("HCCT_SEED", time.time_ns() % 1000000))
random.seed(seed)
print(f"HCCT_SEED={seed}, {kills} kills")

SILENCE = 3.5  # seconds until an agent takes a daemon for dead (WIRE_HEARTBEAT_DEAD_NS), and a bit


def pauses(output):
    words = dict(line.split(" ", 1) for line in output.decode().splitlines())
    return int(words["work"]), [int(n) for n in words["pause"].split()]


def probe_alone(seconds):
    alone = subprocess.Popen([target("latency"), "2", *first], stdout=subprocess.PIPE)
    time.sleep(seconds)
    alone.send_signal(signal.SIGTERM)
    return pauses(alone.communicate()[0])[1]


def is_taken_over(app):
    return lambda p: p["pid"] == app.pid and p["state"] == "live" and p["total_ns"] > 0


env = {"LD_PRELOAD": AGENT, "HCCT_SOCKET": scratch("hcctd.sock"), "HCCT_RATE": "500",
       "HCCT_ENABLE": "0" if inert else "1"}
alone = probe_alone(3)
daemon = Daemon("--state-dir", scratch("state"), "--checkpoint", "1").start()
apps = [subprocess.Popen([target("latency"), *arguments], env=env, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE) for arguments in (["2", *first], ["5"])]
short_failures = not_adopted = went_back = 0
totals = {}
for n in range(kills):
    # at times in the middle of the handshake, at times just after, at times when all is quiet
    if n % 4 != 0:
        time.sleep(random.choice([0.0, 0.001, 0.01, 0.1]) + random.random() * 0.3)
    elif n % 8 == 0 and not inert:
        for app in apps:
            found = daemon.wait_for(is_taken_over(app), SILENCE + 20)
            not_adopted += found is None
            if found is not None:
                went_back += found["total_ns"] < totals.get(app.pid, 0)
        # what a checkpoint has is never lost again
        time.sleep(2.2)
        for process in daemon.processes():
            totals[process["pid"]] = process["total_ns"] * 0.5
    short = subprocess.Popen([target("latency"), "1"], env=env, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE)
    time.sleep(random.random() * 0.1)
    daemon.process.send_signal(random.choice([signal.SIGUSR1, 0]))  # at times during a snapshot
    time.sleep(random.random() * 0.02)
    daemon.process.kill()
    daemon.process.wait()
    daemon.start()
    time.sleep(0.05)
    short.send_signal(signal.SIGTERM)
    out, err = short.communicate(timeout=60)
    short_failures += short.returncode != 0 or err != b"" or len(out.splitlines()) != 2
check(short_failures == 0, f"programs that start and end among {kills} kills: {short_failures} failed")
for app in [] if inert else apps:
    found = daemon.wait_for(is_taken_over(app), SILENCE + 20)
    not_adopted += found is None
    went_back += found is not None and found["total_ns"] < totals.get(app.pid, 0)
check(not_adopted == 0, f"each new hcctd takes the running programs over: {not_adopted} missed")
check(went_back == 0, f"what was checkpointed is in the next one's profile: {went_back} went back")
for app, what in zip(apps, ["of one that goes first: " if first else "", ""]):
    check(app.poll() is None, "the program still runs")
    app.send_signal(signal.SIGTERM)
    out, err = app.communicate(timeout=60)
    check(app.returncode == 0 and err == b"", f"it ends as it would have: {err.decode()[:200]}")
    work, (wall, cpu, wait, own) = pauses(out)
    check(work > 0, f"all of its threads went on: {work} units of work at least")
    print(f"        longest pause {what}{wall} us, {cpu} us of its own CPU time, {wait} us where it "
          f"waited; without an agent, for three seconds only, {alone[:3]}")
    if what:
        print(f"        longest pause less what the hypervisor took, known to 10 ms: {own} us")
check(daemon.stop() == 0, "the last one ends with status 0")
finish()
